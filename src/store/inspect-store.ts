// A look at a store from outside, for `bellwire doctor`: never opens a SQLite file, which belongs to the process that serves it, and
// changes nothing.

import { constants } from 'node:fs'
import { access, open, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import pg from 'pg'
import { readableByAll } from '../runtime/readable-by-all.ts'
import { configOf } from './postgres-address.ts'
import { messageOf } from './postgres-errors.ts'

/** What was seen. */
export interface StoreFinding {
  readonly ok: boolean
  readonly warning?: true
  readonly what: string
  readonly remedy?: string
}

/** @example await inspectStore('sqlite:operator.db') // [{ ok: true, what: '…/operator.db is there and may be written' }] */
export async function inspectStore(url: string): Promise<readonly StoreFinding[]> {
  if (!url.startsWith('sqlite:')) return lookAtPostgres(url)
  const path = url.slice('sqlite:'.length)
  return path === ':memory:' ? [{ ok: true, what: 'in memory: gone when the process ends' }] : lookAtFile(resolve(path))
}

const littleSpace = 64 * 1024 * 1024

async function lookAtFile(path: string): Promise<readonly StoreFinding[]> {
  const folder = await nearest(dirname(path))
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch {
    return [
      { ok: false, what: `${folder} may not be written by this user`, remedy: 'give it to the user who runs Bellwire' },
    ]
  }
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const space: readonly StoreFinding[] =
    free >= littleSpace
      ? []
      : [
          {
            ok: false,
            what: `the disk of ${folder} has only ${Math.floor(free / 1024 / 1024)} MiB left`,
            remedy: 'make room',
          },
        ]
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return [{ ok: true, what: `${path} is not there yet: the first start makes it` }, ...space]
  if (found.isDirectory()) return [{ ok: false, what: `${path} is a folder`, remedy: 'name a file in it' }]
  return [await lookInto(path), ...space, ...(await readByAll(path))]
}

/** Messages, device tokens and keys of browsers are in the file, and in those that SQLite keeps beside it. */
async function readByAll(path: string): Promise<readonly StoreFinding[]> {
  const open: string[] = []
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (await readableByAll(file)) open.push(file)
  if (open.length === 0) return []
  const what = `every user of this machine may read ${open.join(', ')}`
  return [{ ok: true, warning: true, what, remedy: `chmod 600 ${open.join(' ')}` }]
}

async function lookInto(path: string): Promise<StoreFinding> {
  try {
    await access(path, constants.R_OK | constants.W_OK)
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
      if (bytesRead > 0 && buffer.toString('latin1') !== 'SQLite format 3\0')
        return { ok: false, what: `${path} is not a SQLite database`, remedy: 'name another file in store' }
    } finally {
      await file.close()
    }
    return { ok: true, what: `${path} is there and may be written` }
  } catch (error) {
    return { ok: false, what: `${path}: ${messageOf(error)}`, remedy: 'give it to the user who runs Bellwire' }
  }
}

/** The folder, or the nearest one above it that is there. */
async function nearest(folder: string): Promise<string> {
  const there = await stat(folder).catch(() => undefined)
  const above = dirname(folder)
  return there?.isDirectory() || above === folder ? folder : nearest(above)
}

const patienceMs = 5_000
/** Leases and retries are counted by both clocks. */
const mostSkewMs = 60_000

async function lookAtPostgres(url: string): Promise<readonly StoreFinding[]> {
  let client: pg.Client
  let schema: string | undefined
  try {
    const { schema: named, ...config } = configOf(url)
    schema = named
    client = new pg.Client({
      ...config,
      application_name: 'bellwire doctor',
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
    })
  } catch (error) {
    return [{ ok: false, what: messageOf(error), remedy: 'write store: postgres://USER:PASSWORD@HOST/DATABASE' }]
  }
  client.on('error', () => {})
  const where = `PostgreSQL at ${client.host}:${client.port}/${client.database ?? ''}`
  try {
    await client.connect()
    const { rows } = await client.query<Seen>(look, [schema ?? null])
    return judge(where, schema, rows[0] as Seen)
  } catch (error) {
    const { code = '' } = error as { code?: string }
    return [
      {
        ok: false,
        what: `${where}: ${messageOf(error)}`,
        remedy: remedies[code] ?? 'check that it runs, and the address in store',
      },
    ]
  } finally {
    await client.end().catch(() => {})
  }
}

const look = `
  select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now, pg_is_in_recovery() as standby,
    has_database_privilege(current_database(), 'create') as may_create,
    (select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = coalesce($1, current_schema())) as may_use`

interface Seen {
  readonly number: number
  readonly name: string
  readonly now: number
  readonly standby: boolean
  readonly may_create: boolean
  /** null: there is no such schema yet. */
  readonly may_use: boolean | null
}

const remedies: Readonly<Record<string, string>> = {
  '28P01': 'check the password in store',
  '28000': 'check the user in store, and pg_hba.conf',
  '3D000': 'create the database, or name another one in store',
  '53300': 'it has no connections left: raise max_connections, or stop what holds them',
}

function judge(where: string, schema: string | undefined, seen: Seen): readonly StoreFinding[] {
  if (seen.number < 150_000)
    return [{ ok: false, what: `${where} is version ${seen.name}`, remedy: 'Bellwire needs 15 or later' }]
  if (seen.standby)
    return [
      { ok: false, what: `${where} is a standby`, remedy: 'name the primary in store: everything is written there' },
    ]
  const named = schema ?? 'the schema of this user'
  if (!(seen.may_use ?? seen.may_create))
    return [
      {
        ok: false,
        what: `${where}: this user may not make tables in ${named}`,
        remedy:
          seen.may_use === null
            ? `create the schema for it, or grant create on the database`
            : `grant create on schema ${schema ?? '…'} to it`,
      },
    ]
  const off = Date.now() - seen.now
  const clock: readonly StoreFinding[] =
    Math.abs(off) <= mostSkewMs
      ? []
      : [
          {
            ok: false,
            what: `the clock is ${Math.round(Math.abs(off) / 1000)} s ${off > 0 ? 'ahead of' : 'behind'} that of ${where}`,
            remedy: 'set both clocks, with NTP',
          },
        ]
  return [{ ok: true, what: `${where} answers (${seen.name}), and tables may be made` }, ...clock]
}
