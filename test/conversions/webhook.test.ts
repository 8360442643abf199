// Delivery statuses by webhook at the platform (rows 23 to 25): signature, scope, order, parking.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { nobodyErased } from '../../src/base/people/erasures.ts'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { clock } from '../../src/base/runtime/clock.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { createStatusIntake } from '../../src/subjects/conversions/status-intake.ts'
import { createStatusQuota, StatusesFull } from '../../src/subjects/conversions/status-quota.ts'
import { conversionMigrations } from '../../src/subjects/conversions/tables.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import { adminKey, element, get, post, startPlatform, temporary, untilSettled, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { fillAwaited } from './fill-awaited.ts'
import { report, reportUnsigned, secretOf } from './reporting.ts'

const accept = ({ brand, id }: Message): Result => ({ category: 'successful', ref: `${brand}:${id}`, rule: 'accepted' })

interface Started {
  readonly answer?: (message: Message) => Result | Promise<Result>
  readonly store?: string
  readonly waitMs?: number
  /** Records that are enqueued, and settled before the test. */
  readonly sent?: readonly object[]
  /** The secrets of each lane. */
  readonly secrets?: Readonly<Record<string, readonly string[]>>
}

const one = secretOf('operator 1')
const two = secretOf('operator 2')

async function start(t: TestContext, { answer = accept, store, waitMs, secrets, sent }: Started = {}) {
  const provider = witness(answer)
  const lane = (brand: '1' | '2', channel: 'push' | 'site'): LaneOptions => ({
    brand,
    channel,
    mode: 'batch',
    provider,
    spanMs: 10,
    retry: { firstMs: 50, mostMs: 100 },
    status: {
      secrets: secrets?.[`${brand}/${channel}`] ?? [brand === '1' ? one : two],
    },
  })
  const { url } = await startPlatform(t, {
    lanes: [lane('1', 'push'), lane('1', 'site'), lane('2', 'push')],
    ...(store !== undefined && { store }),
    ...(waitMs !== undefined && { testing: { statusWaitMs: waitMs } }),
  })
  const find = async (query: string) => (await get(`${url}/admin/messages?${query}`)).body.messages
  const enqueue = (records: readonly object[], channel = 'push') =>
    post(`${url}/admin/activities/${channel}`, records, adminKey.key)
  if (sent !== undefined) {
    await enqueue(sent)
    await untilSettled(url)
  }
  return {
    url,
    find,
    enqueue,
    waitUntilSettled: () => untilSettled(url),
    /** The message as GET /admin/messages/:seq shows it. */
    details: async (id: string) => (await get(`${url}/admin/messages/${(await find(`id=${id}`))[0].seq}`)).body,
    parked: async (brand: string) => (await get(`${url}/admin/failed?lane=${brand}%2Fstatuses`)).body.items,
  }
}

const status = (ref: string, name: string, timestamp = '2026-11-25T10:00:00.5Z', meta?: object) => ({
  push_id: ref,
  status: name,
  timestamp,
  ...(meta && { meta }),
})

onSqlite('statuses are shown with their times and the meta of their message, byte for byte', async (t, store) => {
  const { url, find, details } = await start(t, { store, sent: [element({ id: 7 })] })
  const meta = '{"activity":{"id":7, "brand_id":1,"user_id":"1001","action_id":9007199254740993},"meta":{"z": 1,"a":2}}'
  const body = `[{"push_id":"1:7","status":"clicked","timestamp":"2026-11-25T12:00:03+02:00","meta":${meta}},
    {"push_id":"1:7","status":"delivered","timestamp":"2026-11-25T10:00:01Z"}]`
  assert.deepEqual((await report(url, body)).body, { accepted: 2, parked: 0 })
  const shown = await details('7')
  assert.equal(shown.status, 'clicked')
  assert.deepEqual(shown.statuses, [
    { status: 'delivered', at: '2026-11-25T10:00:01Z', ref: '1:7', meta },
    { status: 'clicked', at: '2026-11-25T10:00:03Z', ref: '1:7', meta },
  ])
  const [listed] = await find('ref=1:7')
  assert.deepEqual([listed.status, listed.statuses.length, listed.statuses[1].meta], ['clicked', 2, undefined])
})

test('a lane with 100,000 statuses of unknown messages refuses more of them, and takes those of its messages', async (t) => {
  const store = `sqlite:${await temporary(t)}/platform.db`
  await fillAwaited(store, '1/push')
  const { url, details } = await start(t, { store, sent: [element({ id: 7 })] })
  const full = event('statuses.full')
  const refused = await report(url, status('unknown', 'clicked'))
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '60')
  assert.match(refused.body.error, /1\/push has 100000 statuses of unknown messages/)
  assert.deepEqual(await full, { lane: '1/push', statuses: 100_000 })
  assert.deepEqual((await report(url, status('1:7', 'clicked'))).body, { accepted: 1, parked: 0 })
  assert.equal((await details('7')).status, 'clicked')
  // Each lane has a quota of its own.
  const other = await report(url, status('unknown', 'clicked'), { secrets: [two] })
  assert.deepEqual(other.body, { accepted: 1, parked: 0 })
})

onSqlite('parked statuses have a quota, and a decision about them makes room', async (t, store) => {
  let passedMs = 0
  t.mock.method(clock, 'monotonic', () => performance.now() + passedMs)
  const database = await openDatabase(store, { migrations: [...queueMigrations, ...conversionMigrations] })
  const queue = createQueue(database)
  const databaseOf = () => database
  const quota = createStatusQuota({ queue, databaseOf, most: 3 })
  const intake = createStatusIntake({ queue, quota, databaseOf, erased: nobodyErased })
  const park = (n: number) => intake.storeStatuses([{ invalid: 'unreadable', text: String(n) }], ['1/push'], 'webhook')
  for (const n of [1, 2, 3]) await park(n)
  await assert.rejects(park(4), StatusesFull)
  await queue.decideFailed({ lane: '1/statuses' }, 'dismiss')
  passedMs = 1_000
  await park(4)
  await database.close()
})

onEachEngine('a repeated call changes nothing, and a status keeps its first time', async (t, store) => {
  const { url, details } = await start(t, { store, sent: [element({ id: 7 })] })
  const times = ['2026-11-25T10:00:02Z', '2026-11-25T10:00:01Z', '2026-11-25T10:00:03Z']
  for (const time of [...times, ...times])
    assert.deepEqual((await report(url, status('1:7', 'opened', time), { id: 'msg_same' })).body, {
      accepted: 1,
      parked: 0,
    })
  // The same status twice in one call.
  await report(url, [status('1:7', 'opened', times[2]), status('1:7', 'opened', times[0])])
  assert.deepEqual((await details('7')).statuses, [{ status: 'opened', at: '2026-11-25T10:00:01Z', ref: '1:7' }])
})

test('a step backwards is kept, and the summary stays', async (t) => {
  const { url, details } = await start(t, { sent: [element({ id: 7 })] })
  await report(url, status('1:7', 'clicked', '2026-11-25T10:00:01Z'))
  await report(url, status('1:7', 'displayed', '2026-11-25T10:00:09Z'))
  await report(url, status('1:7', 'failed', '2026-11-25T10:00:10Z'))
  const shown = await details('7')
  assert.equal(shown.status, 'clicked')
  assert.deepEqual(
    shown.statuses.map((each: { status: string }) => each.status),
    ['clicked', 'displayed', 'failed'],
  )
})

test('a call without a valid signature is refused, and changes nothing', async (t) => {
  const { url, details } = await start(t, { sent: [element({ id: 7 })] })
  const body = status('1:7', 'clicked')
  const minutes = 60_000
  const refused = [
    await reportUnsigned(url, JSON.stringify(body)),
    await reportUnsigned(url, JSON.stringify(body), { 'webhook-id': 'a', 'webhook-timestamp': '1' }),
    await report(url, body, { secrets: [secretOf('somebody else')] }),
    await report(url, body, { at: Date.now() - 6 * minutes }),
    await report(url, body, { at: Date.now() + 6 * minutes }),
  ]
  for (const { status: code, body: answer } of refused) {
    assert.equal(code, 401)
    assert.match(answer.error, /sign/)
  }
  assert.equal((await details('7')).status, undefined)
  assert.equal((await report(url, body, { at: Date.now() - 4 * minutes })).status, 200)
})

test('both secrets of a rotation are accepted, and calls that the published package has signed', async (t) => {
  const next = secretOf('the next one')
  const { url, details } = await start(t, { secrets: { '1/push': [one, next] }, sent: [element({ id: 7 })] })
  assert.equal((await report(url, status('1:7', 'delivered'), { secrets: [one] })).status, 200)
  const body = JSON.stringify(status('1:7', 'displayed'))
  const now = new Date()
  const answer = await reportUnsigned(url, body, {
    'webhook-id': 'msg_package',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(next).sign('msg_package', now, body),
  })
  assert.deepEqual(answer.body, { accepted: 1, parked: 0 })
  assert.equal((await details('7')).status, 'displayed')
})

test('a secret changes only the messages of its own lanes, even if the identifiers are equal', async (t) => {
  const { url, find, parked } = await start(t, {
    answer: () => ({ category: 'successful', ref: 'equal', rule: 'accepted' }),
    sent: [element({ id: 7 }), element({ id: 8, brand_id: 2 })],
  })
  await report(url, status('equal', 'clicked'), { secrets: [two] })
  assert.deepEqual([(await find('id=7'))[0].status, (await find('id=8'))[0].status], [undefined, 'clicked'])
  // The meta cannot widen the scope either.
  const meta = { activity: { id: 7, brand_id: 1, user_id: '1001' } }
  const answer = await report(url, status('equal', 'opened', undefined, meta), { secrets: [two] })
  assert.deepEqual(answer.body, { accepted: 0, parked: 1 })
  assert.equal((await find('id=7'))[0].status, undefined)
  const [item] = await parked('2')
  assert.match(item.error, /may not report the push messages of brand 1/)
})

test('with one secret for several brands, the meta decides between equal identifiers', async (t) => {
  const { url, find, parked } = await start(t, {
    answer: () => ({ category: 'successful', ref: 'equal', rule: 'accepted' }),
    secrets: { '1/push': [one], '2/push': [one] },
    sent: [element({ id: 7 }), element({ id: 8, brand_id: 2 })],
  })
  const meta = { activity: { id: 8, brand_id: 2, user_id: '1001' } }
  await report(url, status('equal', 'clicked', undefined, meta))
  assert.deepEqual([(await find('id=7'))[0].status, (await find('id=8'))[0].status], [undefined, 'clicked'])
  assert.deepEqual((await report(url, status('equal', 'opened'))).body, { accepted: 0, parked: 1 })
  assert.match((await parked('-'))[0].error, /send meta with activity.brand_id/)
})

test('an unreadable record of an array is parked, however many the array has; alone, without an array, it is refused', async (t) => {
  const { url, parked } = await start(t)
  const unreadable = status('1:7', 'liked')
  assert.equal((await report(url, unreadable)).status, 400)
  for (const body of [[unreadable], [[]], [{ push_id: 'x' }]])
    assert.deepEqual((await report(url, body)).body, { accepted: 0, parked: 1 })
  assert.equal((await parked('1')).length, 3)
})

test('an unreadable call is refused; an unreadable record of several is parked with the reason', async (t) => {
  const { url, details, parked } = await start(t, { sent: [element({ id: 7 })] })
  for (const [body, error] of [
    ['', /empty/],
    ['{', /not JSON/],
    ['[]', /empty/],
    [status('1:7', 'liked'), /status/],
    [{ ...status('1:7', 'clicked'), timestamp: 'yesterday' }, /timestamp/],
    [{ status: 'clicked', timestamp: '2026-11-25T10:00:00Z' }, /push_id/],
  ] as const) {
    const answer = await report(url, body)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.body.error, error)
  }
  assert.equal((await report(url, 'x'.repeat(4 * 1024 * 1024 + 1))).status, 413)
  const mixed = [status('1:7', 'liked'), status('1:7', 'clicked'), { push_id: 5 }]
  for (let repeated = 0; repeated < 2; repeated++)
    assert.deepEqual((await report(url, mixed)).body, { accepted: 1, parked: 2 })
  assert.equal((await details('7')).status, 'clicked')
  const items = await parked('1')
  assert.equal(items.length, 2, 'a repeated call parks nothing twice')
  assert.match(items[0].error, /status/)
  assert.equal(items[0].rule, 'row 24: cannot be read')
})

onSqlite('a status that arrives before the answer to the send waits for its identifier', async (t, store) => {
  const reported = Promise.withResolvers<void>()
  const { url, enqueue, find, parked, waitUntilSettled } = await start(t, {
    store,
    async answer(message) {
      await reported.promise
      return accept(message)
    },
  })
  await enqueue([element({ id: 7 })])
  assert.deepEqual((await report(url, status('1:7', 'delivered'))).body, { accepted: 1, parked: 0 })
  assert.deepEqual(await find('ref=1:7'), [])
  reported.resolve()
  await waitUntilSettled()
  const [found] = await find('ref=1:7')
  assert.equal(found.status, 'delivered')
  assert.deepEqual(await parked('1'), [])
})

onEachEngine('an identifier that stays unknown is parked with the reason, and can be replayed', async (t, store) => {
  const released = Promise.withResolvers<void>()
  const { url, enqueue, details, parked, waitUntilSettled } = await start(t, {
    store,
    waitMs: 50,
    async answer(message) {
      await released.promise
      return accept(message)
    },
  })
  await enqueue([element({ id: 7 })])
  const meta = { activity: { id: 7, brand_id: 1, user_id: '1001' } }
  await report(url, [status('1:7', 'delivered', '2026-11-25T10:00:01Z', meta), status('1:7', 'clicked')])
  const items = await until(async () => ((await parked('1')).length === 2 ? parked('1') : undefined), {
    awaited: 'the statuses are parked',
  })
  assert.match(items[0].error, /no message of 1\/push has the identifier 1:7/)
  assert.deepEqual(items.map(({ user }: { user: string | null }) => user).toSorted(), ['1001', null])
  const replay = async () => {
    await post(`${url}/admin/failed/replay`, { lane: '1/statuses' }, adminKey.key)
    await until(
      async () =>
        (await get(`${url}/admin/summary`)).body.lanes['1/statuses'].waiting === 0 && (await parked('1')).length,
      { awaited: 'the replay has ended' },
    )
  }
  await replay()
  assert.deepEqual(
    (await parked('1')).map(({ state, replays }: { state: string; replays: number }) => [state, replays]),
    [
      ['pending', 1],
      ['pending', 1],
    ],
  )
  released.resolve()
  await waitUntilSettled()
  await replay()
  const shown = await until(async () => ((await details('7')).statuses?.length === 2 ? details('7') : undefined), {
    awaited: 'the statuses are applied',
  })
  assert.deepEqual([shown.status, shown.statuses[1].meta ?? shown.statuses[0].meta], ['clicked', JSON.stringify(meta)])
})

onSqlite("erasing a user's messages erases the meta of their statuses, and parked statuses", async (t, store) => {
  const { url, details, parked, find } = await start(t, {
    store,
    waitMs: 50,
    sent: [element({ id: 7 }), element({ id: 8, user_id: '1002' })],
  })
  const metaOf = (id: number, user: string) => ({ activity: { id, brand_id: 1, user_id: user } })
  await report(url, [
    status('1:7', 'clicked', undefined, metaOf(7, '1001')),
    status('1:8', 'clicked', undefined, metaOf(8, '1002')),
    status('1:unknown', 'clicked', undefined, metaOf(9, '1001')),
  ])
  await until(async () => (await parked('1')).length === 1, { awaited: 'the unknown identifier is parked' })
  const { erased } = await erase(url, '1001')
  assert.equal(erased.items, 2)
  const [{ seq }] = await find('ref=1:7')
  const { statuses } = (await get(`${url}/admin/messages/${seq}`)).body
  assert.deepEqual(statuses, [{ status: 'clicked', at: '2026-11-25T10:00:00.5Z', ref: '1:7' }])
  assert.ok((await details('8')).statuses[0].meta)
  assert.deepEqual(await parked('1'), [])
})

test('a failed message that was replayed keeps the statuses of both identifiers', async (t) => {
  let attempts = 0
  const { url, waitUntilSettled, details } = await start(t, {
    answer: () =>
      ++attempts === 1
        ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused', ref: 'old' }
        : { category: 'successful', ref: 'new', rule: 'accepted' },
    sent: [element({ id: 7 })],
  })
  await report(url, status('old', 'failed', '2026-11-25T10:00:01Z'))
  assert.equal((await details('7')).status, 'failed')
  await post(`${url}/admin/failed/replay`, { all: true }, adminKey.key)
  await waitUntilSettled()
  await report(url, status('new', 'delivered', '2026-11-25T10:00:02Z'))
  const shown = await details('7')
  assert.equal(shown.status, 'delivered')
  assert.deepEqual(
    shown.statuses.map(({ ref, status: each }: { ref: string; status: string }) => [ref, each]),
    [
      ['old', 'failed'],
      ['new', 'delivered'],
    ],
  )
})
