// A snapshot that is held open keeps PostgreSQL from removing the rows of settled items. Reading a lane must not scan them.

import assert from 'node:assert/strict'
import test from 'node:test'
import { queueMigrations } from '../../src/base/queue/create-queue.ts'
import { findDueLanes, readPage } from '../../src/base/queue/lane/read-waiting.ts'
import { entriesPerLookUp } from '../support/index-reads.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, openSession, query, withoutPostgres } from '../support/services/postgres.ts'

const mostEntries = 100
const settledRows = 50_000

test('while a snapshot is held open, due lanes and new items are found without a scan of the settled rows', {
  skip: await withoutPostgres(),
  timeout: 120_000,
}, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: queueMigrations })
  const insert = (from: number, to: number) =>
    query(
      url,
      `insert into items (seq, lane, key, text, enqueued_at, token) overriding system value
         select n, '1/push', n::text, '{}', 0, 0 from generate_series(${from}, ${to}) n;
       insert into waiting (lane, due_at, seq, attempt) select '1/push', 0, n, 0 from generate_series(${from}, ${to}) n`,
    )
  await insert(1, settledRows)
  const { client } = await openSession(url)
  await client.query('begin isolation level repeatable read')
  await client.query('select 1')
  await query(url, `delete from waiting`)
  await insert(settledRows + 1, settledRows + 5)

  const dueLanes = await entriesPerLookUp(url, 'waiting', () => findDueLanes(database, 1), mostEntries)
  // After the only lane, the look-up for the next lane reads nothing else.
  assert.ok(dueLanes <= mostEntries, `${dueLanes} index entries for the due lanes`)
  const readNew = () => readPage(database, '1/push', { due_at: 0, seq: settledRows }, 10)
  const newItems = await entriesPerLookUp(url, 'waiting', readNew, mostEntries)
  assert.ok(newItems <= mostEntries, `${newItems} index entries for the new items`)
  assert.deepEqual(await findDueLanes(database, 1), ['1/push'])
})
