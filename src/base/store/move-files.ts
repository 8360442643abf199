// Moves the SQLite files of a stopped side into an empty PostgreSQL database: every table of the schema, with the same rows. With a
// backup, its rows are copied while the side runs, and then only the rows that have changed.
//
// A row is a line in the text format of COPY, which SQLite and PostgreSQL write alike. So a table is equal if the number of its
// lines and the sum of their digests are, in any order.

import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { clock } from '../runtime/clock.ts'
import type { Migration } from './database.ts'
import { migrateDatabase } from './open-database.ts'
import { inTransaction } from './postgres-client.ts'
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
  /** Opens the files, which nobody may change. A table that several files have is copied from the first one. */
  readonly open: () => Promise<readonly DatabaseSync[]>
  /** The files of a backup, in the same order: they are copied before the others are opened. */
  readonly backup?: readonly string[]
  /** 'postgres://…' */
  readonly to: string
  readonly migrations: readonly Migration[]
  /** Called after each table. */
  readonly onTable?: (moved: MovedTable) => void
  /** Aborted: the database is emptied again. */
  readonly signal: AbortSignal
  /** Runs in the same transaction, after all tables were compared. */
  readonly also?: (client: pg.Client, files: readonly DatabaseSync[]) => Promise<void>
}

/** The database is not empty, or has other rows than the files afterwards. It is empty again. */
export class FilesNotMoved extends Error {
  override readonly name = 'FilesNotMoved'
}

/** Copies all rows, and compares them. @throws FilesNotMoved */
export async function moveFiles({
  open,
  backup = [],
  to,
  migrations,
  onTable,
  signal,
  also,
}: MoveFilesOptions): Promise<readonly MovedTable[]> {
  await migrateDatabase(to, migrations)
  const client = await openClient(to, 'bellwire move')
  const earlier = backup.map((path) => new DatabaseSync(path, { readOnly: true }))
  try {
    const tables = await readTables(client)
    const initial = await readInitialTables(migrations)
    for (const { name } of tables)
      if (!initial.has(name) && (await client.query(`select from ${name} limit 1`)).rowCount)
        throw new FilesNotMoved(`the database has rows in ${name}: name an empty database or schema`)
    const clear = async (): Promise<void> => void (await client.query(`truncate ${tables.map(({ name }) => name)}`))
    await clear()
    const moved = new Map<string, LineDigest>()
    try {
      await createPartitionsSince(client, migrations, earlier)
      if (earlier.length > 0)
        await inTransaction(client, async () => {
          for (const table of tables)
            moved.set(table.name, await copyTable(client, table, fileWith(earlier, table), signal))
        })
      const files = await open()
      await createPartitionsSince(client, migrations, files)
      await inTransaction(client, async () => {
        for (const table of tables) {
          const { name } = table
          const file = fileWith(files, table)
          const copied = moved.get(name)
          if (copied) await copyChanges(client, table, file, backup[files.indexOf(file)] as string, copied, signal)
          const digest = copied ?? (await copyTable(client, table, file, signal))
          moved.set(name, digest)
          if (table.identity !== null) await setNextNumber(client, file, name, table.identity)
          onTable?.({ table: name, rows: digest.lines(), digest: digest.end() })
        }
        await also?.(client, files)
        signal.throwIfAborted()
      })
    } catch (error) {
      await clear().catch(() => {})
      throw error
    }
    await client.query('analyze')
    return [...moved].map(([table, digest]) => ({ table, rows: digest.lines(), digest: digest.end() }))
  } finally {
    for (const db of earlier) db.close()
    await client.end().catch(() => {})
  }
}

function fileWith(files: readonly DatabaseSync[], { name }: Table): DatabaseSync {
  const file = files.find((db) => db.prepare('select 1 from sqlite_schema where name = ?').get(name))
  if (!file) throw new FilesNotMoved(`no file has the table ${name}`)
  return file
}

interface Table {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly isText: boolean }[]
  /** The column with assigned numbers. */
  readonly identity: string | null
  /** The columns of the primary key. Without one, those that are never null. */
  readonly key: readonly string[]
}

/** Tables of the store itself, whose rows belong to the database. */
const ownTables = ['migrations', 'write_probes']

async function readTables(client: pg.Client): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, max(a.attname::text) filter (where a.attidentity <> '') as identity,
       json_agg(json_build_object('name', a.attname, 'isText', a.atttypid = 'text'::regtype) order by a.attnum) as columns,
       coalesce(json_agg(a.attname) filter (where a.attnum = any(k.indkey)),
         json_agg(a.attname) filter (where a.attnotnull)) as key
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       left join pg_index k on k.indrelid = c.oid and k.indisprimary
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

const namesOf = ({ columns }: Table): string => columns.map(({ name }) => `"${name}"`).join(', ')

/** Copies a table, and reads it again. */
async function copyTable(
  client: pg.Client,
  table: Table,
  file: DatabaseSync,
  signal: AbortSignal,
): Promise<LineDigest> {
  const { name } = table
  const read = createLineDigest()
  await withoutTriggers(client, name, () =>
    copyIn(client, name, table, copyLines(file, table, `${name} t`, read.add), signal),
  )
  const written = createLineDigest()
  await readLines(client, `select ${namesOf(table)} from ${name}`, written.add)
  if (read.end() !== written.end())
    throw new FilesNotMoved(`${name} has other rows in PostgreSQL: ${read.end()} became ${written.end()}`)
  return read
}

/** They would count the rows again: the counts are tables too. */
async function withoutTriggers(client: pg.Client, table: string, work: () => Promise<void>): Promise<void> {
  await client.query(`alter table ${table} disable trigger user`)
  await work()
  await client.query(`alter table ${table} enable trigger user`)
}

const copyIn = (
  client: pg.Client,
  into: string,
  table: Table,
  lines: Iterable<Buffer>,
  signal: AbortSignal,
): Promise<void> =>
  pipeline(Readable.from(lines), client.query(copyFrom(`copy ${into} (${namesOf(table)}) from stdin`)), { signal })

/**
 * Deletes the rows of the backup that have changed, and copies the changed and new ones.
 *
 * @param digest of the rows of the backup; then of those of the file
 */
async function copyChanges(
  client: pg.Client,
  table: Table,
  file: DatabaseSync,
  backup: string,
  digest: LineDigest,
  signal: AbortSignal,
) {
  const { name, key } = table
  file.exec(`attach '${pathToFileURL(backup).href}?mode=ro' as backup`)
  try {
    const removed = createLineDigest()
    const subtract = (line: string): void => {
      removed.add(line)
      digest.subtract(line)
    }
    await withoutTriggers(client, name, async () => {
      await client.query(`create temporary table changed_rows (like ${name}) on commit drop`)
      await copyIn(
        client,
        'changed_rows',
        table,
        copyLines(file, table, differing(file, table, 'backup', 'main'), subtract),
        signal,
      )
      const isSame = key.map((column) => `t."${column}" = c."${column}"`).join(' and ')
      const { rowCount } = await client.query(`delete from ${name} t using changed_rows c where ${isSame}`)
      if (rowCount !== removed.lines())
        throw new FilesNotMoved(`${name}: ${rowCount} rows of ${removed.lines()} were found in PostgreSQL`)
      await client.query('drop table changed_rows')
      const added = copyLines(file, table, differing(file, table, 'main', 'backup'), digest.add)
      await copyIn(client, name, table, added, signal)
    })
  } finally {
    file.exec('detach backup')
  }
  const { rows } = await client.query<{ n: number }>(`select count(*) as n from ${name}`)
  const { n } = file.prepare(`select count(*) as n from ${name}`).get() as { n: number }
  if (rows[0]?.n !== n || digest.lines() !== n)
    throw new FilesNotMoved(`${name} has ${rows[0]?.n} rows in PostgreSQL, and ${n} in SQLite`)
}

/** SQL of SQLite: the rows `t` of one schema that the other one does not have so. */
function differing(db: DatabaseSync, { name, columns, key }: Table, schema: string, other: string): string {
  const { wr } = db.prepare('select wr from pragma_table_list where name = ?').get(name) as { wr: number }
  const keys = wr === 1 ? key : ['rowid']
  const on = keys.map((column) => `o."${column}" = t."${column}"`).join(' and ')
  const same = columns.map((column) => `o."${column.name}" is t."${column.name}"`).join(' and ')
  return `${schema}.${name} t left join ${other}.${name} o on ${on} where o."${keys[0]}" is null or not (${same})`
}

const bufferChars = 256 * 1024

/** The rows as lines of COPY, in buffers. @param from SQL, with the rows `t` */
function* copyLines(
  db: DatabaseSync,
  { columns }: Table,
  from: string,
  onLine: (line: string) => void,
): Generator<Buffer> {
  const line = columns.map(({ name, isText }) => `coalesce(${isText ? escaped(`t."${name}"`) : `t."${name}"`}, '\\N')`)
  let buffered = ''
  for (const row of db.prepare(`select ${line.join(' || char(9) || ')} as line from ${from}`).iterate()) {
    const text = row.line as string
    onLine(text)
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

async function readLines(client: pg.Client, query: string, onLine: (line: string) => void): Promise<void> {
  const decoder = new StringDecoder()
  let rest = ''
  for await (const chunk of client.query(copyTo(`copy (${query}) to stdout`)) as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() as string
    for (const line of lines) onLine(line)
  }
}

interface LineDigest {
  readonly add: (line: string) => void
  readonly subtract: (line: string) => void
  lines(): number
  /** The number of lines and the sum of their digests. */
  end(): string
}

function createLineDigest(): LineDigest {
  let lines = 0
  const sums = new Uint32Array(4)
  const count = (line: string, sign: 1 | -1): void => {
    lines += sign
    const digest = hash('md5', line, 'buffer')
    for (let i = 0; i < 4; i++) sums[i] = (sums[i] as number) + sign * digest.readUInt32LE(4 * i)
  }
  return {
    add: (line) => count(line, 1),
    subtract: (line) => count(line, -1),
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
