// Messages that expire (row 56) and transactional messages (row 57), from the HTTP API to the operator and to Failed Actions.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { startFakeOperator } from '../providers/fake-operator.ts'
import { element, elements, enqueueAt, get, keys, startPlatform, untilSettled } from '../support/sides.ts'
import { until } from '../support/wait.ts'

interface Sent {
  readonly activity: { readonly id: number }
  readonly title?: string
  readonly expires_at?: string | number
}

/** A platform with one lane in single mode, and an operator that answers 503 until `recover()`. */
async function startSides(t: TestContext, over: Partial<LaneOptions>) {
  const sent: Sent[] = []
  let recovered = false
  const operator = await startFakeOperator(t, ({ body }, response) => {
    if (!recovered) return response.writeHead(503).end('{"error":"maintenance"}')
    const message = JSON.parse(body) as Sent
    sent.push(message)
    return response.end(JSON.stringify({ push_id: `p${message.activity.id}` }))
  })
  const provider = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const retry = { firstMs: 2, mostMs: 10 }
  const { url } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'single', concurrency: 1, provider, retry, ...over }],
  })
  return {
    url,
    sent,
    enqueue: (records: readonly object[]) => enqueueAt(url, records),
    outage: () => until(() => operator.received.length > 0, { awaited: 'the operator was called' }),
    /** Waits for a call that began after now. The lane has one call at a time, so the second one from now did. */
    laterCall: () => {
      const calls = operator.received.length
      return until(() => operator.received.length > calls + 1, { awaited: 'a later call' })
    },
    recover: () => {
      recovered = true
    },
    allSettled: () => untilSettled(url),
  }
}

test('row 57: after an outage, a transactional message leaves before the backlog', async (t) => {
  const { enqueue, sent, outage, recover, allSettled } = await startSides(t, { transactional: { activities: ['77'] } })
  await enqueue(elements(300, {}, { title: 'campaign' }))
  await outage()
  await enqueue([element({}, { title: 'code 1', priority: 'transactional' })])
  await enqueue([element({ activity_id: 77 }, { title: 'code 2' })])
  recover()
  await allSettled()
  const positions = ['code 1', 'code 2'].map((title) => sent.findIndex((message) => message.title === title))
  // The message that probes, and a call that began before the code was read, may be earlier.
  assert.ok(
    positions.every((position) => position >= 0 && position < 20),
    `sent at the positions ${positions} of ${sent.length}`,
  )
})

test('row 56: after an outage, expired messages are not sent and are in Failed Actions by name', async (t) => {
  const { url, enqueue, sent, outage, laterCall, recover, allSettled } = await startSides(t, {
    expires: { afterMs: 3_600_000 },
  })
  const expiresAt = new Date(Date.now() + 200).toISOString()
  const old = elements(50, {}, { title: 'old', expires_at: expiresAt })
  await enqueue([...old, element({}, { title: 'new' })])
  await outage()
  await until(() => Date.now() > Date.parse(expiresAt), { awaited: 'the expiry' })
  await laterCall()
  recover()
  await allSettled()
  assert.deepEqual(
    sent.map(({ title }) => title),
    ['new'],
  )
  const [{ expires_at: byDefault }] = sent as [Sent]
  assert.ok(Math.abs(Date.parse(byDefault as string) - Date.now() - 3_600_000) < 60_000, String(byDefault))
  const { items } = (await get(`${url}/admin/failed?lane=1/push`)).body
  assert.equal(items.length, 50)
  assert.ok(items.every((item: { reason: string; error: string }) => item.reason === 'expired'))
  assert.match(items[0].error, /^not sent: the message expired at .* while it waited$/)
})

test('a record with an unreadable expiry is refused with its line and the pointer', async (t) => {
  const { enqueue } = await startSides(t, {})
  const { body } = await enqueue([element(), element({}, { expires_at: 'tomorrow' })])
  assert.deepEqual([body.accepted, body.refused_count, body.refused[0].line], [1, 1, 2])
  assert.match(body.refused[0].error, /^the expiry at \/expires_at is neither /)
})
