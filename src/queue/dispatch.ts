// A lane at work: takes batches from its stock, calls, and decides what each outcome means. Everything here is in memory
// and belongs to one ownership; losing the lane drops it whole.

import type { Fatal } from '../contract/outcome.ts'
import { emit } from '../runtime/events.ts'
import { type Cut, cutBatch, orderedBy } from './batch.ts'
import { createHealth } from './health.ts'
import { createInFlight, type Kind } from './in-flight.ts'
import { createPace } from './pace.ts'
import type { Handle, Handled, Lane } from './queue.ts'
import { afterFatal } from './retry.ts'
import type { Row } from './row.ts'
import type { Result, Settler } from './settler.ts'
import { type Sorted, settle, sortOut } from './sort-out.ts'
import type { Stock } from './stock.ts'
import { createUsers } from './users.ts'

export interface DispatchOptions {
  readonly lane: Lane
  readonly handle: Handle
  readonly stock: Stock
  readonly settler: Settler
  /** Aborts when the process is stopping and running calls have had their time. */
  readonly signal: AbortSignal
  /** Aborts when the lane is not ours any more. */
  readonly lost: AbortSignal
  /** There may be something to do. */
  readonly wake: () => void
  /** The lane must wait for a person. */
  readonly pause: (reason: string) => void
}

export interface Dispatch {
  /** Begins what can begin now. @returns how many milliseconds until the next look; Infinity: until woken */
  turn(now: number): number
  /** Gives up calls that ignored their deadline. @returns how many milliseconds until the next look */
  endOverdue(now: number): number
  readonly calls: number
  readonly inFlight: number
  readonly heldSince: number | undefined
  readonly lastError: string | undefined
}

/** Answered and not yet committed: more would only grow a queue in memory. */
const mostUnsettled = 20_000
/** With more than this coming back later, memory is better used for others. */
const mostLater = { rows: 10_000, bytes: 32 * 1024 * 1024 }
/** Messages refused alone, one after the other, until the provider is to blame. */
const mostDoubts = 5

export function createDispatch(options: DispatchOptions): Dispatch {
  const { lane, handle, stock, settler, signal, lost, wake, pause } = options
  const ordered = lane.order === 'lane'
  const byUser = lane.order === 'user'
  const users = createUsers()
  const health = createHealth(lane.retry)
  const pace = createPace(lane.perSecond)
  const running = createInFlight({ lane, handle, signal, onEnd })
  /** Groups that stand for one call each; the last is next. */
  const suspects: Row[][] = []
  let searching = false
  let lastError: string | undefined
  /** An ordered lane waits until here, and shrinks its batches instead of splitting them. */
  let blockedUntil = 0
  let orderedMax = lane.max

  function turn(now: number): number {
    const restMs = Math.min(stock.comeBack(now) - now, running.endOverdue(now))
    while (running.calls < (ordered ? 1 : lane.concurrency) && settler.size < (ordered ? 1 : mostUnsettled)) {
      const next = choose(now)
      if (typeof next === 'number') return Math.min(restMs, next, running.endOverdue(now))
      const { kind, rows, full } = next
      if (kind === 'search') searching = true
      if (kind === 'probe') health.probe()
      pace.spend(rows.length, now)
      if (byUser) users.leave(rows)
      running.begin(kind, rows, now, full)
    }
    return Math.min(restMs, running.endOverdue(now))
  }

  /** What to call with, or how long to wait. */
  function choose(now: number): number | { kind: Kind; rows: Row[]; full: boolean } {
    const waitMs = Math.max(pace.waitMs(now), blockedUntil - now)
    if (waitMs > 0) return waitMs
    const { hold } = health
    if (hold) {
      if (hold.probing) return Number.POSITIVE_INFINITY
      if (now < hold.until) return hold.until - now
      if (stock.length === 0) return Number.POSITIVE_INFINITY
      // One message is enough to see, and all that is risked if the answer is lost.
      const one = byUser ? cut(1, now) : { take: 1, left: [] }
      return 'waitMs' in one ? one.waitMs : { kind: 'probe', rows: stock.take(one), full: false }
    }
    if (!searching) {
      const rows = suspects.pop()
      if (rows) return { kind: 'search', rows, full: false }
    }
    const next = cut(Math.min(orderedMax, pace.most), now)
    return 'waitMs' in next ? next.waitMs : { kind: 'batch', rows: stock.take(next), full: next.full }
  }

  function cut(max: number, now: number): Cut | { readonly waitMs: number } {
    if (!byUser) return cutBatch(stock, { ...lane, max }, now)
    const next = cutBatch(stock, { ...lane, max }, now, users.busy(now))
    return 'waitMs' in next ? { waitMs: Math.min(next.waitMs, users.restMs(now)) } : next
  }

  function onEnd(kind: Kind, rows: readonly Row[], outcomes: readonly Handled[]): void {
    if (kind === 'search') searching = false
    if (byUser) users.back(rows)
    if (lost.aborted) return
    decide(kind, rows, outcomes)
    wake()
  }

  function decide(kind: Kind, rows: readonly Row[], outcomes: readonly Handled[]): void {
    const now = Date.now()
    const sorted = sortOut(rows, outcomes)
    const result: Result = { ...sorted, putOff: [] }
    const { message, call, provider } = sorted.again
    const mine = [...message]
    const probe = kind === 'probe'
    if (sorted.worked) released(health.worked({ probe, items: rows.length, batch: kind === 'batch' }, now))
    if (sorted.worked && kind === 'batch') orderedMax = lane.max
    if (provider.length > 0) {
      // A probe always ends its hold, or nothing would ever go again. Who asks for time (or is not called at all, because
      // the breaker is open) gets it: a search would only run through the whole lane.
      const asked = provider.some(({ outcome }) => outcome.retryAfterMs !== undefined)
      if (!probe && !asked && health.relapsing(now)) (rows.length > 1 ? call : mine).push(...provider)
      else away(kind, provider, now)
    }
    if (call.length > 0) refused(kind, rows.length, call, mine, now)
    again(mine, result, now, rows)
    keepFailed(result)
    if (result.rows.length + result.putOff.length + result.writes.length > 0) settler.add(result)
    countRefusals(sorted)
  }

  /** The provider is away: no attempt is counted, the lane is held until a probe works. */
  function away(kind: Kind, again: Sorted['again']['provider'], now: number): void {
    const { outcome } = again[0] as { outcome: Fatal }
    hold(health.away({ probe: kind === 'probe', items: again.length }, now, outcome.retryAfterMs), outcome)
    // Another message probes next: this one might be what the provider cannot bear.
    const rows = again.map(({ row }) => row)
    if (kind === 'probe' && byUser) stock.behind(rows, (row) => orderedBy(row) === orderedBy(rows[0] as Row))
    else stock.back(rows, kind === 'probe' && !ordered ? 'end' : 'front')
    if (suspects.length > 0) stock.back(suspects.splice(0).reverse().flat(), 'front')
  }

  /** The call is to blame: halves, until the guilty message stands alone. Alone, it is guilty only if others get through. */
  function refused(
    kind: Kind,
    items: number,
    again: Sorted['again']['call'],
    mine: Sorted['again']['message'],
    now: number,
  ): void {
    const rows = again.map(({ row }) => row)
    const { outcome } = again[0] as { outcome: Fatal }
    if (kind === 'probe') {
      health.unclear(now)
      mine.push(...again)
    } else if (items === 1) {
      if (kind === 'batch' ? isOwnFault(again) : health.worksOtherwise(now)) mine.push(...again)
      else away(kind, again, now)
    } else if (ordered || byUser) {
      orderedMax = Math.ceil(items / 2)
      stock.back(rows, 'front')
    } else {
      const half = Math.ceil(rows.length / 2)
      if (rows.length > half) suspects.push(rows.slice(half))
      suspects.push(rows.slice(0, half))
    }
    lastError = outcome.error
  }

  /** One message that is refused alone is guilty; when one after the other is, and none gets through, it is the provider. */
  function isOwnFault([only]: Sorted['again']['call']): boolean {
    return only?.row.attempt !== 1 || health.doubt() < mostDoubts
  }

  /** The message is to blame: its own backoff. */
  function again(mine: Sorted['again']['message'], result: Result, now: number, call: readonly Row[]): void {
    const front: Row[] = []
    const held = new Set<string>()
    for (const { row, outcome } of mine) {
      lastError = outcome.error
      const crowded = stock.later >= mostLater.rows || stock.weight >= mostLater.bytes
      const verdict = afterFatal(row.attempt, outcome, lane.retry, crowded)
      if (verdict.is === 'given up') {
        settle(result, row, { ...outcome, category: 'failed', reason: 'expired', error: verdict.error })
        continue
      }
      // Behind another one of its user: it waits for that one, and it is no attempt of its own.
      if (byUser && held.has(orderedBy(row))) {
        front.push(row)
        continue
      }
      emit('item.retry', {
        lane: lane.name,
        seq: row.seq,
        attempt: row.attempt,
        reason: outcome.reason,
        inMs: verdict.inMs,
      })
      row.attempt++
      if (ordered) {
        front.push(row)
        if (front.length === 1) blockedUntil = now + verdict.inMs
      } else if (byUser) {
        front.push(row)
        held.add(orderedBy(row))
        users.rest(orderedBy(row), now + verdict.inMs)
      } else if (verdict.putOff) result.putOff.push({ row, at: now + verdict.inMs })
      else stock.returnAt(row, now + verdict.inMs)
    }
    // In the order in which they left.
    if (front.length === 0) return
    const them = new Set(front)
    stock.back(byUser ? call.filter((row) => them.has(row)) : front, 'front')
  }

  function keepFailed(result: Result): void {
    const last = result.failed.at(-1)
    if (last) lastError = last.error
    if (!lane.keepFailed) result.failed.length = 0
  }

  /** A long row of refusals is somebody's configuration, not a hundred bad messages (design §6). */
  function countRefusals({ refusals }: Sorted): void {
    const most = lane.refusals ?? 100
    for (const refusal of refusals) {
      if (health.refused(refusal && lane.max === 1) < most) continue
      health.refused(false)
      pause(
        `${most} messages in a row were refused (${lastError}): correct the key or the address, then resume the lane; what was skipped can be replayed`,
      )
    }
  }

  function hold(forMs: number | undefined, { error }: Fatal): void {
    lastError = error
    if (forMs !== undefined) emit('lane.held', { lane: lane.name, reason: error, forMs })
  }

  function released(heldMs: number | undefined): void {
    if (heldMs !== undefined) emit('lane.released', { lane: lane.name, heldMs })
  }

  return {
    turn,
    endOverdue: running.endOverdue,
    get calls() {
      return running.calls
    },
    get inFlight() {
      return running.items
    },
    get heldSince() {
      return health.hold?.since
    },
    get lastError() {
      return lastError
    },
  }
}
