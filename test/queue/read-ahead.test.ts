import assert from 'node:assert/strict'
import test from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { createReadAheadBudget } from '../../src/base/queue/lane/read-ahead-budget.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { delivered, laneOf } from '../suites/queue.ts'
import { until } from '../support/wait.ts'

test('lanes with long backlogs share the memory for reading ahead, and every lane is emptied', async (t) => {
  const opened = await openDatabase('sqlite::memory:', { migrations: queueMigrations })
  let textsRead = 0
  const database: Database = {
    ...opened,
    async read(query) {
      const rows = await opened.read(query)
      textsRead += rows.filter((row) => 'text' in row).length
      return rows
    },
  }
  const queue = createQueue(database, { readAhead: createReadAheadBudget(1_000_000) })
  const names = Array.from({ length: 20 }, (_, i) => `${i + 1}/push`)
  const text = 'x'.repeat(1_000)
  for (const name of names)
    await queue.enqueue(
      name,
      Array.from({ length: 1_000 }, (_, i) => ({ key: `item ${i}`, text })),
    )
  const started = Promise.withResolvers<void>()
  const handled = new Map<string, number>()
  const services = names.map((name) =>
    queue.serveLane(laneOf({ name }), async (items) => {
      await started.promise
      handled.set(name, (handled.get(name) ?? 0) + items.length)
      return items.map(delivered)
    }),
  )
  t.after(async () => {
    await Promise.all(services.map((service) => service.stop(100)))
    await database.close()
  })
  for (const service of services) service.start()
  const waiting = async () => (await queue.countItems()).filter(({ category }) => category === 'waiting')
  // All lanes have calls that do not end, and none may read its whole backlog.
  await until(
    async () => (await Promise.all(services.map((each) => each.state()))).every(({ inFlight }) => inFlight > 0),
    {
      awaited: 'every lane has a running call',
    },
  )
  // 600 items fit; beyond that, each lane may read a page of 64 KiB, and the first one of unknown size. Without a limit: 20,000.
  assert.ok(textsRead <= 3_000, `${textsRead} items in memory`)
  started.resolve()
  await until(async () => (await waiting()).length === 0, { awaited: 'all lanes are empty', withinMs: 30_000 })
  assert.deepEqual(
    [...handled.values()],
    names.map(() => 1_000),
  )
})
