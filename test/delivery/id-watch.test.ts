import assert from 'node:assert/strict'
import test from 'node:test'
import { messageKey } from '../../src/contract/message-key.ts'
import { createIdWatch } from '../../src/delivery/id-watch.ts'
import type { Message } from '../../src/providers/provider.ts'
import { type Events, on } from '../../src/runtime/events.ts'

function messageOf(brand: string, channel: 'push' | 'site', id: string, userId: string): Message {
  const key = messageKey(channel, { id, userId, activityId: null, actionId: null, triggerHash: null })
  return { brand, channel, id, userId, key, ref: '', text: '', attempt: 1, context: {} }
}

function recordEvents(t: { after(done: () => void): void }) {
  const reported: Events['message.other_parts'][] = []
  t.after(on('message.other_parts', (event) => reported.push(event)))
  return reported
}

test('row 29: an id with another user or action is reported; the same message, another brand or channel is not', (t) => {
  const reported = recordEvents(t)
  const watch = createIdWatch()
  watch(messageOf('1', 'push', '7', '1001'))
  watch(messageOf('1', 'push', '7', '1001'))
  watch(messageOf('2', 'push', '7', '1002'))
  watch(messageOf('1', 'site', '7', '1002'))
  assert.deepEqual(reported, [])
  watch(messageOf('1', 'push', '7', '1002'))
  assert.deepEqual(reported, [{ brand: '1', id: '7' }])
})

test('row 29: thousands of ids are remembered, and none is confused with another', (t) => {
  const reported = recordEvents(t)
  const watch = createIdWatch()
  for (let i = 0; i < 200_000; i++) watch(messageOf('1', 'push', String(10_000_000 + i), '1001'))
  assert.deepEqual(reported, [])
  for (let i = 190_000; i < 200_000; i++) watch(messageOf('1', 'push', String(10_000_000 + i), '1002'))
  assert.ok(reported.length > 8_000, `${reported.length} of 10,000`)
})

test('row 29: no id is confused with another, neither random ids nor timestamps with a counter', (t) => {
  const reported = recordEvents(t)
  const watch = createIdWatch()
  let random = 7n
  for (let i = 0; i < 500_000; i++) {
    random = (random * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n)
    watch(messageOf('1', 'push', String(random >> 1n), String(i)))
    const snowflake = ((1_790_000_000_000n + BigInt(i >> 3)) << 22n) | ((random >> 40n) & 0x3ff000n) | BigInt(i & 7)
    watch(messageOf('2', 'push', String(snowflake), String(i)))
  }
  assert.deepEqual(reported, [])
})
