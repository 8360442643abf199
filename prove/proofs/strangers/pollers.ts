// Twenty pollers with the key of one brand, while the operator has many statuses of another brand.

import assert from 'node:assert/strict'
import type { Attack } from './attacks.ts'
import { activity, type Target } from './target.ts'

const pollers = 20

export const manyPollers: Attack = {
  name: 'S7 twenty pollers of one key',
  expected: 'polls of one key are served one at a time, at most four wait, and the others are answered 503',
  mounted: 'always',
  async prepare({ operator, keys, small }) {
    const key = { 'x-api-key': keys['2'] as string }
    for (let n = 0; n < (small ? 1 : 100); n++) {
      const records = Array.from({ length: 1_000 }, (_, i) => activity('2', `reader-${i}`))
      const { status, json } = await operator.request('POST', '/channels/site/batch', records, key)
      assert.equal(status, 200)
      assert.equal((json.successful as readonly unknown[]).length, records.length)
    }
  },
  async run(target) {
    let refused = 0
    const poll = async (): Promise<void> => {
      for (let n = 0; n < 5; n++) if ((await pollOnce(target)) === 503) refused++
    }
    await Promise.all(Array.from({ length: pollers }, poll))
    assert.ok(refused > 0, 'twenty polls of one key were served at once')
  },
}

async function pollOnce({ operator, keys }: Target): Promise<number> {
  const headers = { 'x-api-key': keys['1'] as string }
  const response = await fetch(`${operator.url}/messages/status?limit=1000`, { headers })
  await response.arrayBuffer()
  const { status } = response
  assert.ok(status === 200 || status === 503, `a poll was answered ${status}`)
  if (status === 503) assert.ok(response.headers.has('retry-after'), '503 without Retry-After')
  return status
}
