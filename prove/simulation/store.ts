// A real SQLite database in memory, which survives a killed process, with faults at its statements `begin` and `commit` and at its answers.

import type { DatabaseSync } from 'node:sqlite'
import type { Database, Migration } from '../../src/base/store/database.ts'
import { createSqliteDatabase, openSqliteFile } from '../../src/base/store/sqlite.ts'
import { migrateSqlite } from '../../src/base/store/sqlite-migrate.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import type { Random } from './random.ts'
import type { Faults } from './settings.ts'
import type { World } from './world.ts'

/** Newer versions of Node can copy a database. On older ones each disk is migrated. */
interface Disk extends DatabaseSync {
  serialize?(): Uint8Array
  deserialize?(image: Uint8Array): void
}

const migrated = new Map<readonly Migration[], Uint8Array>()

/** An empty database with all tables. */
export async function createDisk(migrations: readonly Migration[]): Promise<DatabaseSync> {
  const disk: Disk = openSqliteFile(':memory:')
  const image = migrated.get(migrations)
  if (image) disk.deserialize?.(image)
  else {
    await migrateSqlite(disk, migrations)
    if (disk.serialize) migrated.set(migrations, disk.serialize())
  }
  return disk
}

export interface StoreOptions {
  readonly world: World
  readonly random: Random
  readonly faults: Faults
  /** Called when a commit or a read fails. */
  readonly onFault: () => void
  /** Called when the session is lost: its claims and lanes belong to nobody now. */
  readonly onLost: () => void
}

interface Session {
  readonly database: Database
  readonly lost: AbortController
}

/**
 * What one process sees of the disk. The answer of a commit is lost only together with the session, as on PostgreSQL: the process goes on
 * with a new owner.
 */
export function openStore(disk: DatabaseSync, { world, random, faults, onFault, onLost }: StoreOptions): Database {
  const listeners = new Set<{ topic: string; listener: () => void; end: () => void }>()
  let session = open()

  function open(): Session {
    // The temporary tables of a process end with its connection.
    for (const { name } of disk.prepare("select name from sqlite_temp_master where type = 'table'").all())
      disk.exec(`drop table temp.${name}`)
    return { database: createSqliteDatabase(failing(disk, fail), ':memory:'), lost: new AbortController() }
  }

  function fail(name: 'begin busy' | 'disk full', errcode: number): void {
    if (!faults.fires(name)) return
    world.note(`${world.process?.name}: ${name}`)
    onFault()
    throw Object.assign(new Error(name), { code: 'ERR_SQLITE_ERROR', errcode })
  }

  function lose(): void {
    world.note(`${world.process?.name}: session lost`)
    const { lost } = session
    session = open()
    for (const each of listeners) each.end = session.database.onWake(each.topic, each.listener)
    onFault()
    onLost()
    lost.abort()
  }

  const answer = (): Promise<void> =>
    world.sleep(faults.fires('slow store') ? random.integer(100, 3_000) : random.fraction() * 2)

  async function commit(...given: Parameters<Database['commit']>): Promise<readonly (readonly object[])[]> {
    const { database, lost } = session
    const loses = faults.fires('commit answer lost')
    const [result] = await Promise.allSettled([database.commit(...given)])
    if (loses && result.status === 'fulfilled' && !lost.signal.aborted) lose()
    await answer()
    if (lost.signal.aborted) throw new StoreUnavailable('committed, but the answer was lost')
    if (result.status === 'rejected') throw result.reason
    return result.value as readonly (readonly object[])[]
  }

  const read: Database['read'] = async (op) => {
    if (faults.fires('read fails')) {
      onFault()
      throw new StoreUnavailable('no answer to a read')
    }
    const rows = await session.database.read(op)
    await answer()
    return rows
  }

  return {
    ...session.database,
    get owner() {
      return session.database.owner
    },
    get outage() {
      return session.database.outage
    },
    checkWrites: () => session.database.checkWrites(),
    holdsLease: (owner) => session.database.holdsLease(owner),
    alive: (owners) => session.database.alive(owners),
    async own(name) {
      const { database, lost } = session
      const ownership = await database.own(name)
      return ownership && { ...ownership, lost: lost.signal }
    },
    onWake(topic, listener) {
      const each = { topic, listener, end: session.database.onWake(topic, listener) }
      listeners.add(each)
      return () => {
        listeners.delete(each)
        each.end()
      }
    },
    commit: commit as Database['commit'],
    read,
    readMerged: read,
  }
}

/** The disk, whose statements `begin` and `commit` may fail. */
function failing(disk: DatabaseSync, fail: (name: 'begin busy' | 'disk full', errcode: number) => void): DatabaseSync {
  const before = { 'begin immediate': ['begin busy', 5], commit: ['disk full', 13] } as const
  return new Proxy(disk, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'prepare') return typeof value === 'function' ? value.bind(target) : value
      return (text: string) => {
        const prepared = target.prepare(text)
        const fault = before[text as keyof typeof before]
        if (!fault) return prepared
        return {
          run() {
            fail(fault[0], fault[1])
            return prepared.run()
          },
        }
      }
    },
  })
}
