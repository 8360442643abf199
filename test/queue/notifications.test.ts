// PostgreSQL holds a lock on the whole database server while a transaction with a notification commits, so notifications are few.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { wakeChannel } from '../../src/base/store/wakers.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, openSession, query, withoutPostgres } from '../support/services/postgres.ts'
import { until } from '../support/wait.ts'

test('a transaction that enqueues many items sends one notification for each lane', {
  skip: await withoutPostgres(),
  timeout: 30_000,
}, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: queueMigrations })
  const queue = createQueue(database)
  const [row] = await query(url, `select ${wakeChannel} as channel`)
  const { client: listener } = await openSession(url)
  const topics: string[] = []
  listener.on('notification', ({ payload = '' }) => topics.push(payload))
  await listener.query(`listen ${listener.escapeIdentifier(String(row?.channel))}`)

  const items = (from: number) => Array.from({ length: 50 }, (_, i) => ({ key: `${from + i}`, text: '{}' }))
  // Requests of the same turn are one transaction.
  await Promise.all([0, 1, 2, 3].flatMap((n) => ['1/push', '2/push'].map((lane) => queue.enqueue(lane, items(50 * n)))))
  await query(url, `select pg_notify(${wakeChannel}, 'last')`)
  await until(() => topics.includes('last'), { awaited: 'the last notification' })
  assert.deepEqual(topics.toSorted(), ['lane 1/push', 'lane 2/push', 'last'])
})
