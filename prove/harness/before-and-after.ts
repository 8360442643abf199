// The rows of a store at two times, and the bytes of its files: for proofs that something is gone, and that nothing else changed.

import assert from 'node:assert/strict'
import { copyFileSync, createReadStream, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { configOf } from '../../src/base/store/postgres-address.ts'
import { createClient } from '../../src/base/store/postgres-client.ts'

export type Row = Readonly<Record<string, unknown>>

/** The same tables at two times. `before` and `after` are the schemas of a query. */
export interface BeforeAndAfter {
  readonly tables: readonly string[]
  query(text: string): AsyncIterable<Row>
  close(): Promise<void>
}

/** Copies the rows of a store that no process has open. Call the returned function when the store is closed again. */
export function copyRows(store: string): Promise<() => Promise<BeforeAndAfter>> {
  return store.startsWith('sqlite:') ? copySqlite(store.slice('sqlite:'.length)) : copyPostgres(store)
}

async function copySqlite(file: string) {
  const copy = join(dirname(file), 'before', basename(file))
  mkdirSync(dirname(copy), { recursive: true })
  copyFileSync(file, copy)
  return async (): Promise<BeforeAndAfter> => {
    const db = new DatabaseSync(':memory:')
    db.exec(`attach '${copy}' as before; attach '${file}' as after`)
    const tables = db.prepare(`select name from after.sqlite_schema where type = 'table'`).all()
    return {
      tables: tables.map(({ name }) => String(name)),
      async *query(text) {
        yield* db.prepare(text).iterate()
      },
      close: async () => db.close(),
    }
  }
}

async function copyPostgres(store: string) {
  const { schema = 'public', ...config } = configOf(store)
  const before = `${schema}_before`
  const connect = async (): Promise<pg.Client> => {
    const client = createClient({ ...config, schema })
    await client.connect()
    return client
  }
  const copying = await connect()
  const { rows } = await copying.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = '${schema}'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const tables = rows.map(({ name }) => name)
  await copying.query(`create schema ${before}`)
  for (const table of tables) await copying.query(`create table ${before}.${table} as table ${schema}.${table}`)
  await copying.end()
  return async (): Promise<BeforeAndAfter> => {
    const client = await connect()
    const named = (text: string): string => text.replaceAll('after.', `${schema}.`).replaceAll('before.', `${before}.`)
    return {
      tables,
      async *query(text) {
        await client.query(`begin; declare found cursor for ${named(text)}`)
        for (;;) {
          const page = await client.query<Row>('fetch 2000 from found')
          yield* page.rows
          if (page.rows.length === 0) break
        }
        await client.query('rollback')
      },
      async close() {
        await client.query(`rollback; drop schema ${before} cascade`)
        await client.end()
      },
    }
  }
}

/** Writes a SQLite file anew, without the free space of its pages. No process has it open. */
export function vacuum(file: string): void {
  const db = new DatabaseSync(file)
  db.exec('vacuum')
  db.close()
}

/** The files of all tables and indexes of a schema, with everything written. The server is on this machine. */
export async function filesOfPostgres(url: string): Promise<readonly string[]> {
  return withClient(url, async (client) => {
    await client.query('checkpoint')
    const { rows } = await client.query<{ path: string }>(
      `select current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) as path
       from pg_class c left join pg_class t on t.reltoastrelid = c.oid left join pg_index i on i.indexrelid = c.oid
       left join pg_class it on it.reltoastrelid = i.indrelid
       where current_schema()::regnamespace in (c.relnamespace, t.relnamespace, it.relnamespace)
         and pg_relation_filepath(c.oid) is not null`,
    )
    const [folder] = rows.map(({ path }) => dirname(path))
    assert.ok(folder !== undefined)
    const names = new Set(rows.map(({ path }) => basename(path)))
    // A file of more than 1 GiB has further ones: NAME.1, NAME.2.
    const files = readdirSync(folder).filter((name) => names.has(name.replace(/\.\d+$/, '')))
    return files.map((name) => join(folder, name))
  })
}

/** Writes all tables and indexes of a schema anew. */
export async function vacuumPostgres(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`,
    )
    for (const { name } of rows) await client.query(`vacuum full ${name}`)
  })
}

/** The segments of the write-ahead log of the server. */
export const logOfPostgres = (url: string): Promise<readonly string[]> => withClient(url, segmentsOf)

/** Writes as much log as there are segments. The server keeps a segment under a later name, and overwrites it only then. */
export async function overwriteLogOfPostgres(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('select pg_switch_wal()')
    await client.query('checkpoint')
    const { length } = await segmentsOf(client)
    for (let i = 0; i <= length; i++)
      await client.query(
        `select pg_logical_emit_message(false, 'overwrite', repeat('x', (pg_size_bytes(current_setting('wal_segment_size')))::int))`,
      )
    await client.query('checkpoint')
  })
}

async function segmentsOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ path: string }>(
    `select current_setting('data_directory') || '/pg_wal/' || name as path from pg_ls_waldir()`,
  )
  return rows.map(({ path }) => path)
}

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = createClient(configOf(url))
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** Longer than each searched text. */
const overlap = 256

/** Calls `found` with each match in the bytes of a file. A match may be reported twice. */
export async function searchFile(file: string, pattern: RegExp, found: (match: RegExpExecArray) => void) {
  let rest = ''
  for await (const chunk of createReadStream(file, { highWaterMark: 262_144, encoding: 'latin1' })) {
    const text = rest + chunk
    for (const match of text.matchAll(pattern)) found(match)
    rest = text.slice(-overlap)
  }
}
