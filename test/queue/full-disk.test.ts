import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import { delivered, fatal, items, laneOf, waitUntilSettled } from '../suites/queue.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { event, until } from '../support/wait.ts'

test('while outcomes cannot be stored, no call starts: a kill would repeat at most twice the calls in progress', async (t) => {
  const disk = mountSmallDisk(64)
  t.after(() => disk.remove())
  const database = await openTestDatabase(t, `sqlite:${join(disk.folder, 'queue.db')}`, { migrations: queueMigrations })
  const queue = createQueue(database)
  const enqueued = await queue.enqueue('1/push', items(500))
  const sent: number[] = []
  const failedOnce = event('loop.failed', ({ loop }) => loop === 'settling 1/push')
  const service = queue.serveLane(laneOf({ max: 1, concurrency: 4 }), async (batch) => {
    if (sent.push(...batch.map(({ seq }) => seq)) === 40) disk.fill()
    return batch.map(delivered)
  })
  t.after(() => service.stop(100))
  service.start()
  await failedOnce
  // The next attempt to store them has failed too, so that every call that could start has started.
  await event('loop.failed', ({ loop }) => loop === 'settling 1/push')
  const outcomes = await queue.readOutcomes(enqueued.map(({ seq }) => seq))
  const stored = outcomes.filter(({ category }) => category === 'successful').length
  assert.ok(sent.length - stored <= 8, `${sent.length} sent, ${stored} stored`)
  const { state, heldReason } = await service.state()
  assert.equal(state, 'held', 'a lane whose outcomes cannot be stored does not run')
  assert.match(heldReason ?? '', /the store can store nothing: .*full/)
  disk.free()
  await waitUntilSettled(queue, enqueued)
  assert.equal((await service.state()).state, 'running')
  assert.equal(sent.length, 500, 'no message is sent twice')
})

test('during an outage of the store no retry starts, although it is due', async (t) => {
  const disk = mountSmallDisk(64)
  t.after(() => disk.remove())
  const database = await openTestDatabase(t, `sqlite:${join(disk.folder, 'queue.db')}`, { migrations: queueMigrations })
  const queue = createQueue(database)
  const enqueued = await queue.enqueue('1/push', items(1))
  let calls = 0
  let dueAt = Number.POSITIVE_INFINITY
  t.after(
    on('item.retry', ({ inMs }) => {
      dueAt = performance.now() + inMs
    }),
  )
  const service = queue.serveLane(laneOf(), async (batch) => {
    if (++calls > 1) return batch.map(delivered)
    disk.fill()
    await until(
      () =>
        database.checkWrites().then(
          () => false,
          () => true,
        ),
      { awaited: 'the outage is known' },
    )
    return batch.map(() => fatal('message'))
  })
  t.after(() => service.stop(100))
  service.start()
  await until(() => performance.now() > dueAt + 250, { awaited: 'the retry is due' })
  assert.equal(calls, 1)
  disk.free()
  await waitUntilSettled(queue, enqueued)
  assert.equal(calls, 2)
})
