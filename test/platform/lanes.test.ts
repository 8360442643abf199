// The state of the platform's lanes: why messages wait, deliveries without an identifier, and resumed lanes.

import assert from 'node:assert/strict'
import test from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { startFakeOperator } from '../providers/fake-operator.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import {
  adminKey,
  element,
  elements,
  enqueueAt,
  get,
  keys,
  post,
  startPlatform,
  untilSettled,
  witness,
} from '../support/sides.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { event, until } from '../support/wait.ts'

function lane(baseUrl: string, over: Partial<LaneOptions> = {}): LaneOptions {
  const { mode = 'batch' } = over
  const provider = operatorApi({ url: baseUrl || 'http://127.0.0.1:1', apiKey: keys.one.key })
  return { brand: '1', channel: 'push', mode, provider, spanMs: 5, retry: { firstMs: 2, mostMs: 10 }, ...over }
}

const malformedAnswer =
  /^the operator answered 200, but the body is not .* it has none of successful, failed and fatal$/

test('a malformed answer of the operator is shown in the log, the lane and each outcome', async (t) => {
  const { url: operator, received } = await startFakeOperator(t, (_received, response) =>
    response.end('{"succesful":[]}'),
  )
  const reasons: string[] = []
  t.after(on('lane.held', ({ reason }) => void reasons.push(reason)))
  const { url } = await startPlatform(t, { lanes: [lane(operator)] })
  const { body } = await post(`${url}/admin/activities/push`, [element(), element(), element()], adminKey.key)
  // Long enough that the breaker opens and no more calls are made.
  await until(() => received.length > 5 && reasons.length > 12, { awaited: 'the lane is held repeatedly' })
  for (const reason of reasons) assert.match(reason, malformedAnswer)
  assert.match((await get(`${url}/admin/lanes`)).body.lanes[0].last_error, malformedAnswer)
  const [[seq]] = body.seqs
  const { outcomes } = (await post(`${url}/admin/outcomes`, { seqs: [seq] }, adminKey.key)).body
  const ranges = (await post(`${url}/admin/outcomes`, { seqs: body.seqs }, adminKey.key)).body
  assert.equal(ranges.outcomes.length, 3, 'the ranges of the answer to the enqueue are accepted')
  assert.equal((await post(`${url}/admin/outcomes`, { seqs: [[1, 10_001]] }, adminKey.key)).status, 400)
  assert.deepEqual([outcomes[0].category, outcomes[0].reason], ['waiting', 'nonsense'])
  assert.match(outcomes[0].error, malformedAnswer)
})

test('the reason why a message waits is shown only for this message', async (t) => {
  const { url: operator } = await startFakeOperator(t, ({ body }, response) => {
    const [poison, ...others] = (JSON.parse(body) as { activity: { id: number } }[]).map(({ activity: { id } }) => id)
    const fatal = [{ id: poison, error: 'the user is being merged' }]
    response.end(JSON.stringify({ successful: others.map((id) => ({ id, push_id: `p${id}` })), failed: [], fatal }))
  })
  const retry = { firstMs: 600_000, mostMs: 600_000 }
  const { url } = await startPlatform(t, { lanes: [lane(operator, { retry })] })
  const sent = await post(`${url}/admin/activities/push`, [element(), element()], adminKey.key)
  const seqs = [sent.body.seqs[0][0], sent.body.seqs[0][0] + 1]
  const outcomes = await until(
    async () => {
      const { body } = await post(`${url}/admin/outcomes`, { seqs }, adminKey.key)
      return body.outcomes[1].category === 'successful' && body.outcomes
    },
    { awaited: 'the second message is delivered' },
  )
  assert.partialDeepStrictEqual(outcomes[0], { category: 'waiting', error: 'the user is being merged' })
})

for (const [mode, answer] of [
  ['single', () => '{}'],
  [
    'batch',
    (body: string) =>
      JSON.stringify({
        successful: (JSON.parse(body) as { activity: { id: number } }[]).map((each) => each.activity.id),
      }),
  ],
] as const) {
  test(`row 6: a delivery without an identifier is shown as untracked, ${mode}`, async (t) => {
    const { url: operator } = await startFakeOperator(t, ({ body }, response) => response.end(answer(body)))
    const { url } = await startPlatform(t, { lanes: [lane(operator, { mode })] })
    await enqueueAt(url, [element()])
    await untilSettled(url)
    const { body } = await post(`${url}/admin/outcomes`, { seqs: [1] }, adminKey.key)
    assert.partialDeepStrictEqual(body.outcomes[0], { category: 'successful', untracked: true })
    assert.match(await (await fetch(`${url}/metrics`)).text(), /bellwire_untracked_total\{lane="1\/push"\} \d/)
  })
}

test('POST /admin/lanes/resume returns the new state of the lane', async (t) => {
  const { url: operator } = await startFakeOperator(t, (_received, response) =>
    response.writeHead(401).end('{"error":"who?"}'),
  )
  const { url } = await startPlatform(t, { lanes: [lane(operator, { mode: 'single', concurrency: 1 })] })
  const readLane = async () => (await get(`${url}/admin/lanes`)).body.lanes[0]
  const paused = event('lane.paused')
  await enqueueAt(url, elements(100))
  await paused
  const [pause] = await until(
    async () => {
      const { pauses } = await readLane()
      return pauses.length > 0 && pauses
    },
    { awaited: 'the pause is stored' },
  )
  assert.deepEqual([pause.scope, pause.by], ['lane', 'bellwire'])
  assert.match(pause.reason, /100 messages in a row were refused .*who\?/)
  const { status, body } = await post(`${url}/admin/lanes/resume`, { lane: '1/push' }, adminKey.key)
  assert.deepEqual([status, body.ended, body.lanes[0].state, body.lanes[0].pauses], [200, 1, 'running', []])
})

test('the mode of a running lane changes between single requests and batches', async (t) => {
  const { url: operator, received } = await startFakeOperator(t, ({ body }, response) => {
    const records = JSON.parse(body)
    response.end(
      JSON.stringify(
        Array.isArray(records)
          ? { successful: records.map(({ activity: { id } }) => ({ id, push_id: `p${id}` })), failed: [], fatal: [] }
          : { push_id: `p${records.activity.id}` },
      ),
    )
  })
  const { url } = await startPlatform(t, { lanes: [lane(operator, { mode: 'single', max: 40, concurrency: 1 })] })
  const sendAndListen = async (): Promise<string[]> => {
    received.length = 0
    await enqueueAt(url, elements(40))
    await until(async () => (await get(`${url}/admin/lanes`)).body.lanes[0].waiting === 0, { awaited: 'all are sent' })
    return received.map(({ path }) => path)
  }
  assert.deepEqual(new Set(await sendAndListen()), new Set(['/channels/push/single']))
  const change = { lane: '1/push', reason: 'r' }
  const tooMany = await post(`${url}/admin/lanes/settings`, { ...change, settings: { max: 2_000_000 } }, adminKey.key)
  assert.equal(tooMany.status, 400)
  const none = await post(`${url}/admin/lanes/settings`, { ...change, settings: {} }, adminKey.key)
  assert.equal(none.status, 400)
  const settings = { mode: 'batch', concurrency: 9, max: 50 }
  const { body } = await post(`${url}/admin/lanes/settings`, { ...change, settings }, adminKey.key)
  const { mode, max, per_second } = body.lanes[0].settings
  assert.partialDeepStrictEqual(mode, { value: 'batch', configured: 'single', override: { by: 'admin', reason: 'r' } })
  assert.deepEqual([max.value, max.configured, per_second], [50, 40, { value: null, configured: null }])
  const paths = await sendAndListen()
  assert.deepEqual(new Set(paths), new Set(['/channels/push/batch']))
  assert.ok(paths.length < 40, `${paths.length} batches`)
  const reset = await post(`${url}/admin/lanes/settings/reset`, { lane: '1/push' }, adminKey.key)
  assert.deepEqual(
    [reset.body.ended, reset.body.lanes[0].settings.mode],
    [3, { value: 'single', configured: 'single' }],
  )
  assert.deepEqual(new Set(await sendAndListen()), new Set(['/channels/push/single']))
})

test('a lane of a custom provider does not send more messages in a request than the provider accepts', async (t) => {
  const { url } = await startPlatform(t, { lanes: [lane('', { provider: witness(undefined, 30) })] })
  const change = { lane: '1/push', settings: { max: 31 }, reason: 'r' }
  const { status, body } = await post(`${url}/admin/lanes/settings`, change, adminKey.key)
  assert.deepEqual(
    [status, body.error],
    [400, 'settings.max is 31: lane 1/push sends at most 30 messages in a request'],
  )
})

const skip = await withoutPostgres()
test('POST /admin/lanes/resume while the store is unavailable is answered 503, and the process continues', {
  skip,
}, async (t) => {
  const network = await tcpProxy(t, await freshSchema())
  const unhandled: unknown[] = []
  const recordUnhandled = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', recordUnhandled)
  t.after(() => process.off('unhandledRejection', recordUnhandled))
  const { url } = await startPlatform(t, { store: network.url, lanes: [lane('http://127.0.0.1:1')] })
  network.cut()
  const { status, body } = await post(`${url}/admin/lanes/resume`, { lane: '1/push' }, adminKey.key)
  assert.equal(status, 503)
  assert.match(body.error, /cannot answer now/)
  network.restore()
  await until(async () => (await get(`${url}/readyz`)).status === 200, {
    awaited: 'the store is available',
    withinMs: 30_000,
  })
  assert.deepEqual(unhandled, [])
})
