import { emit, hasListeners } from '../runtime/events.ts'
import { checkRows } from './check-rows.ts'
import type { Database, Op } from './database.ts'
import { distributeRows, mergeOps, type Part } from './merge.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface GroupCommitOptions {
  /** Runs the parts in one transaction, safe from this process's death, and resolves with the returned rows of each. */
  readonly transact: (parts: readonly Part[]) => Promise<readonly (readonly object[])[]>
  /** Resolves when all that was committed before the call is on disk. */
  readonly flush: () => Promise<void>
  /** Called after each transaction, before its callers are answered. */
  readonly committed: (parts: readonly Part[]) => void
  /** Most rows, and characters, in one transaction; a single caller with more still goes whole. */
  readonly mostRows?: number
  readonly mostCharacters?: number
}

export interface GroupCommit {
  readonly commit: Database['commit']
  /** Rejects everything that waits and is not in flight. */
  fail(error: StoreUnavailable): void
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>
}

interface Caller {
  readonly ops: readonly Op[]
  readonly durable: boolean
  readonly rows: number
  readonly size: number
  readonly resolve: (rows: readonly (readonly object[])[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Everything that waits when a turn of the event loop ends becomes one transaction; while one is in flight, the next
 * grows. There is no timer: a single caller on an idle store waits for nobody. The disk is waited for apart: while it
 * works the next transaction runs, and those who asked for durability are answered when their flush is done.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { transact, flush, committed, mostRows = 5_000, mostCharacters = 64_000_000 } = options
  let waiting: Caller[] = []
  let busy = false
  let flushing = 0
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  function commit(ops: readonly Op[], { durable = true } = {}): Promise<readonly (readonly object[])[]> {
    return new Promise((resolve, reject) => {
      let rows = 0
      let size = 0
      for (const op of ops) {
        size += checkRows(op)
        rows += op.rows.length
      }
      if (rows === 0) return resolve(ops.map(() => []))
      // Copies: results find their way by the op object, and two callers may hand in the same one.
      waiting.push({ ops: ops.map((op) => ({ ...op })), durable, rows, size, resolve, reject })
      if (busy) return
      busy = true
      idle = Promise.withResolvers()
      setImmediate(turn)
    })
  }

  async function turn(): Promise<void> {
    if (waiting.length > 0) await together(next())
    if (waiting.length > 0) return void setImmediate(turn)
    busy = false
    rest()
  }

  function rest(): void {
    if (!busy && flushing === 0) idle.resolve()
  }

  function next(): Caller[] {
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

  async function together(callers: readonly Caller[]): Promise<void> {
    try {
      await transactFor(callers)
    } catch (error) {
      if (callers.length > 1 && !(error instanceof StoreUnavailable)) return apart(callers, error)
      for (const caller of callers) caller.reject(error)
    }
  }

  // One row that the database refuses must not fail its neighbours.
  async function apart(callers: readonly Caller[], cause: unknown): Promise<void> {
    emit('store.repeated', { callers: callers.length, error: cause instanceof Error ? cause.message : String(cause) })
    let away: StoreUnavailable | undefined
    for (const caller of callers) {
      if (away) caller.reject(away)
      else {
        await transactFor([caller]).catch((error: unknown) => {
          if (error instanceof StoreUnavailable) away = error
          caller.reject(error)
        })
      }
    }
  }

  async function transactFor(callers: readonly Caller[]): Promise<void> {
    const parts = mergeOps(callers.flatMap((caller) => caller.ops))
    const durable = callers.some((caller) => caller.durable)
    const began = performance.now()
    const results = distributeRows(parts, await transact(parts))
    if (hasListeners('store.commit')) {
      const rows = parts.reduce((sum, part) => sum + part.rows.length, 0)
      emit('store.commit', { callers: callers.length, rows, ms: performance.now() - began, durable })
    }
    committed(parts)
    const answer = (caller: Caller): void => caller.resolve(caller.ops.map((op) => results.get(op) ?? []))
    for (const caller of callers) if (!caller.durable) answer(caller)
    if (durable)
      void answerFlushed(
        callers.filter((caller) => caller.durable),
        answer,
      )
  }

  async function answerFlushed(callers: readonly Caller[], answer: (caller: Caller) => void): Promise<void> {
    flushing++
    try {
      await flush()
      for (const caller of callers) answer(caller)
    } catch (error) {
      for (const caller of callers) caller.reject(error)
    }
    flushing--
    rest()
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
