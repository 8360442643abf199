// Failed Actions: attempts, filters, counts, decisions in steps, and decisions of two persons at the same time.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { queueMigrations } from '../../src/base/queue/create-queue.ts'
import { createAttemptBuffer } from '../../src/base/queue/lane/attempt-buffer.ts'
import { attemptsOp, readAttempts } from '../../src/base/queue/lane/attempts.ts'
import type { FailedFilter, HandledOutcome, Item, Lane, NewItem, Queue } from '../../src/base/queue/queue.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import type { Fatal } from '../../src/contract/outcome.ts'
import { laneOf } from '../suites/queue.ts'
import { countTurns } from '../support/count-turns.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { event, until } from '../support/wait.ts'
import { bufferedItem } from './buffered-items.ts'
import { countRows, fillFailed, readStates } from './failed-rows.ts'
import { openQueue } from './open-queue.ts'
import { killReplay } from './replay-process.ts'

const message = (
  id: number,
  over: Partial<{ userId: string; activityId: string; actionId: string }> = {},
): NewItem => ({
  key: messageKey('push', {
    id: String(id),
    userId: over.userId ?? '1001',
    activityId: over.activityId ?? '7',
    actionId: over.actionId ?? '9',
    triggerHash: 'hash',
  }),
  text: `{"id":${id}}`,
})
const idOf = ({ text }: Item): number => JSON.parse(text).id

/** Serves a lane until the test ends. */
function serve(t: TestContext, queue: Queue, outcomeOf: (item: Item) => HandledOutcome, over: Partial<Lane> = {}) {
  const service = queue.serveLane(
    laneOf({ concurrency: 1, retry: { firstMs: 1, mostMs: 2 }, ...over }),
    async (items) => items.map(outcomeOf),
  )
  service.start()
  t.after(() => service.stop(100))
  return service
}

async function waitForState(queue: Queue, seq: number, state: string): Promise<void> {
  await until(async () => (await queue.readOutcomes([seq]))[0]?.category === state, { awaited: `${seq} is ${state}` })
}

async function listAll(queue: Queue, filter: FailedFilter): Promise<readonly number[]> {
  const { items, next } = await queue.listFailed(filter, { after: 0, limit: 2_001 })
  assert.equal(next, undefined)
  return items.map(({ seq }) => seq)
}

const fatal = (error: string, over: Partial<Fatal> = {}): HandledOutcome => ({
  category: 'fatal',
  reason: 'unavailable',
  blame: 'message',
  rule: '§7.2.2 fatal',
  error,
  ...over,
})
const refused = (error: string, over: Partial<HandledOutcome> = {}): HandledOutcome =>
  ({ category: 'failed', reason: 'rejected', rule: '§7.2.2 failed', error, ...over }) as HandledOutcome

onEachEngine('each attempt of an item is kept with its rule, also over replays', async (t, store) => {
  const { queue } = await openQueue(t, store)
  const answers: HandledOutcome[] = [
    fatal('busy', { answer: 'try later', call: 'call 1', status: 200 }),
    fatal('still busy', { status: 'nonsense' as never }),
    refused('no such user', { ref: 'old', call: 'call 3', status: 422 }),
    refused('still no such user', { ref: 'old' }),
    fatal('busy again'),
    { category: 'successful', rule: '§7.2.2 successful', ref: 'new', call: 'call 6' },
  ]
  serve(t, queue, () => answers.shift() as HandledOutcome)
  const [enqueued] = await queue.enqueue('1/push', [message(1)])
  const seq = enqueued?.seq as number
  await waitForState(queue, seq, 'failed')

  const first = await queue.findFailed(seq)
  assert.deepEqual(
    first?.history.map(({ at, ...rest }) => rest),
    [
      {
        replay: 0,
        attempt: 1,
        outcome: 'fatal',
        status: 200,
        reason: 'unavailable',
        rule: '§7.2.2 fatal',
        error: 'busy',
        answer: 'try later',
        call: 'call 1',
        replayedBy: null,
        replayedAt: null,
      },
      {
        replay: 0,
        attempt: 2,
        outcome: 'fatal',
        status: null,
        reason: 'unavailable',
        rule: '§7.2.2 fatal',
        error: 'still busy',
        answer: null,
        call: null,
        replayedBy: null,
        replayedAt: null,
      },
      {
        replay: 0,
        attempt: 3,
        outcome: 'failed',
        status: 422,
        reason: 'rejected',
        rule: '§7.2.2 failed',
        error: 'no such user',
        answer: null,
        call: 'call 3',
        replayedBy: null,
        replayedAt: null,
      },
    ],
  )
  assert.deepEqual([first?.attempts, first?.replays, first?.state], [3, 0, 'pending'])
  assert.deepEqual(first?.identifiers, [{ ref: 'old', replayedAt: null }])

  await queue.decideFailed({ seqs: [seq] }, 'replay', { by: 'anna' })
  const second = await until(
    async () => {
      // The identifiers are read by a statement of their own, which may be earlier than the settle.
      const found = await queue.findFailed(seq)
      return found?.state === 'pending' && found.identifiers.length === 2 ? found : undefined
    },
    { awaited: 'the item fails again, with the same identifier' },
  )
  assert.deepEqual(
    second.identifiers.map(({ ref, replayedAt }) => [ref, replayedAt !== null]),
    [
      ['old', true],
      ['old', false],
    ],
  )
  await queue.decideFailed({ seqs: [seq] }, 'replay', { by: 'bert' })
  await waitForState(queue, seq, 'successful')
  const found = await queue.findFailed(seq)
  assert.deepEqual(
    found?.history.map(({ replay, attempt, error, replayedBy }) => [replay, attempt, error, replayedBy]),
    [
      [0, 1, 'busy', null],
      [0, 2, 'still busy', null],
      [0, 3, 'no such user', 'anna'],
      [1, 1, 'still no such user', 'bert'],
      [2, 1, 'busy again', null],
    ],
  )
  assert.deepEqual([found?.state, found?.replays, found?.decidedBy], ['replayed', 2, 'bert'])
  for (const ref of ['old', 'new']) {
    const [message] = await queue.findItems({ lanes: ['1/push'], ref })
    assert.deepEqual(
      [message?.seq, message?.ref, message?.replays, message?.earlierRefs, message?.history?.length],
      [seq, 'new', 2, ['old'], 5],
    )
  }
})

onEachEngine('of many attempts, the first 20 and the last 20 are kept', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  serve(t, queue, (item) => fatal(`attempt ${item.attempt}`), { retry: { firstMs: 1, mostMs: 1, attempts: 95 } })
  const [enqueued] = await queue.enqueue('1/push', [message(1)])
  await waitForState(queue, enqueued?.seq as number, 'failed')
  const { history = [] } = (await queue.findFailed(enqueued?.seq as number)) ?? {}
  // The last one is the failed item itself.
  assert.deepEqual(
    history.map(({ attempt }) => attempt),
    [...Array.from({ length: 20 }, (_, i) => i + 1), ...Array.from({ length: 21 }, (_, i) => 75 + i)],
  )
  const last = history.at(-1)
  assert.deepEqual([last?.reason, last?.error], ['given_up', 'given up after 95 attempts: attempt 95'])
  assert.equal(await countRows(database, 'attempts'), 40)
})

onSqlite('the bound holds for attempts that are written one by one', async (t, store) => {
  const { database } = await openQueue(t, store)
  for (let attempt = 1; attempt <= 60; attempt++) {
    const written = { attempt, at: attempt, outcome: 'fatal', reason: 'unavailable', rule: 'r', error: 'e' } as const
    await database.commit([attemptsOp([bufferedItem(1, { earlierAttempts: [written] })])], { durable: false })
  }
  const history = (await readAttempts(database, [1])).get(1) ?? []
  assert.deepEqual(
    history.map(({ attempt }) => attempt),
    [...Array.from({ length: 20 }, (_, i) => i + 1), ...Array.from({ length: 20 }, (_, i) => 41 + i)],
  )
})

onSqlite('attempts are written when an item is postponed, so a restart does not lose them', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  const service = serve(t, queue, () => fatal('busy', { retryAfterMs: 60_000 }))
  const [enqueued] = await queue.enqueue('1/push', [message(1)])
  await until(async () => (await countRows(database, 'attempts')) === 1, { awaited: 'the attempt is written' })
  await service.stop(100)
  const [found] = await queue.findItems({ lanes: ['1/push'], id: '1' })
  assert.deepEqual([found?.seq, found?.category], [enqueued?.seq, 'waiting'])
  assert.deepEqual(
    found?.history?.map(({ attempt, error }) => [attempt, error]),
    [[1, 'busy']],
  )
})

test('the attempts in memory are bounded: the last attempt of an item replaces the one before it', () => {
  const buffer = createAttemptBuffer()
  const items = Array.from({ length: 1_000 }, (_, i) => bufferedItem(i))
  const outcome = { category: 'fatal', reason: 'unavailable', blame: 'message', rule: 'r', error: 'e' } as const
  for (let attempt = 1; attempt <= 100; attempt++)
    for (const item of items) {
      item.attempt = attempt
      buffer.add(item, outcome, 0)
    }
  const attemptsOf = (item: (typeof items)[number]) => (item.earlierAttempts ?? []).map((each) => each.attempt)
  assert.equal(
    items.reduce((sum, item) => sum + attemptsOf(item).length, 0),
    20_000,
  )
  assert.equal(buffer.full, true)
  for (const item of items) assert.equal(attemptsOf(item).at(-1), 100)
  buffer.release(items.slice(0, 1).map((item) => ({ item })))
  assert.equal(buffer.full, false)
})

onSqlite('an outage writes no attempts', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  let calls = 0
  const held = event('lane.held')
  serve(t, queue, () => {
    calls++
    return fatal('away', { blame: 'provider' })
  })
  const enqueued = await queue.enqueue(
    '1/push',
    Array.from({ length: 50 }, (_, i) => message(i)),
  )
  await held
  await until(() => calls > 60, { awaited: 'probes' })
  assert.equal(await countRows(database, 'attempts'), 0)
  assert.equal((await queue.readOutcomes(enqueued.map(({ seq }) => seq))).length, 50)
})

onSqlite('a lane without Failed Actions keeps no attempts', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  serve(t, queue, ({ attempt }) => (attempt < 3 ? fatal('busy') : refused('no')), { keepFailed: false })
  const [enqueued] = await queue.enqueue('1/push', [message(1)])
  await waitForState(queue, enqueued?.seq as number, 'failed')
  assert.equal(await countRows(database, 'attempts'), 0)
})

onSqlite('attempts are forgotten after their time, and the failed item stays', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  serve(t, queue, ({ attempt }) => (attempt < 3 ? fatal('busy') : refused('no')))
  const [enqueued] = await queue.enqueue('1/push', [message(1)])
  const seq = enqueued?.seq as number
  await waitForState(queue, seq, 'failed')
  assert.equal(await queue.forgetEvidence(0), 0)
  assert.equal(await queue.forgetEvidence(Date.now() + 60_000), 2)
  assert.equal(await queue.forgetEvidence(Date.now() + 60_000), 0)
  assert.equal(await countRows(database, 'attempts'), 0)
  assert.deepEqual(
    (await queue.findFailed(seq))?.history.map(({ attempt, error }) => [attempt, error]),
    [[3, 'no']],
  )
})

onEachEngine('every filter restricts the list, and compares texts literally', async (t, store) => {
  const { queue } = await openQueue(t, store)
  const errors = [
    '100% full',
    '100 full',
    "it's over",
    'a_b',
    'axb',
    'back\\slash',
    "'; drop table failed; --",
    'Ünïcode ☃',
  ]
  const outcomeOf = (item: Item): HandledOutcome => {
    const id = idOf(item)
    return refused(errors[id] ?? 'other', id === 9 ? { reason: 'suppressed' } : {})
  }
  serve(t, queue, outcomeOf)
  serve(t, queue, outcomeOf, { name: '2/push' })
  const first = await queue.enqueue(
    '1/push',
    Array.from({ length: 12 }, (_, id) =>
      message(id, { userId: id === 10 ? 'u%' : '1001', ...(id === 11 && { activityId: '8' }) }),
    ),
  )
  const [second] = await queue.enqueue('2/push', [message(0, { actionId: '10' })])
  const seqs = [...first.map(({ seq }) => seq), second?.seq as number]
  await until(async () => (await listAll(queue, {})).length === seqs.length, { awaited: 'all fail' })
  const seqOf = (...ids: number[]): number[] => ids.map((id) => seqs[id] as number)

  assert.deepEqual(await listAll(queue, { contains: '100%' }), seqOf(0, 12))
  assert.deepEqual(await listAll(queue, { contains: '_' }), seqOf(3))
  assert.deepEqual(await listAll(queue, { contains: "'" }), seqOf(2, 6))
  assert.deepEqual(await listAll(queue, { contains: '\\' }), seqOf(5))
  assert.deepEqual(await listAll(queue, { contains: "'; drop table failed; --" }), seqOf(6))
  assert.deepEqual(await listAll(queue, { contains: 'nïcode ☃' }), seqOf(7))
  assert.deepEqual(await listAll(queue, { contains: '%' }), seqOf(0, 12))
  assert.deepEqual(await listAll(queue, { user: 'u%' }), seqOf(10))
  assert.deepEqual(await listAll(queue, { user: '%' }), [])
  assert.deepEqual(await listAll(queue, { reason: 'suppressed' }), seqOf(9))
  assert.deepEqual(await listAll(queue, { activity: '8' }), seqOf(11))
  assert.deepEqual(await listAll(queue, { action: '10' }), seqOf(12))
  assert.deepEqual(await listAll(queue, { lane: '2/push' }), seqOf(12))
  assert.deepEqual(await listAll(queue, { lane: '1/push', contains: '100%' }), seqOf(0))
  assert.deepEqual(await listAll(queue, { seqs: [...seqOf(4, 2, 4), 999_999] }), seqOf(2, 4))
  assert.deepEqual(await listAll(queue, { seqs: seqOf(0, 1, 2), contains: 'full' }), seqOf(0, 1))
  assert.deepEqual(await listAll(queue, { since: Date.now() + 60_000 }), [])
  assert.deepEqual(await listAll(queue, { until: Date.now() + 60_000 }), seqs)
  const { items } = await queue.listFailed({}, { after: 0, limit: 100 })
  const at = items[5]?.at as number
  assert.deepEqual(
    await listAll(queue, { since: at, until: at + 1 }),
    items.filter((item) => item.at === at).map(({ seq }) => seq),
  )
})

const analyze = (table: string) => op(statement(`analyze_${table}`, {})`analyze ${table}`, [[]])

onEachEngine(
  'a filter or a selection reads a bounded part of the table, with and without statistics',
  async (t, store) => {
    const filled = await openDatabase(store, { migrations: queueMigrations })
    await fillFailed(filled, 205_000, 205_000)
    await filled.close()
    // If PostgreSQL read the whole lane for each number of a selection, it would exceed this statement timeout.
    const { queue, database } = await openQueue(t, store, { answerWithinMs: 5_000 })
    const evenNumbers = Array.from({ length: 2_000 }, (_, i) => 2 + 2 * i)
    assert.equal((await queue.decideFailed({ lane: '1/push', seqs: evenNumbers }, 'replay')).count, 2_000)
    await database.commit(['failed', 'items'].map(analyze))
    const calls: [number, number | undefined][] = []
    const found: number[] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: Awaited<ReturnType<Queue['listFailed']>> = await queue.listFailed(
        { contains: 'error 204999.' },
        { after, limit: 100 },
      )
      found.push(...page.items.map(({ seq }) => seq))
      after = page.next
      calls.push([page.items.length, after])
    }
    assert.deepEqual(found, [204_999])
    assert.deepEqual(calls, [
      [0, 200_000],
      [1, undefined],
    ])
    // Nor does it read the whole index for each number, now that the table has statistics.
    const selection = Array.from({ length: 2_000 }, (_, i) => 200_002 + 2 * i)
    assert.deepEqual(await listAll(queue, { seqs: selection }), selection)
    // Other work is done between the pages of a call.
    const countedTurns = countTurns(t)
    const counted = await queue.previewFailed({ user: 'user 3' }, 'replay')
    const turns = countedTurns()
    assert.ok(turns >= 30, `${turns} turns`)
    assert.deepEqual([counted.count, counted.next !== undefined], [20_000, true])
  },
)

onEachEngine(
  'the counts of groups are those of the rows, after failures, decisions and forgetting',
  async (t, store) => {
    const { queue, database } = await openQueue(t, store)
    let accepts = false
    serve(t, queue, (item) => {
      if (accepts && idOf(item) < 5) return { category: 'successful', rule: 'ok' }
      return refused('no', { reason: idOf(item) % 2 === 0 ? 'rejected' : ('a reason with spaces' as 'rejected') })
    })
    const enqueued = await queue.enqueue(
      '1/push',
      Array.from({ length: 30 }, (_, id) =>
        message(id, { activityId: String(id % 3), actionId: String(9 + (id % 2)) }),
      ),
    )
    await database.commit(
      queue.insertFailedOps('-/device-links', [{ key: 'k', text: 't', reason: 'invalid', error: 'e', rule: 'r' }]),
    )
    await until(async () => (await listAll(queue, {})).length === 31, { awaited: 'all fail' })

    async function checkCounts(): Promise<void> {
      const groups = await queue.summarizeFailed({})
      assert.deepEqual(
        groups
          .flatMap(({ lane, activity, action, reason, ...counts }) =>
            (['pending', 'dismissed', 'replayed'] as const).flatMap((state) =>
              counts[state] > 0 ? [[lane, activity, action, reason, state, counts[state]].join('|')] : [],
            ),
          )
          .sort(),
        await readStates(database),
      )
    }
    await checkCounts()
    const [parked, first] = await queue.summarizeFailed({})
    assert.deepEqual(
      [parked?.lane, parked?.activity, parked?.action, parked?.pending],
      ['-/device-links', null, null, 1],
    )
    assert.deepEqual([first?.activity, first?.action, first?.reason], ['0', '9', 'rejected'])
    assert.equal(
      (await queue.summarizeFailed({ activity: '1' })).every(({ activity }) => activity === '1'),
      true,
    )
    assert.equal((await queue.summarizeFailed({ reason: 'a reason with spaces' })).length, 3)

    await queue.decideFailed({ activity: '1' }, 'dismiss')
    await checkCounts()
    assert.equal(
      (await queue.summarizeFailed({ state: 'dismissed' })).reduce((n, group) => n + group.dismissed, 0),
      10,
    )
    accepts = true
    await queue.decideFailed({ activity: '0' }, 'replay')
    await until(async () => (await queue.countItems()).every(({ category }) => category !== 'waiting'), {
      awaited: 'sent',
    })
    await checkCounts()
    assert.equal(enqueued.length, 30)

    while ((await queue.forgetSettled(Date.now() + 60_000)) > 0);
    assert.deepEqual(await queue.summarizeFailed({}), [])
    await queue.forgetEvidence(Date.now() + 60_000)
    await queue.forgetEvidence(Date.now() + 60_000)
    assert.equal(await countRows(database, 'failed_counts'), 0)
  },
)

onPostgres('the counts of several sessions are merged while they change', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  const { database: other, queue: otherQueue } = await openQueue(t, store)
  const park = (of: Queue, on: Database, from: number) =>
    on.commit(
      of.insertFailedOps(
        '1/push',
        Array.from({ length: 20 }, (_, i) => ({
          ...message(from + i),
          reason: 'invalid' as const,
          error: 'e',
          rule: 'r',
        })),
      ),
    )
  for (let round = 0; round < 20; round++)
    await Promise.all([
      park(queue, database, round * 1_000),
      park(otherQueue, other, round * 1_000 + 500),
      queue.forgetEvidence(0),
      otherQueue.forgetEvidence(0),
    ])
  const counted = async () => (await queue.summarizeFailed({})).reduce((sum, { pending }) => sum + pending, 0)
  assert.equal(await counted(), 800)
  await queue.forgetEvidence(0)
  assert.equal(await counted(), 800)
  assert.equal(await countRows(database, 'failed_counts'), 1)
})

onSqlite('a preview counts the items by group and changes nothing', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  await fillFailed(database, 1_000)
  const before = await readStates(database)
  const all = await queue.previewFailed({}, 'replay')
  assert.equal(all.count, 1_000)
  assert.deepEqual(
    all.groups.map(({ activity, pending }) => [activity, pending]),
    [
      ['0', 250],
      ['1', 250],
      ['2', 250],
      ['3', 250],
    ],
  )
  const some = await queue.previewFailed({ contains: 'error 17.' }, 'dismiss')
  assert.deepEqual([some.count, some.groups.length, some.groups[0]?.pending], [1, 1, 1])
  assert.equal((await queue.previewFailed({ state: 'dismissed' }, 'dismiss')).count, 0)
  assert.equal((await queue.previewFailed({ state: 'replayed' }, 'replay')).count, 0)
  assert.deepEqual(await readStates(database), before)
  assert.equal(await countRows(database, 'waiting'), 0)
})

onSqlite('a long replay works in steps, and keeps its rate over the steps', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  await fillFailed(database, 21_000)
  const counts: number[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const step: Awaited<ReturnType<Queue['decideFailed']>> = await queue.decideFailed({ lane: '1/push' }, 'replay', {
      perSecond: 1_000,
      by: 'anna',
      ...(after !== '' && { after }),
    })
    counts.push(step.count)
    after = step.next
  }
  assert.deepEqual(counts, [20_000, 1_000])
  const due = statement<{ seq: number; due_at: number }>('read_due_times', {})`
    select w.seq, w.due_at from waiting w order by w.seq`
  const rows = await database.read(op(due, [[]]))
  assert.equal(rows.length, 21_000)
  const start = rows[0]?.due_at as number
  for (const [i, row] of rows.entries()) assert.equal(row.due_at - start, i)
})

onEachEngine('of two decisions at the same time, only one applies to each item', async (t, store) => {
  const { queue, database } = await openQueue(t, store)
  await fillFailed(database, 5_000)
  const second = database.engine === 'sqlite' ? queue : (await openQueue(t, store)).queue
  const [replayed, dismissed] = await Promise.all([
    queue.decideFailed({}, 'replay', { by: 'anna' }),
    second.decideFailed({}, 'dismiss', { by: 'bert' }),
  ])
  assert.equal(replayed.count + dismissed.count, 5_000)
  const decided = statement<{ state: number; decided_by: string; n: number }>('read_decisions', {})`
    select f.state, f.decided_by, count(*) as n from failed f
    where (f.state = 2) = (f.seq in (select w.seq from waiting w)) group by f.state, f.decided_by order by f.state`
  assert.deepEqual(
    (await database.read(op(decided, [[]]))).map(({ state, decided_by, n }) => [state, decided_by, n]),
    [
      ...(dismissed.count > 0 ? [[1, 'bert', dismissed.count]] : []),
      ...(replayed.count > 0 ? [[2, 'anna', replayed.count]] : []),
    ],
  )
})

onEachEngine(
  'a process killed in the middle of a long replay: each item is either replayed or pending',
  async (t, store) => {
    const { database, queue } = await openQueue(t, store)
    await fillFailed(database, 6_000)
    if (database.engine === 'sqlite') await database.close()
    await killReplay(t, store, 3)

    const { database: reopened, queue: rest } =
      database.engine === 'sqlite' ? await openQueue(t, store) : { database, queue }
    const split = statement<{ state: number; waits: number; n: number }>('read_split', {})`
      select f.state, count(case when f.seq in (select w.seq from waiting w) then 1 end) as waits, count(*) as n
      from failed f group by f.state order by f.state`
    const [pending, replayed] = await reopened.read(op(split, [[]]))
    assert.deepEqual([pending?.state, pending?.waits, replayed?.state, replayed?.waits], [0, 0, 2, replayed?.n])
    assert.equal((pending?.n ?? 0) + (replayed?.n ?? 0), 6_000)
    assert.ok((pending?.n ?? 0) > 0 && (replayed?.n ?? 0) >= 3_000, `${pending?.n} pending, ${replayed?.n} replayed`)

    // Repeating the replay changes only the others.
    let count = 0
    for (let after: string | undefined = ''; after !== undefined; ) {
      const step: Awaited<ReturnType<Queue['decideFailed']>> = await rest.decideFailed(
        {},
        'replay',
        after === '' ? {} : { after },
      )
      count += step.count
      after = step.next
    }
    assert.equal(count, pending?.n)
    assert.equal(await countRows(reopened, 'waiting'), 6_000)
  },
)
