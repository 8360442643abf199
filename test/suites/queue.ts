// The suite that the queue must pass on every engine. Run by test/queue/sqlite.test.ts and test/queue/postgres.test.ts.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { nobodyErased } from '../../src/base/people/erasures.ts'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { enqueueOps } from '../../src/base/queue/enqueue.ts'
import { createLaneBuffer } from '../../src/base/queue/lane/buffer.ts'
import type { BufferedItem } from '../../src/base/queue/lane/buffered-item.ts'
import { createReadAheadBudget } from '../../src/base/queue/lane/read-ahead-budget.ts'
import { createLaneReader } from '../../src/base/queue/lane/reader.ts'
import { postponeOp, settleOps } from '../../src/base/queue/lane/settle-ops.ts'
import { readOldest } from '../../src/base/queue/lane/state.ts'
import type {
  EnqueuedItem,
  HandledOutcome,
  Item,
  Lane,
  LaneHandler,
  LaneService,
  NewItem,
  StoredQueue,
} from '../../src/base/queue/queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import type { Fatal } from '../../src/contract/outcome.ts'
import { event, until } from '../support/wait.ts'
import { insertNote, notes, selectNotes } from './notes.ts'

export interface QueueFixture {
  readonly engine: Database['engine']
  readonly skip: string | false
  /** Creates an empty database for one test. @returns its URL */
  readonly createDatabase: (t: TestContext) => Promise<string>
}

export interface QueueTest {
  readonly t: TestContext
  readonly database: Database
  readonly queue: StoredQueue
  /** Serves a lane until the test ends. */
  serve(handle: LaneHandler, over?: Partial<Lane>): LaneService
}

const selectWaiting = statement<{ seq: number; due_at: number; attempt: number }>('waiting', {})`
  select w.seq, w.due_at, w.attempt from waiting w order by w.seq`
const selectDueAt = statement<{ due_at: number }>('due_at_of_item', { seq: 'bigint' })`
  select w.due_at from ${rows} r join waiting w on w.seq = r.seq`
const findDueAt = async (database: Database, [first]: readonly EnqueuedItem[]): Promise<number | undefined> =>
  (await database.read(op(selectDueAt, [[first?.seq as number]])))[0]?.due_at
const makeDue = statement('make_due', {})`update waiting set due_at = 5 where due_at > 5`

export const laneOf = (over: Partial<Lane> = {}): Lane => ({
  name: '1/push',
  order: 'none',
  max: 100,
  bytes: 1_000_000,
  spanMs: 0,
  concurrency: 2,
  timeoutMs: 5_000,
  keepFailed: true,
  retry: { firstMs: 1, mostMs: 5 },
  ...over,
})

/** Two brands may have equal user ids: only their lanes differ. */
export const item = (id: number, userId = '1001'): NewItem => ({
  key: messageKey('push', { id: String(id), userId, activityId: '7', actionId: '9', triggerHash: 'hash' }),
  text: `{"activity":{"id":${id},"user_id":"${userId}"}}`,
})
export const items = (count: number, from = 1): NewItem[] => Array.from({ length: count }, (_, i) => item(from + i))
export const seqsOf = (items: readonly { readonly seq: number }[]): number[] => items.map(({ seq }) => seq)

export const delivered = (each: Item): HandledOutcome => ({
  category: 'successful',
  ref: `ref ${each.seq}`,
  rule: 'delivered',
  call: 'c',
})
export const rejected: HandledOutcome = {
  category: 'failed',
  reason: 'rejected',
  error: 'no such user',
  rule: '§7.2.2 failed',
  answer: 'refused',
}
export const fatal = (blame: Fatal['blame'], over: Partial<Fatal> = {}): Fatal => ({
  category: 'fatal',
  reason: 'unavailable',
  blame,
  rule: 'try again',
  error: `the ${blame} is to blame`,
  ...over,
})

/** Resolves with the outcomes of these items when all are settled. */
export const waitUntilSettled = (
  queue: Pick<StoredQueue, 'readOutcomes'>,
  enqueued: readonly EnqueuedItem[],
  withinMs = 20_000,
) =>
  until(
    async () => {
      const outcomes = await queue.readOutcomes(seqsOf(enqueued))
      return outcomes.length === enqueued.length && outcomes.every(({ category }) => category !== 'waiting')
        ? outcomes
        : undefined
    },
    { awaited: `${enqueued.length} items are settled`, withinMs },
  )

type Check = (title: string, run: (test: QueueTest) => Promise<void>) => void

/** Returns a function that runs a test with a queue in an empty database. */
export function queueChecks({ engine, skip, createDatabase }: QueueFixture): Check {
  return (title, run) => {
    test(`${engine}: ${title}`, { skip, timeout: 60_000 }, async (t) => {
      const database = await openDatabase(await createDatabase(t), { migrations: [...queueMigrations, notes] })
      const queue = createQueue(database)
      const services: LaneService[] = []
      t.after(async () => {
        await Promise.all(services.map((service) => service.stop(100)))
        await database.close()
      })
      const serve: QueueTest['serve'] = (handle, over) => {
        const service = queue.serveLane(laneOf(over), handle)
        services.push(service)
        service.start()
        return service
      }
      await run({ t, database, queue, serve })
    })
  }
}

/** Runs a test without SQL of its own, so that one engine is enough. */
export const checkInMemory = queueChecks({
  engine: 'sqlite',
  skip: false,
  createDatabase: async () => 'sqlite::memory:',
})

export function queueSuite(fixture: QueueFixture): void {
  const { engine } = fixture
  const check = queueChecks(fixture)

  // ── enqueueing ──

  check('a lane stores an item once, and enqueue() always returns its number', async ({ queue }) => {
    const first = await queue.enqueue('1/push', items(3))
    assert.deepEqual(
      first.map(({ isNew }) => isNew),
      [true, true, true],
    )
    assert.deepEqual(
      seqsOf(first),
      seqsOf(first).toSorted((a, b) => a - b),
    )
    const second = await queue.enqueue('1/push', [item(3), item(9), item(1), item(9)])
    assert.deepEqual(
      second.map(({ isNew }) => isNew),
      [false, true, false, false],
    )
    assert.deepEqual([second[0]?.seq, second[2]?.seq, second[3]?.seq], [first[2]?.seq, first[0]?.seq, second[1]?.seq])
    const other = await queue.enqueue('2/push', items(3))
    assert.ok(other.every(({ isNew }) => isNew))
    assert.deepEqual(await queue.enqueue('1/push', []), [])
  })

  check('of simultaneous calls of enqueue(), each learns which items are new', async ({ queue }) => {
    const enqueued = await Promise.all(Array.from({ length: 20 }, () => queue.enqueue('1/push', items(50))))
    assert.equal(enqueued.flat().filter(({ isNew }) => isNew).length, 50)
    for (const each of enqueued) assert.deepEqual(seqsOf(each), seqsOf(enqueued[0] as readonly EnqueuedItem[]))
    assert.deepEqual(await queue.countItems(), [{ lane: '1/push', category: 'waiting', items: 50 }])
  })

  check(
    'the operations of enqueueOps() commit with other operations, or not at all',
    async ({ database, queue, serve }) => {
      const got: string[] = []
      serve(async (batch) => {
        got.push(...batch.map(({ text }) => text))
        return batch.map(delivered)
      })
      await assert.rejects(database.commit([...queue.enqueueOps('1/push', [item(1)]), op(insertNote, [['bad']])]))
      await database.commit([...queue.enqueueOps('1/push', [item(2)]), op(insertNote, [['good']])])
      await until(() => got.length, { awaited: 'the second item arrives' })
      assert.deepEqual(got, [item(2).text])
      assert.equal((await queue.enqueue('1/push', [item(1)]))[0]?.isNew, true)
    },
  )

  // ── serving ──

  check(
    'the handler receives every item once, its settle is one event, and the outcome is found by the number of the item',
    async ({ queue, serve, t }) => {
      const settled: number[] = []
      t.after(on('item.settled', ({ lane, seq }) => void (lane === '1/push' && settled.push(seq))))
      const first = await queue.enqueue('1/push', items(3_000))
      const seen = new Map<number, number>()
      serve(async (batch) => {
        for (const { seq } of batch) seen.set(seq, (seen.get(seq) ?? 0) + 1)
        return batch.map(delivered)
      })
      const enqueued = [...first, ...(await queue.enqueue('1/push', items(500, 5_001)))]
      const outcomes = await waitUntilSettled(queue, enqueued)
      assert.deepEqual(outcomes[7], {
        seq: enqueued[7]?.seq,
        lane: '1/push',
        category: 'successful',
        attempts: 1,
        rule: 'delivered',
        ref: `ref ${enqueued[7]?.seq}`,
        call: 'c',
      })
      assert.deepEqual(
        outcomes.map(({ ref }) => ref),
        seqsOf(enqueued).map((seq) => `ref ${seq}`),
      )
      assert.deepEqual(
        [...seen.values()],
        enqueued.map(() => 1),
      )
      assert.deepEqual(await queue.countItems(), [{ lane: '1/push', category: 'successful', items: 3_500 }])
      assert.deepEqual(await queue.readOutcomes([999_999_999]), [])
      // The event may come shortly after the outcome can be read.
      await until(() => settled.length >= enqueued.length, { awaited: '3,500 events' })
      assert.deepEqual(
        settled.toSorted((a, b) => a - b),
        seqsOf(enqueued),
      )
    },
  )

  check(
    'lanes of two brands with equal, interleaved items are read without a gap, in order and apart',
    async ({ queue, serve }) => {
      const [one, two]: [EnqueuedItem[], EnqueuedItem[]] = [[], []]
      for (let from = 1; from <= 800; from += 40) {
        one.push(...(await queue.enqueue('1/push', items(40, from))))
        two.push(...(await queue.enqueue('2/push', items(40, from))))
      }
      const got: number[] = []
      serve(
        async (batch) => {
          got.push(...seqsOf(batch))
          return batch.map(delivered)
        },
        { order: 'lane' },
      )
      serve(async (batch) => batch.map(delivered), { name: '2/push' })
      const outcomes = await waitUntilSettled(queue, [...one, ...two])
      assert.ok(outcomes.every(({ seq, ref }) => ref === `ref ${seq}`))
      assert.deepEqual(got, seqsOf(one))
    },
  )

  check(
    'the writes of outcomes are committed with the settle; writes that fail do not affect other items',
    async ({ database, queue, serve }) => {
      const alert = event('provider.alert')
      serve(
        async (batch) =>
          batch.map((each) => ({
            ...delivered(each),
            writes: [op(insertNote, [[each.text.includes('"id":3,') ? 'bad' : `note ${each.seq}`]])],
          })),
        { max: 1, concurrency: 10 },
      )
      const enqueued = await queue.enqueue('1/push', items(10))
      const outcomes = await waitUntilSettled(queue, enqueued)
      assert.ok(outcomes.every(({ category }) => category === 'successful'))
      assert.match((await alert).error, /cannot be written/)
      assert.equal((await database.read(op(selectNotes, [[]]))).length, 9)
    },
  )

  // ── retries ──

  check(
    'an item with a long delay is postponed in the store, and read when it is due',
    async ({ database, queue, serve }) => {
      let first = true
      serve(async (batch) =>
        batch.map((each) => {
          if (!first) return delivered(each)
          first = false
          return fatal('message', { retryAfterMs: 3_600_000 })
        }),
      )
      const enqueued = await queue.enqueue('1/push', items(1))
      const [waiting] = await until(
        async () => {
          const rows = await database.read(op(selectWaiting, [[]]))
          return rows[0]?.attempt === 1 ? rows : undefined
        },
        { awaited: 'the attempt is stored' },
      )
      assert.ok((waiting?.due_at ?? 0) > Date.now() + 500_000)
      const waitReason = { reason: 'unavailable', error: 'the message is to blame' }
      assert.deepEqual(await queue.readOutcomes(seqsOf(enqueued)), [
        { seq: enqueued[0]?.seq, lane: '1/push', category: 'waiting', ...waitReason },
      ])
      await database.commit([op(makeDue, [[]])])
      const [outcome] = await waitUntilSettled(queue, enqueued)
      assert.equal(outcome?.attempts, 2)
    },
  )

  // ── Failed Actions ──

  check('§6.4: failed items are listed with their evidence, by filter and page', async ({ queue, serve }) => {
    serve(async (batch) => batch.map(() => rejected), { name: '1/push' })
    serve(async (batch) => batch.map(() => ({ ...rejected, error: `U+0000 \0 and half a character \ud800` })), {
      name: '2/push',
    })
    const enqueued = [await queue.enqueue('1/push', items(5)), await queue.enqueue('2/push', items(5))].flat()
    const outcomes = await waitUntilSettled(queue, enqueued)
    assert.deepEqual(outcomes[0], {
      seq: enqueued[0]?.seq,
      lane: '1/push',
      category: 'failed',
      attempts: 1,
      rule: '§7.2.2 failed',
      reason: 'rejected',
      error: 'no such user',
    })
    const all = await queue.listFailed({}, { after: 0, limit: 100 })
    assert.equal(all.items.length, 10)
    assert.equal(all.next, undefined)
    const { at, ...first } = (
      await queue.listFailed({ lane: '1/push', activity: '7', action: '9', user: '1001' }, { after: 0, limit: 3 })
    ).items[0] ?? { at: 0 }
    assert.ok(at > 0)
    assert.deepEqual(first, {
      seq: enqueued[0]?.seq,
      lane: '1/push',
      key: item(1).key,
      activity: '7',
      action: '9',
      user: '1001',
      text: item(1).text,
      reason: 'rejected',
      error: 'no such user',
      rule: '§7.2.2 failed',
      answer: 'refused',
      call: null,
      attempts: 1,
      state: 'pending',
      replays: 0,
      decidedBy: null,
      decidedAt: null,
    })
    const page = await queue.listFailed({ lane: '1/push' }, { after: 0, limit: 3 })
    const rest = await queue.listFailed({ lane: '1/push' }, { after: page.next ?? 0, limit: 3 })
    assert.deepEqual(
      [...page.items, ...rest.items].map(({ seq }) => seq),
      seqsOf(enqueued.slice(0, 5)),
    )
    assert.deepEqual((await queue.listFailed({ user: 'nobody' }, { after: 0, limit: 3 })).items, [])
  })

  check('each matching item is dismissed or replayed once', async ({ queue, serve }) => {
    let accepts = false
    serve(async (batch) => batch.map((each) => (accepts ? delivered(each) : rejected)))
    const enqueued = await queue.enqueue('1/push', [...items(4), ...[1, 2, 3].map((id) => item(id, '1002'))])
    await waitUntilSettled(queue, enqueued)
    assert.equal((await queue.decideFailed({ user: '1002' }, 'dismiss', { by: 'anna' })).count, 3)
    assert.equal((await queue.decideFailed({ user: '1002' }, 'dismiss')).count, 0)
    const { items: dismissed } = await queue.listFailed({ state: 'dismissed' }, { after: 0, limit: 10 })
    assert.deepEqual(
      dismissed.map(({ user, decidedBy }) => [user, decidedBy]),
      [
        ['1002', 'anna'],
        ['1002', 'anna'],
        ['1002', 'anna'],
      ],
    )

    // A replayed item that fails again is pending again.
    assert.equal((await queue.decideFailed({ lane: '1/push' }, 'replay')).count, 4)
    await until(
      async () => (await queue.listFailed({ state: 'pending' }, { after: 0, limit: 10 })).items.length === 4,
      {
        awaited: 'the items fail again',
      },
    )
    accepts = true
    const [a, b] = await Promise.all([queue.decideFailed({}, 'replay'), queue.decideFailed({}, 'replay')])
    assert.equal(a.count + b.count, 4)
    const outcomes = await until(
      async () => {
        const found = await queue.readOutcomes(seqsOf(enqueued))
        return found.filter(({ category }) => category === 'successful').length === 4 ? found : undefined
      },
      { awaited: 'the items are delivered' },
    )
    assert.deepEqual(
      outcomes.map(({ category }) => category),
      [...Array(4).fill('successful'), ...Array(3).fill('failed')],
    )
    assert.equal((await queue.decideFailed({ state: 'dismissed' }, 'replay', { perSecond: 1_000 })).count, 3)
    await until(async () => (await queue.countItems()).every(({ category }) => category === 'successful'), {
      awaited: 'all items are delivered',
    })
  })

  check('a replay with a rate spreads the due times of the items evenly', async ({ database, queue, serve }) => {
    const service = serve(async (batch) => batch.map(() => rejected))
    const enqueued = await queue.enqueue('1/push', items(1_200))
    await waitUntilSettled(queue, enqueued)
    await service.stop()
    assert.equal((await queue.decideFailed({ lane: '1/push' }, 'replay', { perSecond: 100 })).count, 1_200)
    const waiting = await database.read(op(selectWaiting, [[]]))
    const [first] = waiting
    assert.deepEqual(
      waiting.map(({ due_at }) => due_at - (first?.due_at as number)),
      waiting.map((_, i) => i * 10),
    )
  })

  check('a lane without Failed Actions stores only the outcome', async ({ queue, serve }) => {
    serve(async (batch) => batch.map(() => rejected), { keepFailed: false })
    const [outcome] = await waitUntilSettled(queue, await queue.enqueue('1/push', items(1)))
    assert.deepEqual([outcome?.category, outcome?.error], ['failed', 'no such user'])
    assert.deepEqual(await queue.listFailed({}, { after: 0, limit: 10 }), { items: [] })
  })

  // ── expiry and priority ──

  check(
    'row 56: an expired item is never sent, and is in Failed Actions without an attempt',
    async ({ queue, serve }) => {
      const sent: number[] = []
      const expired = { ...item(1), expiresAt: Date.now() - 1 }
      const later = { ...item(2), expiresAt: Date.now() + 600_000 }
      const enqueued = await queue.enqueue('1/push', [expired, later, item(3)])
      serve(async (batch) => {
        sent.push(...batch.map(({ seq }) => seq))
        return batch.map(delivered)
      })
      const outcomes = await waitUntilSettled(queue, enqueued)
      assert.deepEqual(
        outcomes.map(({ category }) => category),
        ['failed', 'successful', 'successful'],
      )
      assert.deepEqual(sent, seqsOf(enqueued.slice(1)))
      const { items: failed } = await queue.listFailed({}, { after: 0, limit: 10 })
      assert.deepEqual([failed[0]?.reason, failed[0]?.attempts, failed.length], ['expired', 0, 1])
      assert.match(failed[0]?.error ?? '', /expired at .*Z while it waited/)
    },
  )

  check(
    'row 57: a transactional item is sent before a backlog that fills the buffer, also after a postponement',
    async ({ database, queue, serve }) => {
      const enqueued = await queue.enqueue('1/push', items(9_000))
      const sent: number[] = []
      const gate = Promise.withResolvers<void>()
      const firstCall = Promise.withResolvers<void>()
      serve(
        async (batch) => {
          firstCall.resolve()
          await gate.promise
          sent.push(...batch.map(({ seq }) => seq))
          return batch.map(delivered)
        },
        { max: 100, concurrency: 1 },
      )
      await firstCall.promise
      const postponed = await queue.enqueue('1/push', [{ ...item(20_001), transactional: true }])
      const urgent = await queue.enqueue('1/push', [{ ...item(20_002), transactional: true }])
      await until(async () => (await findDueAt(database, urgent)) === -1, {
        awaited: 'the item is stored',
        withinMs: 5_000,
      })
      gate.resolve()
      await waitUntilSettled(queue, [...enqueued, ...postponed, ...urgent])
      const positions = [...postponed, ...urgent].map(({ seq }) => sent.indexOf(seq))
      // The first call had 100 items before the transactional items were enqueued.
      assert.ok(Math.max(...positions) < 1_000, `sent at the positions ${positions} of ${sent.length}`)
      assert.ok((positions[0] as number) < (positions[1] as number), 'in the order of their numbers')
    },
  )

  check('row 57: a postponed item is still transactional when it is read again', async ({ database, queue }) => {
    await queue.enqueue('1/push', [...items(3), { ...item(4), transactional: true }])
    const buffer = createLaneBuffer(createReadAheadBudget())
    const reader = createLaneReader(database, '1/push', buffer, () => 500)
    reader.sweep()
    while (buffer.size < 4) await reader.readItems(Date.now())
    const all = buffer.takeBatch({ scanned: 4, skipped: [] })
    assert.equal(all[0]?.transactional, true)
    await database.commit([
      postponeOp(
        '1/push',
        all.map((each, i) => ({ item: each, at: i === 0 ? 9 : 5 })),
      ),
    ])
    const next = createLaneBuffer(createReadAheadBudget())
    const nextReader = createLaneReader(database, '1/push', next, () => 500)
    nextReader.sweep()
    while (next.size < 4) await nextReader.readItems(Date.now())
    assert.equal(next.at(0).transactional, true)
  })

  // ── reading, stopping, forgetting ──

  check(
    'postponed and replayed items are read when they are due: in order and in bounded memory',
    async ({ database, queue }) => {
      const count = 10_500
      await queue.enqueue('1/push', items(count))
      const firstBuffer = createLaneBuffer(createReadAheadBudget())
      const firstReader = createLaneReader(database, '1/push', firstBuffer, () => 500)
      firstReader.sweep()
      const now = Date.now()
      const allItems: BufferedItem[] = []
      while (allItems.length < count) {
        await firstReader.readItems(now)
        const taken = firstBuffer.takeBatch({ scanned: firstBuffer.length, skipped: [] })
        firstBuffer.remove(taken)
        allItems.push(...taken)
      }
      // Every second item has its own due time; the others have the same due time, as in a replay. All are due.
      const postponed = allItems.map((each, i) => ({ item: each, at: i % 2 ? now - count + i : 1 }))
      await database.commit([postponeOp('1/push', postponed)])

      const buffer = createLaneBuffer(createReadAheadBudget())
      const reader = createLaneReader(database, '1/push', buffer, () => 500)
      const seen: { seq: number; dueAt: number }[] = []
      // Only the first sweep helps the reader.
      reader.sweep()
      for (let reads = 0; seen.length < count; reads++) {
        assert.ok(reads < 200, `${seen.length} of ${count} items after ${reads} reads`)
        await reader.readItems(now)
        assert.ok(buffer.size <= 10_000, `${buffer.size} items in memory`)
        if (reader.hasWork) continue
        const taken = buffer.takeBatch({ scanned: buffer.length, skipped: [] })
        seen.push(...taken)
        await database.commit(settleOps(engine, '1/push', { items: taken, settled: [], failed: [] }, now))
        buffer.remove(taken)
      }
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq),
      )
      assert.equal(new Set(seen.map(({ seq }) => seq)).size, count)
    },
  )

  check(
    'an item that becomes visible after an item with a higher number is not skipped',
    async ({ database, queue, serve }) => {
      serve(async (batch) => batch.map(delivered))
      // On PostgreSQL, the transaction with the lower number may commit later.
      const [insert, wait] = enqueueOps('1/push', [item(1)], Date.now(), nobodyErased)
      const [[lateItem]] = await database.commit([insert])
      await waitUntilSettled(queue, await queue.enqueue('1/push', items(100, 2)))
      await database.commit([wait])
      await waitUntilSettled(queue, [{ seq: lateItem?.seq as number, isNew: true }])
    },
  )

  check(
    'stop() waits for running calls and settles them; the next owner sends the other items',
    async ({ queue, serve }) => {
      const calls: PromiseWithResolvers<void>[] = []
      const handle: LaneHandler = async (batch, { signal }) => {
        const call = Promise.withResolvers<void>()
        calls.push(call)
        await call.promise
        assert.equal(signal.aborted, false)
        return batch.map(delivered)
      }
      const service = serve(handle, { max: 10, concurrency: 2 })
      const enqueued = await queue.enqueue('1/push', items(50))
      await until(() => calls.length === 2, { awaited: 'two calls run' })
      const stopped = service.stop(10_000)
      await new Promise(setImmediate)
      for (const call of calls) call.resolve()
      await stopped
      assert.equal(calls.length, 2)
      const outcomes = await queue.readOutcomes(seqsOf(enqueued))
      assert.equal(outcomes.filter(({ category }) => category === 'successful').length, 20)
      assert.equal((await service.state()).state, 'elsewhere')

      serve(async (batch) => batch.map(delivered))
      await waitUntilSettled(queue, enqueued)
    },
  )

  check(
    'the oldest waiting item of a lane is found, also if it is transactional',
    async ({ database, queue, serve }) => {
      await queue.enqueue('1/push', [{ ...item(1), transactional: true }])
      await queue.enqueue('2/push', items(2))
      const found = await readOldest(database)
      assert.deepEqual(found.map(({ lane }) => lane).toSorted(), ['1/push', '2/push'])
      for (const { at } of found) assert.ok(Math.abs(at - Date.now()) < 60_000, String(at))
      const settled = event('item.settled', ({ lane }) => lane === '1/push')
      serve(async (batch) => batch.map(delivered))
      await settled
      assert.deepEqual(
        (await readOldest(database)).map(({ lane }) => lane),
        ['2/push'],
      )
    },
  )

  check('the state of a lane has its waiting items, its items in calls and its age', async ({ queue, serve }) => {
    const call = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const service = serve(
      async (batch) => {
        began.resolve()
        await call.promise
        return batch.map(delivered)
      },
      { max: 10, concurrency: 1 },
    )
    const enqueued = await queue.enqueue('1/push', items(30))
    await began.promise
    const { oldestAgeMs, ...state } = await service.state()
    assert.ok(oldestAgeMs >= 0)
    assert.deepEqual(state, {
      name: '1/push',
      waiting: 30,
      owned: true,
      state: 'running',
      heldForMs: 0,
      inFlight: 10,
      controls: [],
      heldBack: new Map(),
      settings: { mode: 'batch', max: 10, spanMs: 0, concurrency: 1 },
    })
    call.resolve()
    await waitUntilSettled(queue, enqueued)
    assert.deepEqual(await service.state(), {
      name: '1/push',
      waiting: 0,
      oldestAgeMs: 0,
      owned: true,
      state: 'running',
      heldForMs: 0,
      inFlight: 0,
      controls: [],
      heldBack: new Map(),
      settings: { mode: 'batch', max: 10, spanMs: 0, concurrency: 1 },
    })
  })

  check('old settled items are forgotten step by step, waiting items are not', async ({ queue, serve }) => {
    const service = serve(async (batch) =>
      batch.map((each) => (each.text.includes('"id":7,') ? rejected : delivered(each))),
    )
    const old = await queue.enqueue('1/push', items(6_000))
    await waitUntilSettled(queue, old)
    await service.stop()
    const [waiting] = await queue.enqueue('1/push', [item(7_001)])
    assert.equal(await queue.forgetSettled(0), 0)
    let forgotten = 0
    for (let step = 1; step > 0; forgotten += step) step = await queue.forgetSettled(Date.now() + 1)
    assert.equal(forgotten, 6_000)
    assert.deepEqual(await queue.readOutcomes([...seqsOf(old), waiting?.seq as number]), [
      { seq: waiting?.seq, lane: '1/push', category: 'waiting' },
    ])
    assert.deepEqual((await queue.listFailed({}, { after: 0, limit: 10 })).items, [])
    assert.equal((await queue.enqueue('1/push', [item(1)]))[0]?.isNew, true)
    assert.equal((await queue.enqueue('1/push', [item(7_001)]))[0]?.isNew, false)
  })
}
