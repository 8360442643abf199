// The rates of API keys (row 13), over HTTP.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Events, on } from '../../src/base/runtime/events.ts'
import { createMetrics } from '../../src/base/runtime/metrics.ts'
import type { KeyRate } from '../../src/sides/operator/options.ts'
import { createSendLimits } from '../../src/sides/operator/send-limits.ts'
import { onSqlite } from '../support/engines.ts'
import { element, get, keys, post, startOperator, witness } from '../support/sides.ts'

const single = '/channels/push/single'
const batch = '/channels/push/batch'

const limited = (rate: KeyRate) => [{ ...keys.both, rate }, keys.one]

function startLimited(t: TestContext, rate: KeyRate, store?: string) {
  const push = witness()
  return startOperator(t, { keys: limited(rate), push, ...(store && { store }) }).then(({ url }) => ({
    push,
    send: (body: unknown, path = single, key: string = keys.both.key) => post(url + path, body, key),
    url,
  }))
}

onSqlite('a single beyond the rate is 503 with Retry-After, never a 4xx, and leaves no row', async (t, store) => {
  const { push, send, url } = await startLimited(t, { perSecond: 1 }, store)
  const items = Array.from({ length: 20 }, () => element())
  const answers = await Promise.all(items.map((item) => send(item)))
  const refused = answers.filter(({ status }) => status === 503)
  assert.ok(refused.length >= 10, `${refused.length} are refused`)
  assert.equal(answers.filter(({ status }) => status === 200).length, 20 - refused.length)
  assert.equal(push.received.length, 20 - refused.length)
  for (const [i, { status, headers, body }] of answers.entries()) {
    const { messages } = (await get(`${url}/admin/messages?id=${items[i]?.activity.id}`)).body
    assert.equal(messages.length, status === 200 ? 1 : 0)
    if (status === 200) continue
    assert.equal(headers.get('retry-after'), '1')
    assert.match(body.error, /may send 1 messages a second/)
  }
  assert.equal((await send(element(), single, keys.one.key)).status, 200, 'another key has its own rate')
  const again = await Promise.all(items.map((item) => send(item)))
  for (const [i, { status, body }] of answers.entries())
    if (status === 200) assert.deepEqual(again[i]?.body, body, 'a delivered message is answered as before')
})

onSqlite('a batch beyond the rate is 200, with the excess in fatal and Retry-After', async (t, store) => {
  const { push, send } = await startLimited(t, { perSecond: 2 }, store)
  const items = Array.from({ length: 6 }, () => element())
  const { status, body, headers } = await send(items, batch)
  assert.equal(status, 200)
  const ids = items.map(({ activity }) => activity.id)
  const idsOf = (list: { id: unknown }[]) => list.map(({ id }) => id)
  assert.deepEqual([idsOf(body.successful), idsOf(body.fatal)], [ids.slice(0, 4), ids.slice(4)])
  assert.equal(headers.get('retry-after'), '1')
  assert.equal(push.received.length, 4)
  const again = await send([...items.slice(4), ...items.slice(0, 4)], batch)
  const delivered = again.body.successful.slice(-4)
  assert.deepEqual(delivered, body.successful, 'a delivered message has its first identifier, beyond the rate too')
})

test('after the time in Retry-After there is room', async (t) => {
  const { send } = await startLimited(t, { perSecond: 5 })
  const items = Array.from({ length: 30 }, () => element())
  const { body, headers } = await send(items, batch)
  assert.equal(body.fatal.length, 20)
  const seconds = Number(headers.get('retry-after'))
  assert.equal(seconds, 2, 'ten of the excess fit at a time')
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const rest = await send(items.slice(10), batch)
  assert.equal(rest.body.successful.length, 10)
})

test('each brand of a key has its own rate, and the key limits them together', async (t) => {
  const { send } = await startLimited(t, { perSecond: 3, perBrand: 2 })
  const items = [1, 1, 1, 1, 1, 2, 2, 2].map((brand_id) => element({ brand_id }))
  const { body } = await send(items, batch)
  const indexes = (list: { id: unknown }[]) => list.map(({ id }) => items.findIndex((each) => each.activity.id === id))
  assert.deepEqual(indexes(body.successful), [0, 1, 2, 3, 5, 6])
  assert.deepEqual(indexes(body.fatal), [4, 7])
})

test('invalid messages and messages for another brand do not count', async (t) => {
  const { send } = await startLimited(t, { perSecond: 1 })
  const items = [element({ user_id: '' }), element({ brand_id: 3 }), element(), element(), element()]
  const { body } = await send(items, batch)
  assert.equal(body.successful.length, 2)
})

test('the excess is counted by key, and its burst is logged once', async (t) => {
  const metrics = createMetrics()
  t.after(() => metrics.stop())
  const events: Events['messages.limited'][] = []
  t.after(on('messages.limited', (event) => events.push(event)))
  const { send } = await startLimited(t, { perSecond: 1 })
  for (let i = 0; i < 3; i++) await send([element(), element(), element(), element()], batch)
  assert.deepEqual(
    events.map(({ first }) => first),
    [true, false, false],
  )
  assert.equal(events[0]?.count, 2)
  const total = events.reduce((sum, { count }) => sum + count, 0)
  assert.ok((await metrics.registry.metrics()).includes(`bellwire_limited_total{key="platform of both"} ${total}\n`))
})

test('Retry-After is the time until the excess fits, and a minute without excess ends a burst', (t) => {
  const firsts: boolean[] = []
  t.after(on('messages.limited', ({ first }) => firsts.push(first)))
  const key = { ...keys.both, rate: { perSecond: 10, perBrand: 5 } }
  const findExcess = createSendLimits()
  const of = (brand: string, count: number) =>
    Array.from({ length: count }, () => ({ brand, channel: 'push' }) as Parameters<typeof findExcess>[1][number])
  assert.equal(findExcess(key, of('1', 10), 0), undefined)
  assert.equal(findExcess(key, of('1', 1), 0)?.refusal.retryAfterMs, 200)
  assert.equal(findExcess(key, of('1', 4), 0)?.refusal.retryAfterMs, 800)
  assert.equal(findExcess(key, of('1', 1_000), 0)?.refusal.retryAfterMs, 2_000)
  assert.equal(findExcess(key, of('2', 10), 0), undefined)
  assert.equal(findExcess(key, of('1', 4), 800), undefined)
  assert.equal(findExcess(key, of('1', 20), 61_000)?.indexes.size, 10)
  assert.deepEqual(firsts, [true, false, false, true])
})
