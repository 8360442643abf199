import { hash } from 'node:crypto'
import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { checkRows } from './check-rows.ts'
import type { Database, FileRange, HeldFile, Op, Ownership, Statement } from './database.ts'
import { createFlusher } from './flusher.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Part } from './merge.ts'
import { createMergedReads } from './merged-reads.ts'
import { newOwner } from './owner.ts'
import { createSqliteFile, resultCode, toOpenError } from './sqlite-file.ts'
import { type PreparedRows, prepareRows } from './sqlite-rows.ts'
import { openSqliteScratch } from './sqlite-scratch.ts'
import { createSqliteScratchTable } from './sqlite-scratch-table.ts'
import { StoreUnavailable } from './store-unavailable.ts'
import { createWakers, wakeStatement } from './wakers.ts'
import { createWriteHealth } from './write-health.ts'
import { probeWrites } from './write-probe.ts'

const syncLog = promisify(fdatasync)

/** A checkpoint blocks the process: one every 16 MB costs less in total than one every 4 MB, and takes less than 0.1 s. */
const checkpointOften = 'pragma wal_autocheckpoint = 2000'
const emptyLog = 'pragma wal_checkpoint(truncate)'

/**
 * Opens the embedded database, for this process only. When the process is killed, the file is free at once, and all acknowledged
 * transactions are on disk.
 *
 * @param path path of the file, which is created with its folder if missing, or ':memory:'
 * @param shared allows other connections to read the file, as Database.scratch() does. Use it only
 *   together with a file that is not shared and was opened before, so that the process is still the only one
 * @throws an error with the remedy if the file cannot be opened, or is open in another process
 */
export function openSqliteFile(path: string, shared = false): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    if (path !== ':memory:') createSqliteFile(path)
    db = new DatabaseSync(path, { timeout: 0 })
    // EXCLUSIVE before the first access: the lock is then acquired only once, and WAL needs no shared memory.
    if (!shared) db.exec('pragma locking_mode = exclusive')
    // 8 KiB: half as many page writes for batch bodies (a tenth less CPU), and hardly more data for small groups.
    db.exec('pragma page_size = 8192')
    db.exec('pragma journal_mode = wal')
    // `normal`: we flush the log to disk ourselves, see `flush` below.
    db.exec('pragma synchronous = normal; pragma temp_store = memory')
    // 64 MB; 16 MB for a shared file, whose scratch threads have their own caches.
    db.exec(`pragma cache_size = -${shared ? 16_384 : 65_536}`)
    // Erased texts are overwritten in the file. Pages that are freed cost a write more.
    db.exec('pragma secure_delete = on')
    // SQLite would make an index for a single execution, from the whole table: each join has an index, or joins few rows.
    db.exec('pragma automatic_index = off')
    db.exec(checkpointOften)
    db.exec('begin immediate; commit')
    addFunctions(db)
    return db
  } catch (error) {
    db?.close()
    throw toOpenError(path, error)
  }
}

/** Functions that PostgreSQL has, or that the migrations create there. There is one writer, so it has nothing to lock. */
export function addFunctions(db: DatabaseSync): void {
  db.function('sha256_hex', { deterministic: true }, (text) => hash('sha256', String(text)))
  db.function('lock_audit', () => 1)
  db.aggregate<string>('jsonb_agg', {
    start: '',
    step: (list, value) => `${list},${JSON.stringify(value)}`,
    result: (list) => `[${list.slice(1)}]`,
  })
}

export function createSqliteDatabase(db: DatabaseSync, path: string, shared = false): Database {
  const owner = newOwner()
  const wakers = createWakers()
  const owned = new Map<string, AbortController>()
  const prepared = new Map<Statement, PreparedRows>()
  const begin = db.prepare('begin immediate')
  const end = db.prepare('commit')
  let log: number | undefined
  const openLog = (): number => (log ??= openSync(`${path}-wal`, 'r+'))
  /** Open until the database is closed: closing a descriptor of the file releases all locks that this process has on it. */
  let file: number | undefined
  let held: PromiseWithResolvers<void> | undefined
  let closed = false

  function run({ statement, rows }: Op): object[] {
    demandOpen()
    const each = prepared.get(statement) ?? prepareRows(db, statement, prepared.size)
    prepared.set(statement, each)
    try {
      return each.run(rows)
    } catch (error) {
      throw addStatementName(statement, error)
    }
  }

  function inTransaction<T>(work: () => T): T {
    demandOpen()
    begin.run()
    try {
      const result = work()
      end.run()
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('rollback')
      for (const each of prepared.values()) each.afterRollback()
      throw error
    }
  }

  const readRows = (op: Op): object[] => (op.rows.length > 1 ? inTransaction(() => run(op)) : run(op))

  async function transact(parts: readonly Part[]): Promise<object[][]> {
    try {
      return inTransaction(() => parts.map((part) => (part.statement === wakeStatement ? [] : run(part))))
    } catch (error) {
      throw isUnavailable(error) ? new StoreUnavailable(`SQLite: ${(error as Error).message}`, { cause: error }) : error
    }
  }

  // Replaces `synchronous = full`, which would flush the write-ahead log in the event loop after each transaction: a thread of
  // Node's pool flushes it while the next transaction runs. Measured: 50 % more single messages.
  let broken: StoreUnavailable | undefined
  const flush = createFlusher(async () => {
    if (path === ':memory:') return
    if (broken) throw broken
    try {
      await syncLog(openLog())
    } catch (error) {
      // After a failed flush the kernel may mark unwritten pages as clean, so a retry proves nothing: the file must be reopened.
      broken = new StoreUnavailable(
        `SQLite: ${path} cannot be flushed to disk (${(error as Error).message}): repair the disk and restart`,
        { cause: error },
      )
      throw broken
    }
  })

  const health = createWriteHealth({
    store: path,
    probe: (large) => probeWrites({ engine: 'sqlite', owner: '', commit: group.commit }, large),
    onBack: wakers.notifyAll,
  })
  const group = createGroupCommit({
    transact: health.watch(transact),
    flush: health.watch(flush),
    onCommitted: wakers.notifyCommitted,
  })

  function demandOpen(): void {
    if (closed) throw new StoreUnavailable('The database is closed')
  }

  function holdFile(): HeldFile | undefined {
    demandOpen()
    if (held) return undefined
    db.exec(`${emptyLog}; pragma wal_autocheckpoint = 0`)
    file ??= openSync(path, 'r')
    const holding = Promise.withResolvers<void>()
    held = holding
    return {
      file: rangeOf(file),
      get log() {
        demandOpen()
        return rangeOf(openLog())
      },
      demandOpen,
      release() {
        if (held !== holding) return
        held = undefined
        holding.resolve()
        if (!closed) db.exec(`${checkpointOften}; ${emptyLog}`)
      },
    }
  }

  return {
    engine: 'sqlite',
    get outage() {
      return health.outage
    },
    checkWrites: health.check,
    owner,
    holdsLease: (id) => id === owner && !closed,
    commit: group.commit,
    async read<Out extends object>(op: Op<Out>) {
      checkRows(op)
      return readRows(op) as Out[]
    },
    readMerged: createMergedReads(async (reads) => reads.map(readRows)),
    async own(name): Promise<Ownership | undefined> {
      demandOpen()
      if (owned.has(name)) return undefined
      const lost = new AbortController()
      owned.set(name, lost)
      return {
        lost: lost.signal,
        async release() {
          if (owned.get(name) === lost) owned.delete(name)
        },
      }
    },
    alive: async (owners) => new Set(owners.filter((id) => id === owner && !closed)),
    wake: wakers.wake,
    onWake: wakers.onWake,
    async reclaim() {
      while (held) await held.promise
      if (!closed && path !== ':memory:') db.exec(emptyLog)
    },
    ...(path !== ':memory:' && { holdFile }),
    async scratch() {
      demandOpen()
      if (!shared) throw new TypeError('scratch() needs a SQLite file that was opened with `shared`')
      return openSqliteScratch(path)
    },
    async scratchTable(columns) {
      demandOpen()
      return createSqliteScratchTable(db, columns, demandOpen)
    },
    async close() {
      health.close()
      await group.idle()
      if (closed) return
      closed = true
      for (const lost of owned.values()) lost.abort()
      owned.clear()
      db.close()
      // A backup may be reading the file. It stays open for ever: the file may be open again in this process when the backup ends.
      if (file !== undefined && !held) closeSync(file)
      if (log !== undefined && !held) closeSync(log)
    },
  }
}

const rangeOf = (descriptor: number): FileRange => ({ descriptor, bytes: fstatSync(descriptor).size })

function addStatementName(statement: Statement, error: unknown): unknown {
  if (error instanceof Error && !error.message.startsWith(statement.name))
    error.message = `${statement.name}: ${error.message}`
  return error
}

// Primary result codes: https://sqlite.org/rescode.html
const unavailable = new Set([
  5 /* busy */, 8 /* readonly */, 10 /* ioerr */, 11 /* corrupt */, 13 /* full */, 14 /* cantopen */,
])

const isUnavailable = (error: unknown): boolean => unavailable.has(resultCode(error))
