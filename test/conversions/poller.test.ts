// Delivery statuses by polling at the platform (row 24): cursor, restart, faults, one owner.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { on } from '../../src/base/runtime/events.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { onPostgres, onSqlite } from '../support/engines.ts'
import { adminKey, element, get, post, startPlatform, temporary, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { fillAwaited } from './fill-awaited.ts'
import { type PolledStandIn, startPolledOperator } from './polled-operator.ts'

const accept = ({ channel, id }: Message): Result => ({
  category: 'successful',
  ref: `${channel}:${id}`,
  rule: 'accepted',
})

function lanesOf({ url }: PolledStandIn, channels: readonly ('push' | 'site')[], everyMs = 20): LaneOptions[] {
  return (['push', 'site'] as const).map((channel) => ({
    brand: '1',
    channel,
    mode: 'batch',
    provider: witness(accept),
    spanMs: 10,
    ...(channels.includes(channel) && { status: { poll: { url, apiKey: 'the operator issued it', everyMs } } }),
  }))
}

const record = (name: 'push_id' | 'site_notification_id', ref: string, status: string, brand = 1) => ({
  [name]: ref,
  status,
  timestamp: '2026-11-25T10:00:00Z',
  meta: { activity: { id: 7, brand_id: brand, user_id: '1001' } },
})

async function start(t: TestContext, lanes: LaneOptions[], store?: string) {
  const { url, stop } = await startPlatform(t, { lanes, ...(store !== undefined && { store }) })
  const statusOf = async (ref: string) => (await get(`${url}/admin/messages?ref=${ref}`)).body.messages[0]?.status
  return {
    url,
    stop,
    async send(id: number, channel = 'push') {
      await post(`${url}/admin/activities/${channel}`, [element({ id })], adminKey.key)
      await until(
        async () => (await get(`${url}/admin/messages?id=${id}`)).body.messages[0]?.outcome === 'successful',
        {
          awaited: 'the message is delivered',
        },
      )
    },
    statusOf,
    waitForStatus: (ref: string, status: string) =>
      until(async () => (await statusOf(ref)) === status, { awaited: `${ref} is ${status}` }),
    parked: async () => (await get(`${url}/admin/failed?lane=1%2Fstatuses`)).body.items,
  }
}

onSqlite('statuses are polled page by page, and the cursor survives a restart', async (t, store) => {
  const operator = await startPolledOperator(t)
  operator.most = 2
  const first = await start(t, lanesOf(operator, ['push']), store)
  await first.send(7)
  operator.records.push(...['sent', 'delivered', 'displayed', 'opened'].map((s) => record('push_id', 'push:7', s)))
  await first.waitForStatus('push:7', 'opened')
  assert.ok(operator.keys.every((key) => key === 'the operator issued it'))
  await until(() => operator.asked.at(-1) === 'a.4', { awaited: 'the last cursor was sent' })
  await first.stop()
  operator.asked.length = 0
  operator.records.push(record('push_id', 'push:7', 'clicked'))
  const second = await start(t, lanesOf(operator, ['push']), store)
  await second.waitForStatus('push:7', 'clicked')
  assert.equal(operator.asked[0], 'a.4')
})

test('each lane takes its own statuses only, and statuses of other brands are passed over', async (t) => {
  const operator = await startPolledOperator(t)
  const { send, waitForStatus, statusOf, parked } = await start(t, lanesOf(operator, ['push']))
  await send(7)
  await send(8, 'site')
  operator.records.push(
    record('site_notification_id', 'site:8', 'clicked'),
    record('push_id', 'push:7', 'clicked', 2),
    record('push_id', 'push:7', 'delivered'),
  )
  await waitForStatus('push:7', 'delivered')
  assert.equal(await statusOf('site:8'), undefined, 'the lane of site messages is not polled')
  assert.deepEqual(await parked(), [])
})

onSqlite('after status 410 polling goes on with the cursor that the operator named', async (t, store) => {
  const operator = await startPolledOperator(t)
  const { send, waitForStatus } = await start(t, lanesOf(operator, ['push', 'site']), store)
  await send(7)
  operator.records.push(record('push_id', 'push:7', 'sent'))
  await waitForStatus('push:7', 'sent')
  const restarted = event('poll.restarted', ({ lane }) => lane === '1/push')
  operator.epoch = 'b'
  operator.records.splice(0, 1, record('push_id', 'push:7', 'sent'), record('push_id', 'push:7', 'delivered'))
  await restarted
  await waitForStatus('push:7', 'delivered')
})

test('only the first 410 of an operator is followed by a request at once', async (t) => {
  const operator = await startPolledOperator(t)
  let restarts = 0
  const restart = (response: import('node:http').ServerResponse): void => {
    operator.faults.push(restart)
    response.writeHead(410).end(JSON.stringify({ error: 'unknown cursor', restart: `c.${++restarts}` }))
  }
  operator.faults.push(restart)
  const delays: number[] = []
  const askedBefore: number[] = []
  t.after(
    on('poll.failed', ({ inMs }) => {
      delays.push(inMs)
      askedBefore.push(operator.asked.length)
    }),
  )
  await start(t, lanesOf(operator, ['push'], 50))
  await until(() => delays.length >= 3, { awaited: 'three delays' })
  assert.deepEqual(askedBefore.slice(0, 3), [2, 3, 4])
  assert.ok(
    delays.every((inMs) => inMs >= 50),
    `delays: ${delays}`,
  )
})

test('an operator whose pages never end is polled for at most half of the time', async (t) => {
  const pageMs = 77_000
  const { monotonic, setTimeout } = clock
  let passedMs = 0
  t.mock.method(clock, 'monotonic', () => monotonic() + passedMs)
  let rests = 0
  t.mock.method(clock, 'setTimeout', (action: () => void, ms: number) => {
    const isRest = ms >= pageMs && ms < pageMs + 10_000
    if (isRest) rests++
    return setTimeout(action, isRest ? 0 : ms)
  })
  const operator = await startPolledOperator(t)
  const answerSlowly = (response: import('node:http').ServerResponse): void => {
    operator.faults.push(answerSlowly)
    passedMs += pageMs
    const records = [record('push_id', 'unknown', 'clicked')]
    response.end(JSON.stringify({ records, next: `a.${operator.asked.length}` }))
  }
  operator.faults.push(answerSlowly)
  await start(t, lanesOf(operator, ['push']))
  await until(() => operator.asked.length > 3, { awaited: 'four requests' })
  assert.ok(rests >= 3, `${rests} rests between ${operator.asked.length} requests`)
})

test('a poller waits while its lane has 100,000 statuses of unknown messages', async (t) => {
  const operator = await startPolledOperator(t)
  const store = `sqlite:${await temporary(t)}/platform.db`
  await fillAwaited(store, '1/push')
  const failed = event('poll.failed')
  await start(t, lanesOf(operator, ['push']), store)
  operator.records.push(record('push_id', 'unknown', 'clicked'))
  const { error, inMs } = await failed
  assert.match(error, /^1\/push has 100000 statuses of unknown messages/)
  assert.ok(inMs >= 60_000, `asked again after ${inMs} ms`)
})

test('a page that cannot be had or read is asked for again, with a longer and longer delay', async (t) => {
  const operator = await startPolledOperator(t)
  const answer =
    (status: number, body: string, headers: Record<string, string> = {}) =>
    (response: import('node:http').ServerResponse) =>
      void response.writeHead(status, headers).end(body)
  operator.faults.push(
    answer(503, '{"error":"busy"}'),
    answer(200, 'no JSON'),
    answer(410, '{}'),
    answer(302, '', { location: 'http://127.0.0.1:1/' }),
    (response) => void response.destroy(),
  )
  const failures: string[] = []
  t.after(on('poll.failed', ({ lane, error }) => void (lane === '1/push' && failures.push(error))))
  const { send, waitForStatus } = await start(t, lanesOf(operator, ['push'], 1))
  await send(7)
  operator.records.push(record('push_id', 'push:7', 'clicked'))
  await until(async () => failures.length === 5, { awaited: 'five failures', withinMs: 40_000 })
  await waitForStatus('push:7', 'clicked')
  assert.match(failures.join('\n'), /503.*busy\n.*not JSON|cannot be read.*\n.*no cursor.*\n.*302/s)
})

test('an unreadable record of a page is parked, and the page goes on', async (t) => {
  const operator = await startPolledOperator(t)
  const { send, waitForStatus, parked } = await start(t, lanesOf(operator, ['push']))
  await send(7)
  operator.records.push(record('push_id', 'push:7', 'liked'), record('push_id', 'push:7', 'clicked'))
  await waitForStatus('push:7', 'clicked')
  assert.match((await parked())[0].error, /status/)
})

onPostgres('of two processes one polls a lane, and the other goes on when it stops', async (t, store) => {
  const operator = await startPolledOperator(t)
  const lanes = () => lanesOf(operator, ['push'])
  const first = await start(t, lanes(), store)
  await first.send(7)
  await until(() => operator.asked.length > 0, { awaited: 'the first process polls' })
  // Only requests of the second process have this key.
  const [push, site] = lanes() as [LaneOptions, LaneOptions]
  const second = await start(
    t,
    [{ ...push, status: { poll: { url: operator.url, apiKey: 'of the second', everyMs: 20 } } }, site],
    store,
  )
  operator.records.push(record('push_id', 'push:7', 'sent'))
  await first.waitForStatus('push:7', 'sent')
  const asked = operator.asked.length
  await until(() => operator.asked.length > asked + 10, { awaited: 'ten more polls' })
  assert.ok(!operator.keys.includes('of the second'))
  await first.stop()
  operator.records.push(record('push_id', 'push:7', 'clicked'))
  await second.waitForStatus('push:7', 'clicked')
  assert.ok(operator.keys.includes('of the second'))
  const firstOfSecond = operator.asked[operator.keys.indexOf('of the second')]
  assert.equal(firstOfSecond, 'a.1', 'it goes on from the cursor of the first')
})
