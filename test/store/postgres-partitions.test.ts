// Old rows of large tables are forgotten by dropping partitions (src/base/store/postgres-partitions.ts).

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type pg from 'pg'
import type { Database, Migration } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { postgresDefaults } from '../../src/base/store/postgres-defaults.ts'
import { createPartitions } from '../../src/base/store/postgres-partitions.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { connect, freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { until } from '../support/wait.ts'

const skip = await withoutPostgres()
const { daysAhead } = postgresDefaults
const dayMs = 86_400_000
const migrations: readonly Migration[] = [
  {
    name: 'notes/1',
    statements: ({ partitionedBy }) => [
      `create table notes (at bigint not null, text text not null, primary key (at, text))${partitionedBy('at')}`,
    ],
    partitioned: [{ table: 'notes', bound: String }],
  },
]
const addNotes = statement('add_notes', { at: 'bigint', text: 'text' })`
  insert into notes (at, text) select r.at, r.text from ${rows} r where true on conflict do nothing`

function check(
  title: string,
  run: (database: Database, url: string, t: TestContext) => Promise<void>,
  answerWithinMs = 30_000,
): void {
  test(`postgres: ${title}`, { skip, timeout: 60_000 }, async (t) => {
    const url = await freshSchema()
    postgresDefaults.daysAhead = daysAhead
    const database = await openTestDatabase(t, url, { migrations, answerWithinMs })
    await run(database, url, t)
  })
}

const now = Date.now()
const addNote = (database: Database, daysAgo: number) =>
  database.commit([op(addNotes, [[now - daysAgo * dayMs, `${daysAgo} days ago`]])])
const texts = async (url: string): Promise<unknown[]> =>
  (await query(url, 'select text from notes order by at desc')).map(({ text }) => text)
const drop = (database: Database, daysAgo: number) => database.dropPartitions?.('notes', now - daysAgo * dayMs)
const attach = (url: string, daysAgo: number) =>
  onClient(url, (client) => createPartitions(client, tables, now - daysAgo * dayMs))
const tables = migrations.flatMap(({ partitioned }) => partitioned ?? [])

async function onClient(url: string, run: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = await connect(url)
  try {
    await run(client)
  } finally {
    await client.end()
  }
}

check('a row finds its partition from yesterday to seven days ahead', async (database, url) => {
  for (const daysAgo of [1, 0, -7]) await addNote(database, daysAgo)
  assert.equal((await texts(url)).length, 3)
  await assert.rejects(addNote(database, -9), /no partition of relation "notes"/)
})

check('partitions older than the retention are dropped, and no row of a later day', async (database, url) => {
  await attach(url, 20)
  for (const daysAgo of [20, 15, 14, 0]) await addNote(database, daysAgo)
  assert.ok(((await drop(database, 14)) ?? 0) >= 6)
  assert.deepEqual(await texts(url), ['0 days ago', '14 days ago'])
  assert.equal(await drop(database, 14), 0)
})

check('dropping creates the partitions of the next days', async (database, url) => {
  await onClient(url, async (client) => {
    for (const { name } of (
      await client.query(`select relname as name from pg_class where relname ~ '^notes_\\d{8}$'
      and relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname offset 3`)
    ).rows)
      await client.query(`drop table ${name}`)
  })
  await assert.rejects(addNote(database, -3), /no partition/)
  await drop(database, 14)
  await addNote(database, -3)
})

check(
  'a transaction that reads an old partition delays its drop, and no insert',
  async (database, url) => {
    await attach(url, 20)
    await addNote(database, 20)
    await onClient(url, async (reader) => {
      await reader.query('begin; select * from notes')
      await assert.rejects(drop(database, 14) ?? Promise.resolve(), StoreUnavailable)
      await addNote(database, 0)
      await reader.query('commit')
    })
    const dropped = (): Promise<boolean> =>
      Promise.resolve(drop(database, 14)).then(
        () => true,
        () => false,
      )
    // The drop goes on from where its time limit ended it.
    await until(dropped, { awaited: 'the drop ends', withinMs: 30_000 })
    assert.deepEqual(await texts(url), ['0 days ago'])
  },
  2_000,
)

check('a partition that was detached before its process died is dropped by the next one', async (database, url) => {
  await attach(url, 20)
  const [old] = await query(
    url,
    `select min(inhrelid::regclass::text) as name from pg_inherits
    where inhparent = 'notes'::regclass`,
  )
  await query(url, `alter table notes detach partition ${old?.name}`)
  await drop(database, 14)
  assert.deepEqual(await query(url, `select to_regclass('${old?.name}') as name`), [{ name: null }])
})

check('of several processes only one drops partitions at a time', async (database, url) => {
  const other = await openDatabase(url, { migrations })
  try {
    await attach(url, 20)
    const dropped = await Promise.all([drop(database, 14), drop(other, 14)])
    assert.ok(dropped.some((count) => (count ?? 0) >= 6))
    await addNote(database, 0)
  } finally {
    await other.close()
  }
})
