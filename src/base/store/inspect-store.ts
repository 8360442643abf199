// Inspects a store for `bellwire doctor`, without changing anything. It never locks a SQLite file, since the file belongs to the
// process that serves it.

import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { type Check, fails, passes, warns } from '../runtime/check.ts'
import { clock } from '../runtime/clock.ts'
import { messageOf } from '../runtime/message-of.ts'
import { phraseCount } from '../runtime/phrase-count.ts'
import { readableByAll } from '../runtime/readable-by-all.ts'
import type { Migration } from './database.ts'
import { freeBytesOf } from './disk-free.ts'
import { type Applied, findRefusal, selectApplied } from './migrate.ts'
import { configOf, type PostgresConfig } from './postgres-address.ts'
import { createClient } from './postgres-client.ts'
import { explainConnectError, freeConnections } from './postgres-errors.ts'
import { demandSession } from './postgres-preconditions.ts'
import { explainOpenError, isCorrupt } from './sqlite-file.ts'

/**
 * @param migrations all migrations of the store
 * @example await inspectStore('sqlite:operator.db', operatorMigrations) // [{ ok: true, description: '…/operator.db exists and is writable' }]
 */
export async function inspectStore(url: string, migrations: readonly Migration[]): Promise<readonly Check[]> {
  if (!url.startsWith('sqlite:')) return inspectPostgres(url, migrations)
  const path = url.slice('sqlite:'.length)
  return path === ':memory:'
    ? [passes('in memory: lost when the process ends')]
    : inspectFile(resolve(path), migrations)
}

const leastFreeBytes = 64 * 1024 * 1024

async function inspectFile(path: string, migrations: readonly Migration[]): Promise<readonly Check[]> {
  const folder = await nearestFolder(dirname(path))
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch {
    return [fails(`${folder} is not writable by this user`, 'make the user who runs Bellwire its owner')]
  }
  const free = await freeBytesOf(folder)
  const space: readonly Check[] =
    free >= leastFreeBytes
      ? []
      : [fails(`the disk of ${folder} has only ${Math.floor(free / 1024 / 1024)} MiB free`, 'free disk space')]
  const disk = [...space, ...judgeFileSystem(folder, (await statfs(folder)).type)]
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return [passes(`${path} does not exist yet: the first start creates it`), ...disk]
  if (found.isDirectory()) return [fails(`${path} is a folder`, 'name a file in it')]
  return [await inspectContents(path, migrations), ...disk, ...(await checkPermissions(path))]
}

/** The types of network file systems that statfs() reports on Linux. */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x00c36400, 'Ceph'],
])

/** @param type as of statfs() */
export function judgeFileSystem(folder: string, type: number): readonly Check[] {
  const name = networkFileSystems.get(type)
  if (name === undefined) return []
  return [
    fails(
      `${folder} is on a network file system (${name}), whose locks and flushes SQLite cannot rely on`,
      'move the file to a local disk, or use PostgreSQL',
    ),
  ]
}

/** The file, and the -wal and -shm files of SQLite, contain messages, device tokens and browser keys. */
async function checkPermissions(path: string): Promise<readonly Check[]> {
  const open: string[] = []
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (await readableByAll(file)) open.push(file)
  if (open.length === 0) return []
  const description = `every user of this machine may read ${open.join(', ')}`
  return [warns(description, `chmod 600 ${open.join(' ')}`)]
}

async function inspectContents(path: string, migrations: readonly Migration[]): Promise<Check> {
  try {
    await access(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    return fails(`${path}: ${messageOf(error)}`, 'make the user who runs Bellwire its owner')
  }
  const { size: logBytes } = await stat(`${path}-wal`).catch(() => ({ size: 0 }))
  try {
    const refusal = findRefusal(readMigrations(path), migrations)
    if (refusal) return fails(`${path}: ${refusal.reason}`, refusal.remedy)
  } catch (error) {
    // The other pages of a corrupt file are perhaps in its log: a process uses it, or was killed.
    if (!isCorrupt(error) || logBytes === 0) {
      const [reason, remedy] = explainOpenError(path, error) ?? [
        messageOf(error),
        'name another file, or move this one away',
      ]
      return fails(`${path} ${reason}`, remedy)
    }
  }
  return passes(`${path} exists and is writable (${megabytes(await bytesOf(path))})`)
}

/** Reads the file without its write-ahead log: it takes no lock, and makes no -wal or -shm file. */
function readMigrations(path: string): readonly Applied[] {
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  try {
    if (!db.prepare(`select 1 from sqlite_schema where name = 'migrations'`).get()) return []
    return db.prepare(selectApplied).all() as unknown as readonly Applied[]
  } finally {
    db.close()
  }
}

/** Bytes of the file and its write-ahead log. */
async function bytesOf(path: string): Promise<number> {
  const files = await Promise.all([path, `${path}-wal`].map((file) => stat(file).catch(() => undefined)))
  return files.reduce((sum, file) => sum + (file?.size ?? 0), 0)
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`

/** The folder, or its nearest ancestor that exists. */
async function nearestFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  const parent = dirname(folder)
  return found?.isDirectory() || parent === folder ? folder : nearestFolder(parent)
}

const timeoutMs = 5_000
/** Leases and retries use both clocks. */
const mostSkewMs = 60_000

async function inspectPostgres(url: string, migrations: readonly Migration[]): Promise<readonly Check[]> {
  let client: pg.Client
  let config: PostgresConfig
  try {
    config = configOf(url)
    client = createClient({
      ...config,
      application_name: 'bellwire doctor',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    })
  } catch (error) {
    return [fails(messageOf(error), 'write store: postgres://USER:PASSWORD@HOST/DATABASE')]
  }
  const where = `PostgreSQL at ${client.host}:${client.port}/${client.database ?? ''}`
  try {
    await client.connect()
    await demandSession(client, config)
    const { rows } = await client.query<ServerState & { migrated: boolean }>(selectState, [config.schema ?? null])
    const [state] = rows as [(typeof rows)[number]]
    const applied = state.migrated ? (await client.query<Applied>(selectApplied)).rows : []
    const refusal = findRefusal(applied, migrations)
    if (refusal) return [fails(`${where}: ${refusal.reason}`, refusal.remedy)]
    return judgeServer(where, config.schema, state)
  } catch (error) {
    const { reason, remedy } = explainConnectError(error)
    return [fails(`${where}: ${reason}`, remedy)]
  } finally {
    await client.end().catch(() => {})
  }
}

const selectState = `
  select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now, pg_is_in_recovery() as standby,
    has_database_privilege(current_database(), 'create') as may_create,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - (select count(*) from pg_stat_activity a where a.backend_type = 'client backend')::int as free,
    current_setting('transaction_read_only') = 'on' as read_only, current_setting('fsync') = 'off' as unsafe,
    (select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = coalesce($1, current_schema())) as may_use,
    (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = coalesce($1, current_schema()) and c.relkind = 'r') as bytes,
    to_regclass('migrations') is not null as migrated`

/** One writes, one flushes, one listens, and four read. */
const connectionsOfProcess = 7

interface ServerState {
  readonly number: number
  readonly name: string
  readonly now: number
  readonly standby: boolean
  readonly read_only: boolean
  /** Connections that are not in use. */
  readonly free: number
  /** fsync is off: a power cut may destroy the database. */
  readonly unsafe: boolean
  readonly may_create: boolean
  /** null: the schema does not exist yet. */
  readonly may_use: boolean | null
  /** Bytes of all tables in the schema, with their indexes. */
  readonly bytes: number
}

/** @example judgeServer('PostgreSQL at db:5432/x', undefined, state) // [{ ok: true, description: '…' }] */
export function judgeServer(where: string, schema: string | undefined, state: ServerState): readonly Check[] {
  if (state.number < 150_000) return [fails(`${where} is version ${state.name}`, 'Bellwire needs 15 or later')]
  if (state.standby) return [fails(`${where} is a read-only standby`, 'name the primary server in store')]
  if (state.read_only)
    return [
      fails(
        `${where} is read-only: default_transaction_read_only is on`,
        'alter database … set default_transaction_read_only = off, or name the primary server in store',
      ),
    ]
  const schemaName = schema ?? 'the schema of this user'
  if (!(state.may_use ?? state.may_create))
    return [
      fails(
        `${where}: this user may not create tables in ${schemaName}`,
        state.may_use === null
          ? `create the schema for this user, or grant create on the database`
          : `grant create on schema ${schema ?? '…'} to this user`,
      ),
    ]
  const skew = clock.now() - state.now
  const clockFindings: readonly Check[] =
    Math.abs(skew) <= mostSkewMs
      ? []
      : [
          fails(
            `this machine's clock is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead of' : 'behind'} the clock of ${where}`,
            'synchronize both clocks with NTP',
          ),
        ]
  const size = `the tables of ${schemaName} take ${megabytes(state.bytes)}`
  return [
    passes(`${where} answers (${state.name}), and this user may create tables; ${size}`),
    ...(state.unsafe
      ? [
          warns(
            `${where} runs with fsync = off: a power cut loses acknowledged messages and may destroy the database`,
            'set fsync = on',
          ),
        ]
      : []),
    ...(state.free < connectionsOfProcess
      ? [
          warns(
            `${where} has ${phraseCount(Math.max(0, state.free), 'free connection')}; each process uses up to ${connectionsOfProcess}`,
            freeConnections,
          ),
        ]
      : []),
    ...clockFindings,
  ]
}
