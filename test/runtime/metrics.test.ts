import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { emit } from '../../src/base/runtime/events.ts'
import { createMetrics, metricsText } from '../../src/base/runtime/metrics.ts'
import { currentPauses, recordPauses } from '../../src/base/runtime/pauses.ts'
import { hourMs, passTime } from '../support/set-clock.ts'

const settled = { channel: 'push', id: '7', ref: 'r', rule: 'x', attempt: 1 }

test('messages are counted by outcome, and uncertain ones also separately', async (t) => {
  const { read } = measured(t)
  for (const brand of ['1', '2']) {
    emit('message.settled', { ...settled, brand, category: 'successful', uncertain: false })
    emit('message.settled', { ...settled, brand, category: 'fatal', uncertain: true })
  }
  emit('message.received', { channel: 'push', count: 40, mode: 'batch' })
  assert.equal(await read('bellwire_attempts_total{channel="push",category="successful"}'), 2)
  assert.equal(await read('bellwire_attempts_total{channel="push",category="fatal"}'), 2)
  assert.equal(await read('bellwire_uncertain_total{channel="push"}'), 2)
  assert.equal(await read('bellwire_received_total{channel="push",mode="batch"}'), 40)
})

test('a message of a killed process that may have arrived counts as uncertain', async (t) => {
  const { read } = measured(t)
  const takenOver = { brand: '1', channel: 'push', ref: 'r', attempt: 2 }
  emit('message.taken_over', { ...takenOver, uncertain: true })
  emit('message.taken_over', { ...takenOver, uncertain: false })
  assert.equal(await read('bellwire_uncertain_total{channel="push"}'), 1)
  emit('message.settled', { ...settled, brand: '1', category: 'fatal', uncertain: true })
  assert.equal(await read('bellwire_uncertain_total{channel="push"}'), 2)
  assert.equal(await read('bellwire_taken_over_total{uncertain="true"}'), 1)
})

test('a label value that is not allowed is counted as other, and creates no series', async (t) => {
  const { metrics, read } = measured(t)
  metrics.allow('kind', ['apns'])
  for (const kind of ['apns', 'http:a', 'http:b', 'http:c'])
    emit('device.linked', { brand: '1', userId: 'a', device: 'd', kind, origin: '' })
  assert.equal(await read('bellwire_devices_linked_total{brand="1",kind="apns"}'), 1)
  assert.equal(await read('bellwire_devices_linked_total{brand="1",kind="other"}'), 3)
  metrics.allow('kind', ['http:a'])
  emit('device.linked', { brand: '1', userId: 'a', device: 'd', kind: 'http:a', origin: '' })
  assert.equal(await read('bellwire_devices_linked_total{brand="1",kind="http:a"}'), 1)
})

test('counters accumulate from scrape to scrape', async (t) => {
  const { read } = measured(t)
  emit('queue.enqueued', { lane: '1/push', accepted: 3, repeated: 1 })
  assert.equal(await read('bellwire_enqueued_total{lane="1/push"}'), 3)
  emit('queue.enqueued', { lane: '1/push', accepted: 4, repeated: 0 })
  assert.equal(await read('bellwire_enqueued_total{lane="1/push"}'), 7)
  assert.equal(await read('bellwire_enqueued_again_total{lane="1/push"}'), 1)
})

test('refusals are counted', async (t) => {
  const { read } = measured(t)
  emit('request.refused', { side: 'operator', method: 'POST', path: '/', status: 401, error: 'key' })
  assert.equal(await read('bellwire_requests_refused_total{side="operator",status="401"}'), 1)
})

test('durations of calls and transactions are measured', async (t) => {
  const { read } = measured(t)
  emit('call.done', { provider: 'fcm', messages: 10, ms: 30, rule: 'x', fatal: 2, failed: 1 })
  emit('store.commit', { callers: 3, rows: 12, ms: 1.5, durable: true })
  assert.equal(await read('bellwire_call_seconds_count{provider="fcm"}'), 1)
  assert.equal(await read('bellwire_call_seconds_bucket{le="0.02",provider="fcm"}'), 0)
  assert.equal(await read('bellwire_call_fatal_total{provider="fcm"}'), 2)
  assert.equal(await read('bellwire_commit_rows_sum{durable="true"}'), 12)
})

test('requests are measured by route, and messages from the enqueue to their outcome', async (t) => {
  const { read } = measured(t)
  const request = { side: 'operator', method: 'POST', route: '/channels/:channel/single', status: '2xx' } as const
  for (const ms of [3, 20, 21, 60_000]) emit('request.answered', { ...request, ms })
  const labels = 'side="operator",method="POST",route="/channels/:channel/single",status="2xx"'
  assert.equal(await read(`bellwire_request_seconds_bucket{le="0.02",${labels}}`), 2)
  assert.equal(await read(`bellwire_request_seconds_bucket{le="30",${labels}}`), 3)
  assert.equal(await read(`bellwire_request_seconds_bucket{le="+Inf",${labels}}`), 4)
  assert.equal(await read(`bellwire_request_seconds_count{${labels}}`), 4)
  assert.equal(await read(`bellwire_request_seconds_sum{${labels}}`), 60.044)
  const item = { lane: '1/push', seq: 1, attempt: 1, rule: 'x', untracked: false }
  emit('item.settled', { ...item, category: 'successful', ageMs: 200 })
  emit('item.settled', { ...item, category: 'failed', ageMs: 90_000 })
  assert.equal(await read('bellwire_settle_seconds_bucket{le="0.25",lane="1/push",category="successful"}'), 1)
  assert.equal(await read('bellwire_settle_seconds_sum{lane="1/push",category="failed"}'), 90)
})

test('a held lane has its time and the time to the next try, until it is released or given to another process', async (t) => {
  const { read } = measured(t)
  const lane = '1/push'
  emit('lane.held', { lane, reason: '503', forMs: 10_000 })
  passTime(t, 4_000)
  emit('lane.held', { lane, reason: '503', forMs: 30_000 })
  passTime(t, 2_000)
  const near = (value: number | undefined, expected: number) =>
    assert.ok(Math.abs((value ?? -1) - expected) < 1, `${value}`)
  near(await read('bellwire_lane_held_seconds{lane="1/push"}'), 6)
  near(await read('bellwire_lane_next_try_seconds{lane="1/push"}'), 28)
  emit('lane.released', { lane, heldMs: 6_000 })
  assert.equal(await read('bellwire_lane_held_seconds{lane="1/push"}'), undefined)
  emit('lane.held', { lane, reason: '503', forMs: 10_000 })
  emit('lane.returned', { lane })
  assert.equal(await read('bellwire_lane_held_seconds{lane="1/push"}'), undefined)
})

test('a provider needs attention until it resumes, or until it is no longer reported', async (t) => {
  const { read } = measured(t)
  const attention = (provider: string) => read(`bellwire_attention{provider="${provider}"}`)
  for (const provider of ['fcm', '1/push'])
    emit('provider.alert', { provider, error: 'wrong credential', remedy: 'bellwire doctor' })
  assert.deepEqual([await attention('fcm'), await attention('1/push')], [1, 1])
  emit('provider.resumed', { provider: 'fcm' })
  assert.deepEqual([await attention('fcm'), await attention('1/push')], [undefined, 1])
  passTime(t, 2 * hourMs)
  assert.equal(await attention('1/push'), undefined)
})

test('a source, a list, a brand without texts and the stop of removals are reported until their end', async (t) => {
  const { read } = measured(t)
  const states = () =>
    Promise.all(
      [
        'attributes_away{source="sql"}',
        'list_held{source="file"}',
        'content_unrecognised{brand="1",channel="push"}',
        'attention{provider="fcm"}',
      ].map((name) => read(`bellwire_${name}`)),
    )
  emit('suppression.away', { source: 'sql', error: 'refused' })
  emit('suppression.held', { source: 'file', why: 'it is short', remedy: 'confirm it' })
  emit('content.unrecognised', { brand: '1', channel: 'push', messages: 10, pointers: '/title' })
  emit('provider.alert', { provider: 'fcm', error: 'removals are stopped', remedy: 'confirm them' })
  // Between two look-ups for a held lane.
  passTime(t, 10 * 60_000)
  assert.deepEqual(await states(), [1, 1, 1, 1])
  emit('suppression.back', { source: 'sql' })
  emit('suppression.accepted', { source: 'file' })
  emit('content.recognised', { brand: '1', channel: 'push' })
  emit('removals.confirmed', { service: 'fcm', by: 'office' })
  assert.deepEqual(await states(), [undefined, undefined, undefined, undefined])
})

test('of two sides in one process, the stop of one clears no pause and no attention of the other', async (t) => {
  const { read } = measured(t)
  const paused = () => read('bellwire_provider_paused{provider="fcm"}')
  const attention = () => read('bellwire_attention{provider="fcm"}')
  const [operator, platform] = [recordPauses('fcm'), recordPauses('fcm')]
  for (const side of ['operator', 'platform'] as const) emit('server.started', { side })
  operator.begin({ reason: 'away', forMs: 1_000 })
  platform.begin({ reason: 'away', forMs: 1_000 })
  platform.end()
  assert.equal(await paused(), 1, 'the other guard has resumed')
  platform.begin({ reason: 'away', forMs: 1_000 })
  emit('provider.alert', { provider: 'fcm', error: 'wrong credential', remedy: 'bellwire doctor' })
  emit('server.stopping', { side: 'platform' })
  platform.close()
  assert.deepEqual(
    currentPauses()
      .filter(({ provider }) => provider === 'fcm')
      .map(({ reason }) => reason),
    ['away'],
  )
  assert.deepEqual([await paused(), await attention()], [1, 1], 'the other side has stopped')
  emit('server.stopping', { side: 'operator' })
  operator.close()
  assert.deepEqual([await paused(), await attention()], [undefined, undefined])
})

test('gauges follow the events', async (t) => {
  const { metrics, read } = measured(t)
  let canStore = true
  metrics.storeUp(async () => true)
  metrics.storeUp(async () => canStore)
  assert.equal(await read('bellwire_store_up'), 1)
  emit('store.lost', { store: 's', error: 'x' })
  canStore = false
  emit('lane.owned', { lane: '1/push' })
  emit('inbox.opened', { brand: '1', userId: '1001', streams: 1 })
  assert.equal(await read('bellwire_store_up'), 0)
  assert.equal(await read('bellwire_store_lost_total'), 1)
  assert.equal(await read('bellwire_lane_owned{lane="1/push"}'), 1)
  assert.equal(await read('bellwire_inbox_streams'), 1)
  canStore = true
  assert.equal(await read('bellwire_store_up'), 1)
})

test('lane depths are read at each scrape; a failed read affects no other metric', async (t) => {
  const { metrics, read } = measured(t)
  let count = 5
  const end = metrics.depths(async () => [{ lane: '1/push', state: 'waiting', count: count++ }])
  metrics.depths(async () => assert.fail('the store is unavailable'))
  assert.equal(await read('bellwire_lane_depth{lane="1/push",state="waiting"}'), 5)
  assert.equal(await read('bellwire_lane_depth{lane="1/push",state="waiting"}'), 6)
  end()
  assert.equal(await read('bellwire_lane_depth{lane="1/push",state="waiting"}'), undefined)
})

test('table sizes are read at each scrape, by side', async (t) => {
  const { metrics, read } = measured(t)
  const end = metrics.sizes('operator', async () => [{ table: 'requests', bytes: 8192 }])
  assert.equal(await read('bellwire_store_bytes{side="operator",table="requests"}'), 8192)
  end()
  assert.equal(await read('bellwire_store_bytes{side="operator",table="requests"}'), undefined)
})

test("the metrics of this process include Node's default metrics and the version of Bellwire", async () => {
  assert.match(await metricsText(), /^process_cpu_seconds_total /m)
  assert.match(await metricsText(), /^bellwire_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
})

function measured(t: TestContext) {
  const metrics = createMetrics()
  t.after(() => metrics.stop())
  const read = async (name: string): Promise<number | undefined> => {
    const lines = (await metrics.registry.metrics()).split('\n')
    const value = lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1)
    return value === undefined ? undefined : Number(value)
  }
  return { metrics, read }
}
