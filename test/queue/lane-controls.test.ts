// The controls of a running lane: the suite on both engines, and two processes on one PostgreSQL.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { cancellationOf, cancelWaitingSuite, waitUntilDone } from '../suites/cancel-waiting.ts'
import { laneControlsSuite, pauseOf } from '../suites/lane-controls.ts'
import { delivered, items, laneOf, type QueueFixture, waitUntilSettled } from '../suites/queue.ts'
import { onPostgres } from '../support/engines.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const fixtures: readonly QueueFixture[] = [
  {
    engine: 'sqlite',
    skip: false,
    createDatabase: async (t) => `sqlite:${join(await temporary(t), 'queue.db')}`,
  },
  { engine: 'postgres', skip: await withoutPostgres(), createDatabase: () => freshSchema() },
]
for (const fixture of fixtures) {
  laneControlsSuite(fixture)
  cancelWaitingSuite(fixture)
}

onPostgres('a lane is paused and resumed through a process that does not own it', async (t, store) => {
  const [owner, other] = (await Promise.all(
    [1, 2].map(() => openDatabase(store, { migrations: queueMigrations })),
  )) as [Awaited<ReturnType<typeof openDatabase>>, Awaited<ReturnType<typeof openDatabase>>]
  const queue = createQueue(other)
  let sent = 0
  const service = createQueue(owner).serveLane(laneOf(), async (batch) => {
    sent += batch.length
    return batch.map(delivered)
  })
  service.start()
  t.after(async () => {
    await service.stop(100)
    await Promise.all([owner.close(), other.close()])
  })
  await waitUntilSettled(queue, await queue.enqueue('1/push', items(10)))
  const paused = event('lane.paused')
  await queue.setControls([pauseOf('1/push')])
  await paused
  const enqueued = await queue.enqueue('1/push', items(10, 11))
  const resumed = event('lane.resumed')
  assert.equal(sent, 10)
  await queue.endControls([{ scope: '1/push', kind: 'pause', name: '' }], 'anna')
  await resumed
  await waitUntilSettled(queue, enqueued)

  // The owner cancels what the other process asks for, while its calls run.
  await queue.setControls([pauseOf('1/push', { kind: 'activity', name: '7' })])
  const waiting = await queue.enqueue('1/push', items(3_000, 21))
  const cancellation = cancellationOf({ activity: '7' })
  await queue.cancelWaiting([cancellation])
  const cancelled = await waitUntilDone(cancellation, queue)
  const outcomes = await waitUntilSettled(queue, waiting)
  assert.equal(outcomes.filter(({ reason }) => reason === 'cancelled').length, cancelled)
  assert.equal(sent, 20 + 3_000 - cancelled)
})
