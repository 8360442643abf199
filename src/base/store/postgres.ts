import pg from 'pg'
import { clock } from '../runtime/clock.ts'
import { answerWithin } from './answer-within.ts'
import { checkRows } from './check-rows.ts'
import type { Database, Op, Ownership, PartitionedTable } from './database.ts'
import { createFlusher } from './flusher.ts'
import { createGroupCommit } from './group-commit.ts'
import type { Part } from './merge.ts'
import { createMergedReads } from './merged-reads.ts'
import { type PostgresConfig, placeOf } from './postgres-address.ts'
import { StoreClient, type StoreClientConfig } from './postgres-client.ts'
import { postgresDefaults } from './postgres-defaults.ts'
import { toCallerError } from './postgres-errors.ts'
import { openLogFlusher } from './postgres-flusher.ts'
import { openListener } from './postgres-listener.ts'
import {
  aliveOwners,
  evictStalledHolder,
  evictStalledOwner,
  releaseOwnership,
  takeOwnership,
} from './postgres-locks.ts'
import { dropPartitions } from './postgres-partitions.ts'
import { plannerSettings } from './postgres-planner.ts'
import { runRead, runReads } from './postgres-run.ts'
import { openPostgresScratch } from './postgres-scratch.ts'
import { openPostgresScratchTable } from './postgres-scratch-table.ts'
import { openSession } from './postgres-session.ts'
import { vacuum } from './postgres-vacuum.ts'
import { op } from './statement.ts'
import { StoreUnavailable } from './store-unavailable.ts'
import { createWakers } from './wakers.ts'
import { createWriteHealth } from './write-health.ts'
import { probeWrites } from './write-probe.ts'

export interface PostgresOptions {
  /** A process that is silent for this long loses all that it owns. Default 10 s. */
  readonly leaseMs?: number
  /** Timeout of a transaction, after which its connection is closed. Default 30 s. */
  readonly answerWithinMs?: number
  /** Number of read-only connections. Default 4. */
  readonly readers?: number
}

/**
 * PostgreSQL 15 or later, connected directly or through a session pooler. One connection commits and holds this process's
 * locks, so that a process that loses its locks can no longer commit; one listens for notifications; a few read.
 *
 * @throws if the database cannot be reached now; a connection that is lost later is reopened
 */
export async function createPostgresDatabase(
  config: PostgresConfig,
  options: PostgresOptions & { readonly partitioned?: readonly PartitionedTable[] } = {},
): Promise<Database> {
  const { leaseMs = postgresDefaults.leaseMs, answerWithinMs = 30_000, readers = 4, partitioned = [] } = options
  const wakers = createWakers()
  const owned = new Map<string, AbortController>()

  // Created before the session, which may be lost while the rest is still being opened.
  const health = createWriteHealth({
    store: placeOf(config),
    probe: (large) => probeWrites({ engine: 'postgres', owner: session.owner, commit: group.commit }, large),
    onBack: wakers.notifyAll,
  })
  const group = createGroupCommit({
    transact: health.watch((parts: readonly Part[]) => session.run(parts)),
    flush: health.watch(flush),
    onCommitted: wakers.notifyCommitted,
    // A server that is promoted lacks what was not replicated. A lost claim would be a second delivery that nobody counts.
    allDurable: config.servers.length > 1,
  })

  const flusher = openLogFlusher(config, answerWithinMs)
  const flushLog = createFlusher(() => flusher.flush(session.owner))
  /** Called right after a commit. If its session was lost meanwhile, the log that was flushed may lack it. */
  async function flush(): Promise<void> {
    const { owner } = session
    await flushLog()
    if (session.owner !== owner)
      throw new StoreUnavailable('PostgreSQL: the connection was lost before the commit was known to be on disk')
  }
  const session = await openSession({
    config,
    leaseMs,
    answerWithinMs,
    onLost(error) {
      health.lose(error)
      failOwnerships(error)
    },
    onNotReopened: health.lose,
    onReopened() {
      followSession()
      void health.probe().catch(() => {})
    },
  })
  const listener = await openListener(config, notifyFromOthers, wakers.notifyAll).catch(async (error: unknown) => {
    health.close()
    await session.close()
    throw error
  })
  const ofReaders: StoreClientConfig & pg.PoolConfig = {
    ...config,
    Client: StoreClient,
    max: readers,
    application_name: 'bellwire reader',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    settings: [`statement_timeout = ${answerWithinMs}`, ...plannerSettings],
  }
  const createPool = (): pg.Pool => {
    const created = new pg.Pool(ofReaders)
    created.on('error', () => {})
    return created
  }
  let pool = createPool()

  /** The session may be on another server now, and the other connections on one that lost its role. */
  function followSession(): void {
    if (config.servers.length === 1 || pool.ending) return
    void pool.end().catch(() => {})
    pool = createPool()
    listener.reopen()
  }

  function failOwnerships(error: StoreUnavailable): void {
    for (const ownership of owned.values()) ownership.abort(error)
    owned.clear()
    group.fail(error)
  }

  // Our own listeners were notified after the commit.
  function notifyFromOthers(topic: string, backend: number): void {
    if (backend !== session.backend) wakers.notify(topic)
  }

  async function own(name: string): Promise<Ownership | undefined> {
    if (owned.has(name)) return undefined
    const controller = new AbortController()
    owned.set(name, controller)
    try {
      const [acquired] = await session.run([op(takeOwnership, [[name]])])
      controller.signal.throwIfAborted()
      if (acquired?.length === 1) return { lost: controller.signal, release: () => release(name, controller) }
      await session.run([op(evictStalledHolder, [[name, leaseMs]])])
    } catch (error) {
      if (owned.get(name) === controller) owned.delete(name)
      throw error
    }
    if (owned.get(name) === controller) owned.delete(name)
    return undefined
  }

  let evictedAt = Number.NEGATIVE_INFINITY
  async function evictStalledOwners(alive: readonly { owner: string }[]): Promise<void> {
    if (alive.length === 0 || clock.monotonic() - evictedAt < leaseMs / 2) return
    evictedAt = clock.monotonic()
    const rows = alive.map(({ owner }) => [owner, leaseMs])
    await session.run([op(evictStalledOwner, rows)])
  }

  async function release(name: string, controller: AbortController): Promise<void> {
    if (controller.signal.aborted || owned.get(name) !== controller) return
    // `owned` keeps the name until the server has released the lock: this session could acquire the same lock twice.
    await session.run([op(releaseOwnership, [[name]])]).catch(() => {})
    if (owned.get(name) === controller) owned.delete(name)
  }

  async function read<Out extends object>(query: Op<Out>): Promise<readonly Out[]> {
    checkRows(query)
    return query.rows.length === 0 ? [] : ((await inReader((client) => runRead(client, query))) as Out[])
  }

  async function inReader<Result>(run: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    if (pool.ending) throw new StoreUnavailable('The database is closed')
    let client: pg.PoolClient | undefined
    try {
      client = await pool.connect()
      const result = await answerWithin(answerWithinMs, run(client))
      client.release()
      return result
    } catch (error) {
      const cause = error instanceof StoreUnavailable ? error : toCallerError(error)
      client?.release(cause instanceof StoreUnavailable)
      throw cause
    }
  }

  return {
    engine: 'postgres',
    get owner() {
      return session.owner
    },
    get outage() {
      return health.outage
    },
    checkWrites: health.check,
    holdsLease: (owner) => session.holdsLease(owner),
    commit: group.commit,
    read,
    readMerged: createMergedReads((reads) => inReader((client) => runReads(client, reads))),
    own,
    async alive(owners) {
      if (owners.length === 0) return new Set()
      const rows = owners.map((owner) => [owner])
      const [alive = []] = (await session.run([op(aliveOwners, rows)])) as { owner: string }[][]
      await evictStalledOwners(alive)
      return new Set(alive.map(({ owner }) => owner))
    },
    wake: wakers.wake,
    onWake: wakers.onWake,
    dropPartitions: (table, before) => dropPartitions(config, partitioned, { table, before, withinMs: answerWithinMs }),
    reclaim: (tables) => vacuum(config, tables),
    async scratch() {
      if (pool.ending) throw new StoreUnavailable('The database is closed')
      return openPostgresScratch(config)
    },
    async scratchTable(columns) {
      if (pool.ending) throw new StoreUnavailable('The database is closed')
      return openPostgresScratchTable(config, columns)
    },
    async close() {
      health.close()
      await group.idle()
      for (const ownership of owned.values()) ownership.abort(new StoreUnavailable('The database is closed'))
      owned.clear()
      await Promise.all([session.close(), flusher.close(), listener.close(), pool.ending ? undefined : pool.end()])
    },
  }
}
