import type { TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import type { HandledOutcome, Item, Queue } from '../../src/base/queue/queue.ts'
import type { OpenOptions } from '../../src/base/store/open-database.ts'
import { laneOf } from '../suites/queue.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { until } from '../support/wait.ts'

/** Opens the queue of a store until the test ends. */
export async function openQueue(t: TestContext, store: string, options: Partial<OpenOptions> = {}) {
  const database = await openTestDatabase(t, store, { migrations: queueMigrations, ...options })
  return { database, queue: createQueue(database) }
}

/** Serves these lanes until no item waits. */
export async function drainLanes(
  queue: Queue,
  outcomeOf: (item: Item) => HandledOutcome,
  names: readonly string[] = ['1/push'],
): Promise<void> {
  const services = names.map((name) => queue.serveLane(laneOf({ name }), async (items) => items.map(outcomeOf)))
  for (const service of services) service.start()
  await until(async () => (await queue.countItems()).every(({ category }) => category !== 'waiting'), {
    awaited: 'no item waits',
    withinMs: 20_000,
  })
  for (const service of services) await service.stop()
}
