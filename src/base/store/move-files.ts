// Moves the SQLite files of a stopped side into an empty PostgreSQL database: every table of the schema, with the same rows.
//
// A row is a line in the text format of COPY, which SQLite and PostgreSQL write alike. So a table is equal if the number of its
// lines and the sum of their digests are, in any order.

import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { clock } from '../runtime/clock.ts'
import type { Migration } from './database.ts'
import { migrateDatabase } from './open-database.ts'
import { openClient } from './postgres-copy.ts'
import { partitionedTables } from './postgres-migrate.ts'
import { createPartitions } from './postgres-partitions.ts'
import { openSqliteFile } from './sqlite.ts'
import { migrateSqlite } from './sqlite-migrate.ts'

export interface MovedTable {
  readonly table: string
  readonly rows: number
  /** Of all rows. */
  readonly digest: string
}

export interface MoveFilesOptions {
  /** A table that several files have is copied from the first one. */
  readonly files: readonly DatabaseSync[]
  /** 'postgres://…' */
  readonly to: string
  readonly migrations: readonly Migration[]
  /** Called after each table. */
  readonly onTable?: (moved: MovedTable) => void
  /** Runs in the same transaction, after all tables were compared. */
  readonly also?: (client: pg.Client) => Promise<void>
}

/** The database is not empty, or has other rows than the files afterwards. Nothing was changed. */
export class FilesNotMoved extends Error {
  override readonly name = 'FilesNotMoved'
}

/** Copies all rows in one transaction, and compares them. @throws FilesNotMoved */
export async function moveFiles({
  files,
  to,
  migrations,
  onTable,
  also,
}: MoveFilesOptions): Promise<readonly MovedTable[]> {
  await migrateDatabase(to, migrations)
  const client = await openClient(to, 'bellwire move')
  try {
    const tables = await readTables(client)
    const initial = await readInitialTables(migrations)
    for (const { name } of tables)
      if (!initial.has(name) && (await client.query(`select from ${name} limit 1`)).rowCount)
        throw new FilesNotMoved(`the database has rows in ${name}: name an empty database or schema`)
    await createPartitionsSince(client, migrations, files)
    await client.query('begin')
    for (const name of initial) await client.query(`delete from ${name}`)
    const moved: MovedTable[] = []
    for (const table of tables) {
      const each = await moveTable(client, table, files)
      moved.push(each)
      onTable?.(each)
    }
    await also?.(client)
    await client.query('commit')
    await client.query('analyze')
    return moved
  } finally {
    await client.end().catch(() => {})
  }
}

interface Table {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly isText: boolean }[]
  /** The column with assigned numbers. */
  readonly identity: string | null
}

/** Tables of the store itself, whose rows belong to the database. */
const ownTables = ['migrations', 'write_probes']

async function readTables(client: pg.Client): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, max(a.attname::text) filter (where a.attidentity <> '') as identity,
       json_agg(json_build_object('name', a.attname, 'isText', a.atttypid = 'text'::regtype) order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all($1)
     group by c.relname order by c.relname`,
    [ownTables],
  )
  return rows
}

/** The tables into which the migrations insert rows. */
async function readInitialTables(migrations: readonly Migration[]): Promise<ReadonlySet<string>> {
  const db = openSqliteFile(':memory:')
  await migrateSqlite(db, migrations)
  const tables = db.prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`).all()
  const filled = tables
    .map(({ name }) => String(name))
    .filter((name) => !ownTables.includes(name) && db.prepare(`select 1 from ${name}`).get())
  db.close()
  return new Set(filled)
}

async function moveTable(client: pg.Client, table: Table, files: readonly DatabaseSync[]): Promise<MovedTable> {
  const { name, columns, identity } = table
  const file = files.find((db) => db.prepare('select 1 from sqlite_schema where name = ?').get(name))
  if (!file) throw new FilesNotMoved(`no file has the table ${name}`)
  const names = columns.map((column) => `"${column.name}"`).join(', ')
  // Without the triggers, which would count the rows again: the counts are tables too.
  await client.query(`alter table ${name} disable trigger user`)
  const read = createLineDigest()
  await pipeline(
    Readable.from(copyLines(file, table, read)),
    client.query(copyFrom(`copy ${name} (${names}) from stdin`)),
  )
  await client.query(`alter table ${name} enable trigger user`)
  if (identity !== null) await setNextNumber(client, file, name, identity)
  const written = await digestOf(client, `select ${names} from ${name}`)
  const digest = read.end()
  if (digest !== written) throw new FilesNotMoved(`${name} has other rows in PostgreSQL: ${digest} became ${written}`)
  return { table: name, rows: read.lines(), digest }
}

const bufferChars = 256 * 1024

/** The rows as lines of COPY, in buffers. */
function* copyLines(db: DatabaseSync, { name, columns }: Table, digest: LineDigest): Generator<Buffer> {
  const line = columns.map(({ name, isText }) => `coalesce(${isText ? escaped(`"${name}"`) : `"${name}"`}, '\\N')`)
  let buffered = ''
  for (const row of db.prepare(`select ${line.join(' || char(9) || ')} as line from ${name}`).iterate()) {
    const text = row.line as string
    digest.add(text)
    buffered += `${text}\n`
    if (buffered.length < bufferChars) continue
    yield Buffer.from(buffered)
    buffered = ''
  }
  if (buffered !== '') yield Buffer.from(buffered)
}

/** The characters that COPY escapes. */
const escapes = [
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
] as const

/** SQL of SQLite: the text with escapes. */
const escaped = (column: string): string => {
  const replaced = escapes.reduce(
    (text, [char, written]) => `replace(${text}, char(${char.charCodeAt(0)}), '${written}')`,
    column,
  )
  return `iif(${column} glob '*[' || char(8) || '-' || char(13) || '\\]*', ${replaced}, ${column})`
}

/** Numbers that were assigned and deleted are not assigned again. */
async function setNextNumber(client: pg.Client, db: DatabaseSync, table: string, column: string): Promise<void> {
  const found = db.prepare('select seq from sqlite_sequence where name = ?').get(table)
  if (found) await client.query(`select setval(pg_get_serial_sequence('${table}', '${column}'), $1)`, [found.seq])
}

async function digestOf(client: pg.Client, query: string): Promise<string> {
  const digest = createLineDigest()
  const decoder = new StringDecoder()
  let rest = ''
  for await (const chunk of client.query(copyTo(`copy (${query}) to stdout`)) as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() as string
    for (const line of lines) digest.add(line)
  }
  return digest.end()
}

interface LineDigest {
  add(line: string): void
  lines(): number
  /** The number of lines and the sum of their digests. */
  end(): string
}

function createLineDigest(): LineDigest {
  let lines = 0
  const sums = new Uint32Array(4)
  return {
    add(line) {
      lines++
      const digest = hash('md5', line, 'buffer')
      for (let i = 0; i < 4; i++) sums[i] = (sums[i] as number) + digest.readUInt32LE(4 * i)
    },
    lines: () => lines,
    end: () => `${lines}/${Buffer.from(sums.buffer).toString('hex')}`,
  }
}

/** Creates the partitions of the days of all rows. */
async function createPartitionsSince(
  client: pg.Client,
  migrations: readonly Migration[],
  files: readonly DatabaseSync[],
): Promise<void> {
  const now = clock.now()
  for (const partitioned of partitionedTables(migrations)) {
    const { rows } = await client.query<{ key: string }>(
      `select trim(substring(pg_get_partkeydef('${partitioned.table}'::regclass) from '\\((.*)\\)'), '"') as key`,
    )
    const query = `select min("${rows[0]?.key}") as first from ${partitioned.table}`
    const firsts = files.flatMap((db) =>
      db.prepare('select 1 from sqlite_schema where name = ?').get(partitioned.table)
        ? [db.prepare(query).get()?.first]
        : [],
    )
    await createPartitions(client, [partitioned], now, timeOf(firsts[0]) ?? now)
  }
}

/** The time of a partition key in epoch milliseconds: a UUID of version 7 begins with it. */
function timeOf(key: unknown): number | undefined {
  if (typeof key === 'number') return key
  return typeof key === 'string' ? Number.parseInt(key.replace('-', '').slice(0, 12), 16) : undefined
}
