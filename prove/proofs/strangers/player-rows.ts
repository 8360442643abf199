// What one player can write: rows and bytes of the stores, and calls to the platform.

import assert from 'node:assert/strict'
import type { Attack } from './attacks.ts'

let created = 0

export const playerRows: Attack = {
  name: 'S4 new tokens without end',
  expected:
    'tokens of 4,000 characters are answered 400; at most 50 tokens a day are stored, the others are answered 429',
  mounted: 'full',
  async run({ userApp, small }) {
    const player = await userApp('1', 'hoarder')
    const counts = new Map<number, number>()
    const send = async (what: 'link' | 'unlink', length: number): Promise<number> => {
      const token = `${process.pid}-${++created}`.padEnd(length, 'x')
      const { status } = await player.request('POST', `/app/devices/${what}`, {
        tokens: [{ token, provider: 'firebase' }],
      })
      counts.set(status, (counts.get(status) ?? 0) + 1)
      return status
    }
    // Each of them that is answered 429 takes a second.
    const requests = small ? 5 : 20
    for (let n = 0; n < requests; n++) {
      assert.ok([400, 429].includes(await send('link', 4_000)), 'a token of 4,000 characters was accepted')
      await send('link', 500)
      await send('unlink', 500)
    }
    const accepted = counts.get(200) ?? 0
    assert.ok(accepted <= 50, `${accepted} tokens were stored`)
    assert.ok([...counts.keys()].every((status) => [200, 400, 429].includes(status)))
  },
}
