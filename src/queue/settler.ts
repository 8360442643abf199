// Brings outcomes to the database: what calls hand over while a commit is in flight makes the next one.

import { isUntracked } from '../contract/answer.ts'
import { retryIn } from '../runtime/backoff.ts'
import { clock } from '../runtime/clock.ts'
import { emit, hasListeners } from '../runtime/events.ts'
import type { Database, Op } from '../store/database.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import type { Row } from './row.ts'
import type { Settled } from './run.ts'
import { type FailedRow, putOffOp, settleOps } from './settle.ts'
import { settledState } from './tables.ts'

/** What one call leads to in the database. */
export interface Result {
  readonly rows: Row[]
  readonly settled: Settled[]
  readonly failed: FailedRow[]
  readonly putOff: { readonly row: Row; readonly at: number }[]
  readonly writes: Op[]
}

export interface Settler {
  /** Rows that were handed over and are not committed yet. */
  readonly size: number
  add(result: Result): void
  idle(): Promise<void>
}

export interface SettlerOptions {
  readonly database: Database
  readonly lane: string
  /** Aborts when the lane is not ours any more: what is not committed then never will be. */
  readonly lost: AbortSignal
  /** These rows are on disk as settled or put off. */
  readonly onDone: (rows: readonly Row[]) => void
}

const storeBackoff = { firstMs: 100, mostMs: 5_000 }

export function createSettler({ database, lane, lost, onDone }: SettlerOptions): Settler {
  let waiting: Result[] = []
  let size = 0
  let flushing: Promise<void> | undefined

  async function flush(): Promise<void> {
    // Calls that end in the same turn travel together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0 && !lost.aborted) {
      const results = waiting
      waiting = []
      await settle(results)
    }
    flushing = undefined
  }

  // Until it succeeds or the lane is lost: what a provider accepted must not be sent again because our own store was away.
  async function settle(results: readonly Result[]): Promise<void> {
    for (let attempt = 1; !lost.aborted; attempt++) {
      try {
        await commit(results, true)
        return
      } catch (error) {
        if (!(error instanceof StoreUnavailable) && (await apart(results, error))) return
        emit('loop.failed', { loop: `settling ${lane}`, error: messageOf(error), inMs: storeBackoff.firstMs })
        await restOrLost(retryIn(attempt, storeBackoff, storeBackoff.firstMs))
      }
    }
  }

  /** One result that cannot be written must not hold up the others. @returns whether all are settled now */
  async function apart(results: readonly Result[], cause: unknown): Promise<boolean> {
    if (results.length > 1) {
      for (const result of results) await settle([result])
      return true
    }
    // The rows that the provider wants are the guilty ones, or it is the store itself. The outcome is true either way.
    if (results[0]?.writes.length === 0) return false
    try {
      await commit(results, false)
    } catch {
      return false
    }
    emit('provider.alert', {
      provider: lane,
      error: `the rows that came with an outcome cannot be written: ${messageOf(cause)}`,
      remedy: 'the outcome is settled without them; correct the provider',
    })
    return true
  }

  async function commit(results: readonly Result[], withWrites: boolean): Promise<void> {
    if (lost.aborted) return
    const rows = results.flatMap((result) => result.rows)
    const putOff = results.flatMap((result) => result.putOff)
    const settled = results.flatMap((result) => result.settled)
    const failed = results.flatMap((result) => result.failed)
    const ops: Op[] = rows.length > 0 ? settleOps(database.engine, lane, { rows, settled, failed }, clock.now()) : []
    if (putOff.length > 0) ops.push(putOffOp(lane, putOff))
    if (withWrites) for (const { writes } of results) ops.push(...writes)
    await database.commit(ops, { durable: rows.length > 0 })
    if (lost.aborted) return
    size -= rows.length + putOff.length
    onDone(rows)
    if (putOff.length > 0) onDone(putOff.map(({ row }) => row))
    if (hasListeners('item.settled')) for (const each of settled) announce(lane, each)
  }

  function restOrLost(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clock.clearTimeout(timer)
        lost.removeEventListener('abort', end)
        resolve()
      }
      const timer = clock.setTimeout(end, ms)
      lost.addEventListener('abort', end)
    })
  }

  return {
    get size() {
      return size
    },
    add(result) {
      if (lost.aborted) return
      size += result.rows.length + result.putOff.length
      waiting.push(result)
      flushing ??= flush()
    },
    async idle() {
      while (flushing) await flushing
    },
  }
}

function announce(lane: string, { seq, state, attempt, rule }: Settled): void {
  emit('item.settled', {
    lane,
    seq,
    category: state === settledState.successful ? 'successful' : 'failed',
    attempt,
    rule,
    untracked: isUntracked(rule),
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
