// The suite of cancelling waiting items, for every engine. Run by test/queue/lane-controls.test.ts.

import assert from 'node:assert/strict'
import type { NewCancellation } from '../../src/base/queue/controls/waiting-selection.ts'
import { createQueue } from '../../src/base/queue/create-queue.ts'
import { createLaneBuffer } from '../../src/base/queue/lane/buffer.ts'
import type { BufferedItem } from '../../src/base/queue/lane/buffered-item.ts'
import { createReadAheadBudget } from '../../src/base/queue/lane/read-ahead-budget.ts'
import { createLaneReader } from '../../src/base/queue/lane/reader.ts'
import { settleOps } from '../../src/base/queue/lane/settle-ops.ts'
import type { Item, LaneHandler, Queue } from '../../src/base/queue/queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import type { Database } from '../../src/base/store/database.ts'
import { until } from '../support/wait.ts'
import { itemOf, pauseOf } from './lane-controls.ts'
import {
  delivered,
  fatal,
  item,
  items,
  laneOf,
  type QueueFixture,
  queueChecks,
  rejected,
  seqsOf,
  waitUntilSettled,
} from './queue.ts'

let nextId = 1
export const cancellationOf = (over: Partial<NewCancellation> = {}): NewCancellation => ({
  id: `cancellation-${nextId++}`,
  lane: '1/push',
  by: 'anna',
  reason: 'wrong text',
  ...over,
})

/** Resolves when the cancellation is done, with the number of cancelled items. */
export const waitUntilDone = ({ id, lane }: NewCancellation, queue: Queue): Promise<number> =>
  until(
    async () => {
      const found = (await queue.listCancellations([lane], 100)).find((each) => each.id === id)
      return found?.doneAt !== undefined && { cancelled: found.cancelled }
    },
    { awaited: 'the cancellation is done', withinMs: 30_000 },
  ).then(({ cancelled }) => cancelled)

async function countAll(queue: Queue, selection: Parameters<Queue['countSelected']>[1]): Promise<number> {
  let total = 0
  for (let after: string | undefined; ; ) {
    const { count, next } = await queue.countSelected('1/push', selection, after)
    total += count
    if (next === undefined) return total
    after = next
  }
}

export function cancelWaitingSuite(fixture: QueueFixture): void {
  const check = queueChecks(fixture)
  /** A test that runs no SQL of its own. */
  const checkOnce = fixture.engine === 'sqlite' ? check : () => {}

  check(
    'cancelled items wait no longer, wherever they wait; items in running calls are not lost',
    async ({ t, queue, serve }) => {
      const sent = new Map<number, number>()
      let call = Promise.withResolvers<void>()
      let running: readonly Item[] = []
      let retryLater = true
      const handle: LaneHandler = async (batch) => {
        for (const { seq } of batch) sent.set(seq, (sent.get(seq) ?? 0) + 1)
        // The first call postpones its items; the second waits until the test ends it.
        if (retryLater) {
          retryLater = false
          return batch.map(() => fatal('message', { retryAfterMs: 600_000 }))
        }
        running = batch
        await call.promise
        // Of the running call, every second item of activity 8 must be sent again.
        return batch.map((each, i) =>
          each.key.includes('"8"') && i % 4 === 1 && each.attempt === 1 ? fatal('message') : delivered(each),
        )
      }
      const service = serve(handle, { max: 20, concurrency: 1 })
      const all = Array.from({ length: 3_000 }, (_, i) => itemOf(i + 1, ['7', '8', '9'][i % 3] as string))
      const enqueued = await queue.enqueue('1/push', all)
      const seqs = seqsOf(enqueued)
      const of = (activity: string): number[] => seqs.filter((_, i) => i % 3 === ['7', '8', '9'].indexOf(activity))
      await until(() => running.length === 20, { awaited: 'the second call runs' })
      // Activity 9 is paused, and cancelled for half of its items: also those that the pause holds back.
      await queue.setControls([pauseOf('1/push', { kind: 'activity', name: '9' })])
      // A count of pages is exact only while no item moves.
      const sentOf9 = of('9').filter((seq) => sent.has(seq)).length
      await until(async () => ([...(await service.state()).heldBack.values()][0] ?? 0) >= 1_000 - sentOf9, {
        awaited: 'all unsent items of activity 9 are held back',
      })
      assert.equal(await countAll(queue, { activity: '8' }), 1_000)
      assert.equal(await countAll(queue, {}), 3_000)
      let counted = 0
      t.after(
        on('items.cancelled', ({ items: count }) => {
          counted += count
        }),
      )
      const first = cancellationOf({ activity: '8' })
      const second = cancellationOf({ activity: '9' })
      await queue.cancelWaiting([first, second])
      await queue.cancelWaiting([first])
      const later = await queue.enqueue('1/push', [itemOf(3_001, '8')])
      const inCall = running.map(({ seq }) => seq).filter((seq) => of('8').includes(seq))
      const inCallOf9 = running.map(({ seq }) => seq).filter((seq) => of('9').includes(seq))
      call.resolve()
      call = Promise.withResolvers()
      call.resolve()
      const cancelledOf8 = await waitUntilDone(first, queue)
      const cancelledOf9 = await waitUntilDone(second, queue)
      await until(async () => (await queue.countSelected('1/push', { activity: '7' })).count <= 7, {
        awaited: 'activity 7 is sent, but for its postponed items',
      })
      await waitUntilSettled(queue, later)

      const outcomes = new Map((await queue.readOutcomes(seqs)).map((each) => [each.seq, each]))
      const cancelled = (activity: string) => of(activity).filter((seq) => outcomes.get(seq)?.reason === 'cancelled')
      const successful = (activity: string) =>
        of(activity).filter((seq) => outcomes.get(seq)?.category === 'successful')
      assert.equal(cancelled('8').length + successful('8').length, 1_000)
      assert.ok(successful('8').every((seq) => inCall.includes(seq)))
      assert.ok(successful('8').length > 0 && successful('8').length < inCall.length, 'some of the call were cancelled')
      assert.deepEqual([cancelledOf8, cancelledOf9], [cancelled('8').length, cancelled('9').length])
      assert.equal(cancelled('9').length, 1_000 - inCallOf9.length)
      assert.equal(counted, cancelledOf8 + cancelledOf9)
      for (const seq of [...cancelled('8'), ...cancelled('9')]) assert.ok((sent.get(seq) ?? 0) <= 1)
      assert.equal((await queue.readOutcomes(seqsOf(later)))[0]?.category, 'successful')

      const { items: failed } = await queue.listFailed({ activity: '8' }, { after: 0, limit: 3_000 })
      assert.equal(failed.length, cancelledOf8)
      const neverSent = failed.find(({ seq }) => !sent.has(seq))
      assert.deepEqual(
        [neverSent?.reason, neverSent?.error, neverSent?.attempts],
        ['cancelled', 'cancelled by anna: wrong text', 0],
      )
      const sentOnce = failed.find(({ seq }) => sent.has(seq))
      assert.equal(sentOnce?.attempts, 1)
      await queue.decideFailed({ lane: '1/push', activity: '8' }, 'replay')
      await waitUntilSettled(
        queue,
        enqueued.filter((_, i) => i % 3 === 1),
      )
      const replayed = await queue.readOutcomes(of('8'))
      assert.ok(replayed.every(({ category }) => category === 'successful'))
    },
  )

  check(
    'a lane without Failed Actions lists cancelled items, also if they fail after a replay',
    async ({ queue, serve }) => {
      await queue.setControls([pauseOf('1/push')])
      const service = serve(async (batch) => batch.map(() => rejected), { keepFailed: false })
      const enqueued = await queue.enqueue('1/push', items(5))
      const cancellation = cancellationOf()
      await queue.cancelWaiting([cancellation])
      assert.equal(await waitUntilDone(cancellation, queue), 5)
      assert.equal((await service.state()).state, 'paused')
      const { items: failed } = await queue.listFailed({}, { after: 0, limit: 10 })
      assert.deepEqual(
        failed.map(({ seq, reason }) => [seq, reason]),
        seqsOf(enqueued).map((seq) => [seq, 'cancelled']),
      )
      await queue.endControls([pauseOf('1/push')], 'anna')
      const replayed = enqueued.slice(0, 2)
      await queue.decideFailed({ lane: '1/push', seqs: seqsOf(replayed) }, 'replay')
      await waitUntilSettled(queue, replayed)
      const { items: again } = await queue.listFailed({ state: 'pending' }, { after: 0, limit: 10 })
      assert.deepEqual(
        again.map(({ reason }) => reason),
        ['rejected', 'rejected', 'cancelled', 'cancelled', 'cancelled'],
      )
    },
  )

  check('items are cancelled by user and time, also by an owner that starts later', async ({ queue, serve }) => {
    const early = await queue.enqueue('1/push', [item(1, 'a'), item(2, 'b')])
    await new Promise((resolve) => setTimeout(resolve, 5))
    const border = Date.now()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const late = await queue.enqueue('1/push', [item(3, 'a'), item(4, 'b')])
    const other = await queue.enqueue('2/push', [item(1, 'a')])
    const before = cancellationOf({ user: 'a', enqueuedBefore: border })
    const after = cancellationOf({ user: 'b', enqueuedAfter: border })
    await queue.cancelWaiting([before, after])
    assert.deepEqual(await queue.countSelected('1/push', { user: 'a', enqueuedBefore: border }), { count: 1 })
    serve(async (batch) => batch.map(delivered))
    serve(async (batch) => batch.map(delivered), { name: '2/push' })
    const outcomes = await waitUntilSettled(queue, [...early, ...late])
    assert.deepEqual(
      outcomes.map(({ category }) => category),
      ['failed', 'successful', 'successful', 'failed'],
    )
    assert.deepEqual([await waitUntilDone(before, queue), await waitUntilDone(after, queue)], [1, 1])
    assert.equal((await waitUntilSettled(queue, other))[0]?.category, 'successful')
    const listed = await queue.listCancellations(['1/push'], 10)
    assert.partialDeepStrictEqual(listed, [{ lane: '1/push', by: 'anna', reason: 'wrong text', cancelled: 1 }])
    assert.equal(await queue.forgetSettled(0), 0)
    while ((await queue.forgetSettled(Date.now() + 1)) > 0);
    assert.deepEqual(await queue.listCancellations(['1/push'], 10), [])
  })

  checkOnce('an item that is settled before its text is read is not read any more', async ({ database, queue }) => {
    const enqueued = await queue.enqueue('1/push', items(3_000))
    const buffer = createLaneBuffer(createReadAheadBudget())
    const reader = createLaneReader(database, '1/push', buffer, () => 500)
    reader.sweep()
    // The first turns read 250 items, and the numbers of all others.
    while (buffer.size === 0) await reader.readItems(Date.now())
    assert.equal(buffer.size, 250)
    const settled = enqueued.slice(2_000).map(({ seq }) => ({ seq, dueAt: 0 }) as BufferedItem)
    reader.noteSwept(settled.map(({ seq, dueAt }) => ({ due_at: dueAt, seq })))
    await database.commit(settleOps(fixture.engine, '1/push', { items: settled, settled: [], failed: [] }, Date.now()))
    for (let reads = 0; reader.hasWork && reads < 100; reads++) await reader.readItems(Date.now())
    assert.deepEqual(
      enqueued.filter(({ seq }) => buffer.has(seq)),
      enqueued.slice(0, 2_000),
    )
  })

  for (const read of ['read_page', 'read_ahead', 'read_ranges'])
    checkOnce(
      `an item of a sweep that is settled during ${read} is not read into the buffer`,
      async ({ database, queue }) => {
        const enqueued = await queue.enqueue('1/push', items(1_000))
        const buffer = createLaneBuffer(createReadAheadBudget())
        const swept = enqueued.slice(0, 600).map(({ seq }) => ({ seq, dueAt: 0, bytes: 0 }) as BufferedItem)
        let settled = false
        // The rows that the reader gets are older than the settle.
        const slow: Database = {
          ...database,
          engine: database.engine,
          read: (async (statement: Parameters<Database['read']>[0]) => {
            const rows = await database.read(statement)
            if (statement.statement.name === read && !settled) {
              settled = true
              const ops = settleOps(fixture.engine, '1/push', { items: swept, settled: [], failed: [] }, Date.now())
              await database.commit(ops)
              buffer.remove(swept)
            }
            return rows
          }) as Database['read'],
        }
        const reader = createLaneReader(slow, '1/push', buffer, () => 500)
        reader.noteSwept(swept.map(({ seq, dueAt }) => ({ due_at: dueAt, seq })))
        buffer.add(swept)
        reader.sweep()
        for (let reads = 0; (reads === 0 || reader.hasWork) && reads < 100; reads++) await reader.readItems(Date.now())
        assert.ok(settled)
        assert.deepEqual(
          enqueued.filter(({ seq }) => buffer.has(seq)),
          enqueued.slice(600),
        )
      },
    )

  checkOnce('an item that is settled during a read of the sweep is cancelled once', async ({ t, database }) => {
    // The rows that the sweep has read are old when it gets them.
    const slow: Database = {
      ...database,
      engine: database.engine,
      read: (async (statement: Parameters<Database['read']>[0]) => {
        const rows = await database.read(statement)
        if (statement.statement.name === 'read_all_waiting') await new Promise((resolve) => setTimeout(resolve, 100))
        return rows
      }) as Database['read'],
    }
    const queue = createQueue(slow)
    const enqueued = await queue.enqueue('1/push', items(2_500))
    await queue.setControls([pauseOf('1/push')])
    const service = queue.serveLane(laneOf(), async (batch) => batch.map(delivered))
    service.start()
    t.after(() => service.stop(100))
    await until(async () => (await service.state()).owned, { awaited: 'the lane is owned' })
    const settled: number[] = []
    t.after(on('item.settled', ({ seq }) => void settled.push(seq)))
    const cancellation = cancellationOf()
    await queue.cancelWaiting([cancellation])
    assert.equal(await waitUntilDone(cancellation, queue), 2_500)
    assert.deepEqual(
      settled.toSorted((a, b) => a - b),
      seqsOf(enqueued),
    )
  })
}
