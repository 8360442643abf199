import pg from 'pg'
import { emit } from '../runtime/events.ts'
import type { Op } from './database.ts'
import { newOwner } from './owner.ts'
import { classifyError, messageOf, toCallerError } from './postgres-errors.ts'
import { holdOwner, stillHeld } from './postgres-locks.ts'
import { plannerSettings } from './postgres-planner.ts'
import { runTransaction } from './postgres-run.ts'
import { op } from './statement.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface SessionOptions {
  readonly config: pg.ClientConfig
  /** The server ends the session, and with it all ownership, when this process is silent for so long. */
  readonly leaseMs: number
  /** An answer that takes longer means that the connection is dead. */
  readonly answerWithinMs: number
  readonly onLost: (error: StoreUnavailable) => void
}

/** One connection for all that is written, opened again when it is lost. Every opening is an owner of its own. */
export interface Session {
  readonly owner: string
  /** Whether the session of this owner lives: the server ends it when it hears nothing for the lease. */
  holdsLease(owner: string): boolean
  /** Changes with each opening. */
  readonly backend: number | undefined
  /** One transaction, after those that wait. Never runs on another connection than the one it was given to. */
  run(ops: readonly Op[]): Promise<object[][]>
  close(): Promise<void>
}

interface Opened {
  readonly client: pg.Client
  readonly backend: number
  readonly owner: string
  /** Before its last statement was sent. */
  readonly openedAt: Clocks
}

/** @throws when the first opening fails */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { leaseMs, answerWithinMs } = options
  let current: Opened | undefined = await open(options)
  let { owner } = current
  let usedAt = performance.now()
  /** The last request that the server answered was sent then: its clock of silence began later. */
  let heardAt = current.openedAt
  let queue: Promise<unknown> = Promise.resolve()
  let closed = false
  let lostAt = 0
  let again: NodeJS.Timeout | undefined
  watch(current)

  function watch(opened: Opened): void {
    opened.client.on('error', (error) => lose(opened, error))
    opened.client.on('end', () => lose(opened, new Error('the connection was closed')))
  }

  function run(ops: readonly Op[]): Promise<object[][]> {
    const given = current
    const turn = queue.then(() => submit(given, ops))
    queue = turn.catch(() => {})
    return turn
  }

  async function submit(given: Opened | undefined, ops: readonly Op[]): Promise<object[][]> {
    if (!given || given !== current)
      throw new StoreUnavailable(closed ? 'The database is closed' : 'PostgreSQL: not connected, trying again')
    const askedAt = readClocks()
    const silent = setTimeout(() => lose(given, new Error(`no answer within ${answerWithinMs} ms`)), answerWithinMs)
    try {
      const returned = await runTransaction(given.client, ops)
      if (given === current) heardAt = askedAt
      return returned
    } catch (error) {
      if (classifyError(error) === 'lost') lose(given, error)
      throw toCallerError(error)
    } finally {
      clearTimeout(silent)
      usedAt = performance.now()
    }
  }

  function lose(opened: Opened, error: unknown): void {
    if (opened !== current || closed) return
    current = undefined
    lostAt = Date.now()
    opened.client.connection.stream.destroy()
    emit('store.lost', { error: messageOf(error) })
    options.onLost(new StoreUnavailable(`PostgreSQL: connection lost: ${messageOf(error)}`, { cause: error }))
    again = setTimeout(reopen, 50, 1)
  }

  async function reopen(attempt: number): Promise<void> {
    const opened = await open(options).catch(() => undefined)
    if (closed) return void opened?.client.end()
    if (!opened) {
      again = setTimeout(reopen, Math.random() * Math.min(5_000, 100 * 2 ** attempt), attempt + 1)
      return
    }
    current = opened
    owner = opened.owner
    usedAt = performance.now()
    heardAt = opened.openedAt
    watch(opened)
    emit('store.back', { downMs: Date.now() - lostAt })
  }

  // Silent for a third of the lease: say something. Finding our own lock gone means that a pooler gave us another's connection.
  async function beat(): Promise<void> {
    const opened = current
    if (!opened || performance.now() - usedAt < leaseMs / 4) return
    const [held] = await run([op(stillHeld, [[opened.owner]])])
    if (held?.length === 0)
      lose(opened, new Error('our advisory lock is gone: connect directly or through a session pooler'))
  }
  const heart = setInterval(() => beat().catch(() => {}), leaseMs / 3)
  heart.unref()

  return {
    get owner() {
      return owner
    },
    get backend() {
      return current?.backend
    },
    holdsLease: (id) => current !== undefined && id === owner && elapsedSince(heardAt) < leaseMs,
    run,
    async close() {
      clearInterval(heart)
      clearTimeout(again)
      await queue
      closed = true
      const opened = current
      current = undefined
      await opened?.client.end()
    },
  }
}

async function open({ config, leaseMs, answerWithinMs }: SessionOptions): Promise<Opened> {
  const client = new pg.Client({
    ...config,
    application_name: 'bellwire writer',
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  })
  // Until the session watches it: an error while connecting rejects connect(), and must not end the process besides.
  client.on('error', () => {})
  try {
    await client.connect()
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
      throw new Error('a transaction pooler is in between: connect directly or through a session pooler')
    }
    return { client, backend: holder.backend, owner, openedAt }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

interface Clocks {
  readonly monotonic: number
  readonly wall: number
}

const readClocks = (): Clocks => ({ monotonic: performance.now(), wall: Date.now() })

/** By the clock that has gone further: the monotonic one stands still while the machine is suspended, the other one may be set back. */
function elapsedSince({ monotonic, wall }: Clocks): number {
  return Math.max(performance.now() - monotonic, Date.now() - wall)
}
