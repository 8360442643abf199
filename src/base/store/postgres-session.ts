import type pg from 'pg'
import { clock } from '../runtime/clock.ts'
import { messageOf } from '../runtime/message-of.ts'
import { random } from '../runtime/random.ts'
import type { Op } from './database.ts'
import { newOwner } from './owner.ts'
import { connected, createClient } from './postgres-client.ts'
import { classifyError, toCallerError } from './postgres-errors.ts'
import { holdOwner, stillHeld } from './postgres-locks.ts'
import { plannerSettings } from './postgres-planner.ts'
import { demandWritable } from './postgres-preconditions.ts'
import { runTransaction } from './postgres-run.ts'
import { op } from './statement.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface SessionOptions {
  readonly config: pg.ClientConfig
  /** The server ends the session, and all its ownerships, when this process is silent for this long. */
  readonly leaseMs: number
  /** Timeout of an answer, after which the connection counts as lost. */
  readonly answerWithinMs: number
  readonly onLost: (error: StoreUnavailable) => void
  /** The connection could not be reopened: it is tried again. */
  readonly onNotReopened: (error: unknown) => void
  readonly onReopened: () => void
}

/** The connection for all writes, which is reopened when it is lost. Each opening has a new owner id. */
export interface Session {
  readonly owner: string
  /** Whether the session of this owner is alive: the server ends a session that is silent for the lease. */
  holdsLease(owner: string): boolean
  /** The process id of the server's backend, different for each opening; undefined while disconnected. */
  readonly backend: number | undefined
  /** Runs one transaction after the earlier ones. Rejects if the connection was lost meanwhile; it never runs on a new one. */
  run(ops: readonly Op[]): Promise<object[][]>
  close(): Promise<void>
}

interface Opened {
  readonly client: pg.Client
  readonly backend: number
  readonly owner: string
  /** The time before its last statement was sent. */
  readonly openedAt: Clocks
}

/** Short, so that the store is back soon after the server is. */
const longestReopenMs = 1_000

/** @throws if the first connection cannot be opened */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { leaseMs, answerWithinMs } = options
  let current: Opened | undefined = await open(options)
  let { owner } = current
  /** The send time of the last answered request: the server's idle timeout started later. */
  let leaseFrom = current.openedAt
  let queue: Promise<unknown> = Promise.resolve()
  let closed = false
  let reopenTimer: NodeJS.Timeout | undefined
  /** Why there is no connection. */
  let lost = ''
  watch(current)

  function watch(opened: Opened): void {
    opened.client.on('error', (error) => markLost(opened, error))
    opened.client.on('end', () => markLost(opened, new Error('the connection was closed')))
  }

  function run(ops: readonly Op[]): Promise<object[][]> {
    const opened = current
    const result = queue.then(() => submit(opened, ops))
    queue = result.catch(() => {})
    return result
  }

  async function submit(opened: Opened | undefined, ops: readonly Op[]): Promise<object[][]> {
    if (!opened || opened !== current)
      throw new StoreUnavailable(closed ? 'The database is closed' : `PostgreSQL: not connected, reconnecting: ${lost}`)
    const sentAt = readClocks()
    const timeoutError = (): Error => new Error(`no answer within ${answerWithinMs} ms`)
    const timeout = clock.setTimeout(() => markLost(opened, timeoutError()), answerWithinMs)
    try {
      const returned = await runTransaction(opened.client, ops)
      if (opened === current) leaseFrom = sentAt
      return returned
    } catch (error) {
      if (classifyError(error) === 'lost') markLost(opened, error)
      throw toCallerError(error)
    } finally {
      clock.clearTimeout(timeout)
    }
  }

  function markLost(opened: Opened, error: unknown): void {
    if (opened !== current || closed) return
    current = undefined
    opened.client.connection.stream.destroy()
    lost = messageOf(error)
    options.onLost(new StoreUnavailable(`PostgreSQL: connection lost: ${lost}`, { cause: error }))
    reopenTimer = clock.setTimeout(() => reopen(1), 50)
  }

  async function reopen(attempt: number): Promise<void> {
    const opened = await open(options).catch((error: unknown) => {
      lost = messageOf(error)
      options.onNotReopened(error)
    })
    if (closed) return void opened?.client.end()
    if (!opened) {
      const inMs = random.fraction() * Math.min(longestReopenMs, 100 * 2 ** attempt)
      reopenTimer = clock.setTimeout(() => reopen(attempt + 1), inMs)
      return
    }
    current = opened
    owner = opened.owner
    leaseFrom = opened.openedAt
    watch(opened)
    options.onReopened()
  }

  // Keeps an idle session alive. If our lock is missing, a transaction pooler has assigned us another connection.
  async function sendHeartbeat(): Promise<void> {
    const opened = current
    if (!opened) return
    const [held] = await run([op(stillHeld, [[opened.owner]])])
    if (held?.length === 0)
      markLost(
        opened,
        new Error('the advisory lock of this session is gone: connect directly or through a session pooler'),
      )
  }
  const heartbeat = clock.setInterval(() => sendHeartbeat().catch(() => {}), leaseMs / 3)
  heartbeat.unref()

  return {
    get owner() {
      return owner
    },
    get backend() {
      return current?.backend
    },
    holdsLease: (id) => current !== undefined && id === owner && elapsedSince(leaseFrom) < leaseMs,
    run,
    async close() {
      clock.clearInterval(heartbeat)
      clock.clearTimeout(reopenTimer)
      await queue
      closed = true
      const opened = current
      current = undefined
      await opened?.client.end()
    },
  }
}

async function open({ config, leaseMs, answerWithinMs }: SessionOptions): Promise<Opened> {
  const client = createClient({ ...config, application_name: 'bellwire writer', pipeline: true })
  return connected(client, async () => {
    await demandWritable(client)
    await client.query(
      `set idle_session_timeout = ${leaseMs};
       set statement_timeout = ${Math.floor(answerWithinMs * 0.8)};
       ${plannerSettings.map((setting) => `set ${setting};`).join('\n       ')}
       set synchronous_commit = off`,
    )
    const owner = newOwner()
    const [held] = await runTransaction(client, [op(holdOwner, [[owner]])])
    const openedAt = readClocks()
    const [still] = await runTransaction(client, [op(stillHeld, [[owner]])])
    const holder = held?.[0] as { backend: number } | undefined
    if (!holder || still?.length !== 1) {
      throw new Error('the connection goes through a transaction pooler: connect directly or through a session pooler')
    }
    return { client, backend: holder.backend, owner, openedAt }
  })
}

interface Clocks {
  readonly monotonic: number
  readonly wall: number
}

const readClocks = (): Clocks => ({ monotonic: clock.monotonic(), wall: clock.now() })

/** Uses the clock that advanced further: the monotonic one stops while the machine is suspended, the other may be set back. */
function elapsedSince({ monotonic, wall }: Clocks): number {
  return Math.max(clock.monotonic() - monotonic, clock.now() - wall)
}
