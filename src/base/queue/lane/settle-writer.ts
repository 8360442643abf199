// Writes outcomes to the database. Results that arrive during a commit are collected for the next commit.

import { retryIn } from '../../runtime/backoff.ts'
import { clock } from '../../runtime/clock.ts'
import { emit, hasListeners } from '../../runtime/events.ts'
import { messageOf } from '../../runtime/message-of.ts'
import { sleep } from '../../runtime/sleep.ts'
import type { Database, Op } from '../../store/database.ts'
import { StoreUnavailable } from '../../store/store-unavailable.ts'
import { eventFieldsOf, isMessage } from '../item-keys.ts'
import { outcomeCountsOp } from '../outcome-counts.ts'
import type { Lane } from '../queue.ts'
import { settledState } from '../tables.ts'
import { attemptsOp } from './attempts.ts'
import type { BufferedItem } from './buffered-item.ts'
import { type FinalItem, type PostponedItem, postponeOp, settleOps } from './settle-ops.ts'

/** The changes of one call to the database. */
export interface CallResult {
  readonly final: readonly FinalItem[]
  readonly postponed: readonly PostponedItem[]
  readonly writes: readonly Op[]
}

export interface SettleWriter {
  /** The number of items that were added and are not committed yet. */
  readonly size: number
  /** The number of results that would be lost if this process were killed now. */
  readonly unwritten: number
  add(result: CallResult): void
  /** Resolves when no result waits for a commit. */
  idle(): Promise<void>
}

export interface SettleWriterOptions {
  readonly database: Database
  readonly lane: Pick<Lane, 'name' | 'keepFailed'>
  /** Aborts when this process no longer owns the lane. Results that are not committed by then are dropped. */
  readonly lost: AbortSignal
  /** Called when results are written: `unwritten` is smaller than before. */
  readonly onWritten: () => void
  /** Receives items that were committed as settled or postponed. */
  readonly onCommitted: (items: readonly BufferedItem[]) => void
}

const storeBackoff = { firstMs: 100, mostMs: 5_000 }

export function createSettleWriter(options: SettleWriterOptions): SettleWriter {
  const { database, lane, lost, onWritten, onCommitted } = options
  const unwritten = new Set<CallResult>()
  let waiting: CallResult[] = []
  let size = 0
  let flushing: Promise<void> | undefined

  async function flushResults(): Promise<void> {
    // Calls that end in the same turn share a commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0 && !lost.aborted) {
      const results = waiting
      waiting = []
      await settleResults(results)
    }
    flushing = undefined
  }

  // Retries until it succeeds or the lane is lost: a message that a provider accepted must not be sent again because of our store.
  async function settleResults(results: readonly CallResult[]): Promise<void> {
    for (let attempt = 1; !lost.aborted; attempt++) {
      try {
        await commitResults(results, true)
        return
      } catch (error) {
        if (!(error instanceof StoreUnavailable) && (await settleSeparately(results, error))) return
        emit('loop.failed', {
          loop: `settling ${lane.name}`,
          error: messageOf(error),
          inMs: storeBackoff.firstMs,
          failures: attempt,
          unavailable: error instanceof StoreUnavailable,
        })
        await sleep(retryIn(attempt, storeBackoff, storeBackoff.firstMs), lost)
      }
    }
  }

  /** Isolates a result that cannot be written, so that it does not delay the others. @returns whether all results are settled */
  async function settleSeparately(results: readonly CallResult[], cause: unknown): Promise<boolean> {
    if (results.length > 1) {
      for (const result of results) await settleResults([result])
      return true
    }
    // The cause is either the provider's own rows or the store. The outcome itself is valid in both cases.
    if (results[0]?.writes.length === 0) return false
    try {
      await commitResults(results, false)
    } catch {
      return false
    }
    emit('provider.alert', {
      provider: lane.name,
      error: `the rows that came with an outcome cannot be written: ${messageOf(cause)}`,
      remedy: 'the outcome is settled without them; correct the provider',
    })
    return true
  }

  async function commitResults(results: readonly CallResult[], withWrites: boolean): Promise<void> {
    if (lost.aborted) return
    const final = results.flatMap((result) => result.final)
    const postponed = results.flatMap((result) => result.postponed)
    const items = final.map(({ item }) => item)
    const settled = final.map((each) => each.settled)
    const failed = final.flatMap((each) => each.failed ?? [])
    const { name, keepFailed } = lane
    const ops =
      items.length > 0 ? settleOps(database.engine, name, { items, settled, failed, keepFailed }, clock.now()) : []
    if (items.length > 0) ops.push(outcomeCountsOp(lane.name, final))
    if (postponed.length > 0) ops.push(postponeOp(lane.name, postponed))
    const retried = [...items, ...postponed.map(({ item }) => item)].filter((item) => item.earlierAttempts)
    if (retried.length > 0) ops.push(attemptsOp(retried))
    if (withWrites) for (const { writes } of results) ops.push(...writes)
    try {
      await database.commit(ops, { durable: items.length > 0, onWritten: () => markWritten(results) })
    } catch (error) {
      for (const result of results) unwritten.add(result)
      throw error
    }
    markWritten(results)
    if (lost.aborted) return
    size -= items.length + postponed.length
    onCommitted(items)
    if (postponed.length > 0) onCommitted(postponed.map(({ item }) => item))
    if (!hasListeners('item.settled')) return
    const now = clock.now()
    for (const each of final) emitSettled(lane.name, each, now)
  }

  function markWritten(results: readonly CallResult[]): void {
    for (const result of results) unwritten.delete(result)
    onWritten()
  }

  return {
    get size() {
      return size
    },
    get unwritten() {
      return unwritten.size
    },
    add(result) {
      if (lost.aborted) return
      size += result.final.length + result.postponed.length
      unwritten.add(result)
      waiting.push(result)
      flushing ??= flushResults()
    },
    async idle() {
      while (flushing) await flushing
    },
  }
}

function emitSettled(lane: string, { item, settled }: FinalItem, now: number): void {
  const { seq, state, attempt, rule, ref } = settled
  emit('item.settled', {
    ...eventFieldsOf(lane, { seq, key: item.key, attempt }),
    ...(ref !== undefined && { ref }),
    ...(settled.reason !== undefined && { reason: settled.reason }),
    category: state === settledState.successful ? 'successful' : 'failed',
    rule,
    ageMs: Math.max(0, now - item.enqueuedAt),
    untracked: state === settledState.successful && ref === undefined && isMessage(item.key),
  })
}
