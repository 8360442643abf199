// A lane at work: takes batches from its stock, calls, and decides what each outcome means. Everything here is in memory
// and belongs to one ownership; losing the lane drops it whole.

import type { Fatal } from '../contract/outcome.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { type Cut, cutBatch, orderedBy } from './batch.ts'
import { createHealth } from './health.ts'
import { createInFlight, type Kind } from './in-flight.ts'
import { judge } from './judge.ts'
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
  /** The reason why this item is not delivered yet. Undefined: it was not tried, or the reason was dropped from memory. */
  why(seq: number): Why | undefined
}

export type Why = Pick<Fatal, 'reason' | 'error'>

/** Answered and not yet committed: more would only grow a queue in memory. */
const mostUnsettled = 20_000
/** Items whose reason for a retry is kept in memory. */
const mostWhy = 20_000
/** Delayed items in memory. Beyond this limit they wait in the store. */
const mostLater = { rows: 10_000, bytes: 32 * 1024 * 1024 }

type Again = Sorted['again'][Fatal['blame']]
/** A message with a backoff of its own; `counts`: so does the attempt. */
type Mine = Again[number] & { readonly counts: boolean }

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
  /** Of items with a backoff of their own, the oldest first. */
  const whys = new Map<number, Why>()
  /** Why the lane is held. */
  let heldFor: Why | undefined
  let lastError: string | undefined
  /** An ordered lane waits until here. */
  let blockedUntil = 0
  /** Messages in a batch: halved when a batch does not get through although a probe did, doubled by each that does. */
  let most = lane.max

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
      const one = byUser ? cut(1, now) : ordered ? { take: 1, left: [] } : cutProbe()
      return 'waitMs' in one ? one.waitMs : { kind: 'probe', rows: stock.take(one), full: false }
    }
    if (!searching) {
      const rows = suspects.pop()
      if (rows) return { kind: 'search', rows, full: false }
    }
    const next = cut(Math.min(most, pace.most), now)
    return 'waitMs' in next ? next.waitMs : { kind: 'batch', rows: stock.take(next), full: next.full }
  }

  function cut(max: number, now: number): Cut | { readonly waitMs: number } {
    if (!byUser) return cutBatch(stock, { ...lane, max }, now)
    const next = cutBatch(stock, { ...lane, max }, now, users.busy(now))
    return 'waitMs' in next ? { waitMs: Math.min(next.waitMs, users.restMs(now)) } : next
  }

  /** The first message that was not fatal yet in this outage: a message that was may itself be the cause. */
  function cutProbe(): Pick<Cut, 'take' | 'left'> {
    let first = 0
    while (first < stock.length && stock.at(first).doubtedAt === health.wins) first++
    if (first === stock.length) first = 0
    return { take: first + 1, left: Array.from({ length: first }, (_, i) => i) }
  }

  function onEnd(kind: Kind, rows: readonly Row[], outcomes: readonly Handled[]): void {
    if (kind === 'search') searching = false
    if (byUser) users.back(rows)
    if (lost.aborted) return
    decide(kind, rows, outcomes)
    wake()
  }

  function decide(kind: Kind, rows: readonly Row[], outcomes: readonly Handled[]): void {
    const now = clock.now()
    const sorted = sortOut(rows, outcomes)
    const result: Result = { ...sorted, putOff: [] }
    const { message, call, provider } = sorted.again
    const mine: Mine[] = message.map((each) => ({ ...each, counts: true }))
    if (sorted.worked) {
      released(health.worked({ probe: kind === 'probe', batch: kind === 'batch', delivered: sorted.delivered }, now))
      if (kind === 'batch') most = Math.min(lane.max, most * 2)
    }
    if (provider.length > 0) judgeAgain(kind, 'provider', provider, mine, now)
    if (call.length > 0) judgeAgain(kind, 'call', call, mine, now)
    again(mine, result, now, rows)
    keepFailed(result)
    if (result.rows.length + result.putOff.length + result.writes.length > 0) settler.add(result)
    countRefusals(sorted)
  }

  function judgeAgain(kind: Kind, blame: 'call' | 'provider', again: Again, mine: Mine[], now: number): void {
    const repeated = again.every(({ row }) => row.doubtedAt !== undefined && row.doubtedAt < health.wins)
    const fresh = again.some(({ row }) => row.doubtedAt !== health.wins)
    const asked = again.some(({ outcome }) => outcome.retryAfterMs !== undefined)
    const { doubts } = health
    const worksOtherwise = health.worksOtherwise(now)
    for (const { row } of again) row.doubtedAt = health.wins
    const judgement = judge({ kind, messages: again.length, blame, asked, repeated, doubts, worksOtherwise })
    if (judgement === 'hold') away(kind, again, now)
    else if (judgement === 'split') split(again)
    else mine.push(...again.map((each) => ({ ...each, counts: judgement === 'guilty' })))
    if (judgement === 'wait' && fresh) health.doubt()
  }

  /** An outage: no attempt is counted, the lane is held until a probe works. */
  function away(kind: Kind, again: Again, now: number): void {
    const probe = kind === 'probe'
    if (kind === 'batch' && !health.hold && health.onTrial) most = Math.ceil(again.length / 2)
    const { reason, error } = (again[0] as Again[number]).outcome
    const waits = again.map(({ outcome }) => outcome.retryAfterMs ?? 0)
    const forMs = health.away({ probe }, now, Math.max(...waits))
    lastError = error
    heldFor = { reason, error }
    if (forMs !== undefined) emit('lane.held', { lane: lane.name, reason: error, forMs })
    // Another message probes next: this one might be what the provider cannot bear.
    const rows = again.map(({ row }) => row)
    if (probe && byUser) stock.behind(rows, (row) => orderedBy(row) === orderedBy(rows[0] as Row))
    else stock.back(rows, probe && !ordered ? 'end' : 'front')
    if (suspects.length > 0) stock.back(suspects.splice(0).reverse().flat(), 'front')
  }

  /** Halves, until the guilty message stands alone; where there is an order, the next batch is half as large. */
  function split(again: Again): void {
    const rows = again.map(({ row }) => row)
    lastError = (again[0] as Again[number]).outcome.error
    const half = Math.ceil(rows.length / 2)
    if (ordered || byUser) {
      most = half
      stock.back(rows, 'front')
    } else suspects.push(rows.slice(half), rows.slice(0, half))
  }

  /** Each has its own backoff. */
  function again(mine: readonly Mine[], result: Result, now: number, call: readonly Row[]): void {
    const front: Row[] = []
    const held = new Set<string>()
    for (const { row, outcome, counts } of mine) {
      lastError = outcome.error
      const crowded = stock.later >= mostLater.rows || stock.weight >= mostLater.bytes
      const verdict = afterFatal(row, outcome, lane.retry, { counts, crowded })
      if (verdict.is === 'given up') {
        settle(result, row, { ...outcome, category: 'failed', reason: 'expired', error: verdict.error })
        continue
      }
      // Behind another one of its user: it waits for that one, and it is no attempt of its own.
      if (byUser && held.has(orderedBy(row))) {
        front.push(row)
        continue
      }
      const { seq, attempt } = row
      emit('item.retry', { lane: lane.name, seq, attempt, reason: outcome.reason, inMs: verdict.inMs })
      remember(seq, outcome)
      if (counts) row.attempt++
      else row.uncounted++
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

  function remember(seq: number, { reason, error }: Fatal): void {
    whys.delete(seq)
    whys.set(seq, { reason, error })
    if (whys.size > mostWhy) whys.delete(whys.keys().next().value as number)
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
    why: (seq) => (health.hold ? heldFor : whys.get(seq)),
  }
}
