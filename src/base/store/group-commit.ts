import { clock } from '../runtime/clock.ts'
import { emit, hasListeners } from '../runtime/events.ts'
import { checkRows } from './check-rows.ts'
import type { Database, Op } from './database.ts'
import { distributeRows, mergeOps, type Part } from './merge.ts'
import { RowsUnavailable, StoreUnavailable } from './store-unavailable.ts'

export interface GroupCommitOptions {
  /** Runs the parts in one transaction that survives a crash of this process. Resolves with the returned rows of each part. */
  readonly transact: (parts: readonly Part[]) => Promise<readonly (readonly object[])[]>
  /** Resolves when everything committed before the call is on disk. */
  readonly flush: () => Promise<void>
  /** Called after each transaction, before its callers are answered. */
  readonly onCommitted: (parts: readonly Part[]) => void
  /** Each commit is durable, whatever its caller requests. */
  readonly allDurable?: boolean
  /** Limits for one transaction; the operations of one caller are never split. */
  readonly mostRows?: number
  readonly mostCharacters?: number
}

export interface GroupCommit {
  readonly commit: Database['commit']
  /** Rejects all callers that wait and are not in a transaction yet. */
  fail(error: StoreUnavailable): void
  /** Resolves when no caller waits and no transaction or flush is in flight. */
  idle(): Promise<void>
}

interface Caller {
  readonly ops: readonly Op[]
  readonly durable: boolean
  readonly rows: number
  readonly size: number
  readonly onWritten: (() => void) | undefined
  readonly resolve: (rows: readonly (readonly object[])[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * All callers that wait at the end of a turn of the event loop share one transaction; while it is in flight, further callers
 * wait for the next one. There is no timer, so a single caller on an idle store has no delay. Flushing overlaps with the next
 * transaction, and callers that need durability are answered when their flush is done.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { transact, flush, onCommitted, allDurable = false, mostRows = 5_000, mostCharacters = 64_000_000 } = options
  let waiting: Caller[] = []
  let busy = false
  let flushing = 0
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  function commit(
    ops: readonly Op[],
    { durable: isDurable = true, urgent = false, onWritten }: Parameters<Database['commit']>[1] = {},
  ): Promise<readonly (readonly object[])[]> {
    const durable = isDurable || allDurable
    return new Promise((resolve, reject) => {
      let rows = 0
      let size = 0
      for (const op of ops) {
        size += checkRows(op)
        rows += op.rows.length
      }
      if (rows === 0) return resolve(ops.map(() => []))
      // Copies: results are assigned by op object, and two callers may pass the same object.
      const caller: Caller = { ops: ops.map((op) => ({ ...op })), durable, rows, size, onWritten, resolve, reject }
      if (urgent) waiting.unshift(caller)
      else waiting.push(caller)
      if (busy) return
      busy = true
      idle = Promise.withResolvers()
      setImmediate(commitWaiting)
    })
  }

  async function commitWaiting(): Promise<void> {
    if (waiting.length > 0) await commitGroup(takeGroup())
    if (waiting.length > 0) return void setImmediate(commitWaiting)
    busy = false
    resolveIdle()
  }

  function resolveIdle(): void {
    if (!busy && flushing === 0) idle.resolve()
  }

  function takeGroup(): Caller[] {
    let rows = 0
    let size = 0
    const fits = (caller: Caller): boolean => {
      rows += caller.rows
      size += caller.size
      return rows <= mostRows && size <= mostCharacters
    }
    const end = waiting.findIndex((caller, i) => !fits(caller) && i > 0)
    const callers = end < 0 ? waiting : waiting.slice(0, end)
    waiting = end < 0 ? [] : waiting.slice(end)
    return callers
  }

  async function commitGroup(callers: readonly Caller[]): Promise<void> {
    try {
      await transactFor(callers)
    } catch (error) {
      if (callers.length > 1 && !isUnavailable(error)) return commitSeparately(callers, error)
      for (const caller of callers) caller.reject(error)
    }
  }

  // A row that the database rejects must fail only its own caller.
  async function commitSeparately(callers: readonly Caller[], cause: unknown): Promise<void> {
    emit('store.repeated', { callers: callers.length, error: cause instanceof Error ? cause.message : String(cause) })
    let unavailable: StoreUnavailable | undefined
    for (const caller of callers) {
      if (unavailable) caller.reject(unavailable)
      else {
        await transactFor([caller]).catch((error: unknown) => {
          if (isUnavailable(error)) unavailable = error
          caller.reject(error)
        })
      }
    }
  }

  async function transactFor(callers: readonly Caller[]): Promise<void> {
    const parts = mergeOps(callers.flatMap((caller) => caller.ops))
    const durable = callers.some((caller) => caller.durable)
    const began = clock.monotonic()
    const results = distributeRows(parts, await transact(parts))
    if (hasListeners('store.commit')) {
      const rows = parts.reduce((sum, part) => sum + part.rows.length, 0)
      emit('store.commit', { callers: callers.length, rows, ms: clock.monotonic() - began, durable })
    }
    onCommitted(parts)
    for (const caller of callers) caller.onWritten?.()
    const answer = (caller: Caller): void => caller.resolve(caller.ops.map((op) => results.get(op) ?? []))
    for (const caller of callers) if (!caller.durable) answer(caller)
    if (durable)
      void answerAfterFlush(
        callers.filter((caller) => caller.durable),
        answer,
      )
  }

  async function answerAfterFlush(callers: readonly Caller[], answer: (caller: Caller) => void): Promise<void> {
    flushing++
    try {
      await flush()
      for (const caller of callers) answer(caller)
    } catch (error) {
      for (const caller of callers) caller.reject(error)
    }
    flushing--
    resolveIdle()
  }

  return {
    commit: commit as Database['commit'],
    fail(error) {
      const callers = waiting
      waiting = []
      for (const caller of callers) caller.reject(error)
    },
    idle: () => idle.promise,
  }
}

/** Whether the store is unavailable for all callers. */
const isUnavailable = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable && !(error instanceof RowsUnavailable)
