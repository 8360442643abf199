// Made-up tokens of more users than the brake of removals allows removals.

import assert from 'node:assert/strict'
import type { Attack } from './attacks.ts'
import { assertRemovalsGoOn } from './observe.ts'

const users = 120
/** The default concurrency of a platform's lane. */
const concurrency = 4
let created = 0

export const madeUpTokens: Attack = {
  name: 'S13 made-up tokens of many users',
  expected: 'the messages fail, and dead devices of other users are still removed',
  mounted: 'full',
  async run(target) {
    const run = ++created
    const attack = async (_: unknown, i: number): Promise<void> => {
      const user = `inventor-${run}-${i}`
      const app = await target.userApp('1', user)
      const tokens = [{ token: `invented-${process.pid}-${run}-${i}`, provider: 'firebase' }]
      const linked = await app.request('POST', '/app/devices/link', { tokens })
      assert.equal(linked.status, 200, linked.text)
      const { status, text } = await target.push('1', user)
      assert.ok(status >= 400 && status < 500, `a push was answered ${status}: ${text}`)
    }
    for (let from = 0; from < users; from += concurrency)
      await Promise.all(Array.from({ length: concurrency }, (_, i) => attack(_, from + i)))
    await assertRemovalsGoOn(target)
  },
}
