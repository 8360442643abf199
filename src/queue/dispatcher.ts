// Sends the items of a lane: cuts batches from the buffer, starts calls, and decides the next step from the outcomes. Its
// state is in memory and is dropped when the lane is lost.

import type { Fatal } from '../contract/outcome.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { createBlockedUsers } from './blocked-users.ts'
import type { BufferedItem } from './buffered-item.ts'
import { classifyOutcomes, type FatalItem, finalItem } from './classify.ts'
import { type BatchCut, cutBatch, orderingUser } from './cut-batch.ts'
import { judgeFatals } from './judge-fatals.ts'
import type { LaneBuffer } from './lane-buffer.ts'
import { planRetry } from './plan-retry.ts'
import { createProviderHealth } from './provider-health.ts'
import type { HandledOutcome, Lane, LaneHandler } from './queue.ts'
import { createRateLimit } from './rate-limit.ts'
import { type CallKind, createRunningCalls } from './running-calls.ts'
import type { FinalItem, PostponedItem } from './settle-ops.ts'
import type { SettleWriter } from './settle-writer.ts'

export interface DispatcherOptions {
  readonly lane: Lane
  readonly handle: LaneHandler
  readonly buffer: LaneBuffer
  readonly settleWriter: SettleWriter
  /** Aborts when the process stops and the time for running calls is over. */
  readonly signal: AbortSignal
  /** Aborts when this process no longer owns the lane. */
  readonly lost: AbortSignal
  /** Called when a call has ended and startCalls() may have work. */
  readonly wake: () => void
  /** Pauses the lane until a person resumes it. */
  readonly pause: (reason: string) => void
}

export interface Dispatcher {
  /** Starts all calls that can start now. @returns how many milliseconds until the next check; Infinity: until woken */
  startCalls(now: number): number
  /** Ends calls that ignored their deadline. @returns how many milliseconds until the next call is overdue */
  endOverdueCalls(now: number): number
  readonly calls: number
  readonly inFlight: number
  readonly heldSince: number | undefined
  readonly lastError: string | undefined
  /** Why this item is not delivered yet. Undefined: it was not tried, or the reason was dropped from memory. */
  findWaitReason(seq: number): WaitReason | undefined
}

export type WaitReason = Pick<Fatal, 'reason' | 'error'>

/** The most answered items that wait for a commit. While there are more, no call starts. */
const maxUnsettled = 20_000
/** The most items whose reason for a retry is kept in memory. */
const maxWaitReasons = 20_000
/** The limits of delayed items in memory. Beyond them, items are postponed in the store. */
const maxDelayed = { items: 10_000, bytes: 32 * 1024 * 1024 }

interface NextCall {
  readonly kind: CallKind
  readonly items: BufferedItem[]
  readonly full: boolean
}
interface Wait {
  readonly waitMs: number
}
/** A fatal item with its own backoff. `counts`: the attempt counts (row 53). */
interface RetryItem extends FatalItem {
  readonly counts: boolean
}
interface ScheduledRetries {
  readonly givenUp: readonly FinalItem[]
  readonly postponed: readonly PostponedItem[]
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { lane, handle, buffer, settleWriter, signal, lost, wake, pause } = options
  const ordered = lane.order === 'lane'
  const byUser = lane.order === 'user'
  const blockedUsers = createBlockedUsers()
  const health = createProviderHealth(lane.retry)
  const rateLimit = createRateLimit(lane.perSecond)
  const running = createRunningCalls({ lane, handle, signal, onEnd })
  /** The parts of split batches that wait for a call of their own. The last part is next. */
  const splitParts: BufferedItem[][] = []
  let splitCallRunning = false
  /** The wait reasons of items with their own backoff, the oldest first. */
  const waitReasons = new Map<number, WaitReason>()
  let holdReason: WaitReason | undefined
  let lastError: string | undefined
  /** An ordered lane starts no call before this time. */
  let blockedUntil = 0
  /** The most messages in a batch. Halved when batches fail although a probe succeeded, doubled by each batch that succeeds. */
  let batchMax = lane.max

  function startCalls(now: number): number {
    const waitMs = Math.min(buffer.requeueDue(now) - now, running.endOverdueCalls(now))
    while (running.calls < (ordered ? 1 : lane.concurrency) && settleWriter.size < (ordered ? 1 : maxUnsettled)) {
      const next = takeNextCall(now)
      if ('waitMs' in next) return Math.min(waitMs, next.waitMs, running.endOverdueCalls(now))
      const { kind, items, full } = next
      if (kind === 'split') splitCallRunning = true
      if (kind === 'probe') health.startProbe()
      rateLimit.recordCall(items.length, now)
      if (byUser) blockedUsers.startCall(items)
      running.startCall(kind, items, now, full)
    }
    return Math.min(waitMs, running.endOverdueCalls(now))
  }

  function takeNextCall(now: number): NextCall | Wait {
    const waitMs = Math.max(rateLimit.waitMs(now), blockedUntil - now)
    if (waitMs > 0) return { waitMs }
    if (health.hold) return takeProbe(now)
    const items = splitCallRunning ? undefined : splitParts.pop()
    if (items) return { kind: 'split', items, full: false }
    const cut = cutNextBatch(Math.min(batchMax, rateLimit.maxItems), now)
    return 'waitMs' in cut ? cut : { kind: 'batch', items: buffer.takeBatch(cut), full: cut.full }
  }

  function takeProbe(now: number): NextCall | Wait {
    const { hold } = health
    if (!hold || hold.probing) return { waitMs: Number.POSITIVE_INFINITY }
    if (now < hold.until) return { waitMs: hold.until - now }
    if (buffer.length === 0) return { waitMs: Number.POSITIVE_INFINITY }
    // One message is enough for a probe, and limits what is at risk if the answer is lost.
    const cut = byUser ? cutNextBatch(1, now) : ordered ? { scanned: 1, skipped: [] } : cutUnsuspectedItem()
    return 'waitMs' in cut ? cut : { kind: 'probe', items: buffer.takeBatch(cut), full: false }
  }

  function cutNextBatch(max: number, now: number): BatchCut | Wait {
    if (!byUser) return cutBatch(buffer, { ...lane, max }, now)
    const cut = cutBatch(buffer, { ...lane, max }, now, blockedUsers.blockedAt(now))
    return 'waitMs' in cut ? { waitMs: Math.min(cut.waitMs, blockedUsers.waitMs(now)) } : cut
  }

  /** The first message that was not fatal yet in this outage: a message that was fatal may itself be the cause. */
  function cutUnsuspectedItem(): Pick<BatchCut, 'scanned' | 'skipped'> {
    let index = 0
    while (index < buffer.length && buffer.at(index).suspectedAtCall === health.deliveringCalls) index++
    if (index === buffer.length) index = 0
    return { scanned: index + 1, skipped: Array.from({ length: index }, (_, i) => i) }
  }

  function onEnd(kind: CallKind, items: readonly BufferedItem[], outcomes: readonly HandledOutcome[]): void {
    if (kind === 'split') splitCallRunning = false
    if (byUser) blockedUsers.endCall(items)
    if (lost.aborted) return
    applyOutcomes(kind, items, outcomes)
    wake()
  }

  function applyOutcomes(kind: CallKind, items: readonly BufferedItem[], outcomes: readonly HandledOutcome[]): void {
    const now = clock.now()
    const { final, fatal, writes, worked, delivered, refusals } = classifyOutcomes(items, outcomes)
    if (worked) recordAnswer(kind, delivered, now)
    const retries = [
      ...fatal.message.map((each) => ({ ...each, counts: true })),
      ...applyJudgement(kind, 'provider', fatal.provider, now),
      ...applyJudgement(kind, 'call', fatal.call, now),
    ]
    const { givenUp, postponed } = scheduleRetries(retries, items, now)
    const result = { final: [...final, ...givenUp], postponed, writes }
    lastError = result.final.findLast(({ failed }) => failed)?.failed?.error ?? lastError
    if (result.final.length + postponed.length + writes.length > 0) settleWriter.add(result)
    pauseAfterRefusals(refusals)
  }

  function recordAnswer(kind: CallKind, delivered: boolean, now: number): void {
    const heldMs = health.recordAnswer({ probe: kind === 'probe', batch: kind === 'batch', delivered }, now)
    if (heldMs !== undefined) emit('lane.released', { lane: lane.name, heldMs })
    if (kind === 'batch') batchMax = Math.min(lane.max, batchMax * 2)
  }

  /** Holds the lane or splits the batch, if that is the judgement. @returns the items to retry with their own backoff */
  function applyJudgement(
    kind: CallKind,
    blame: 'call' | 'provider',
    fatals: readonly FatalItem[],
    now: number,
  ): readonly RetryItem[] {
    if (fatals.length === 0) return []
    const { deliveringCalls, unclearFatals } = health
    const items = fatals.map(({ item }) => item)
    const judgement = judgeFatals({
      kind,
      messages: items.length,
      blame,
      hasRetryAfter: fatals.some(({ outcome }) => outcome.retryAfterMs !== undefined),
      repeated: items.every(({ suspectedAtCall: call }) => call !== undefined && call < deliveringCalls),
      unclearFatals,
      workedRecently: health.workedRecently(now),
    })
    const firstTime = items.some((item) => item.suspectedAtCall !== deliveringCalls)
    for (const item of items) item.suspectedAtCall = deliveringCalls
    if (judgement === 'hold') holdLane(kind, fatals, now)
    if (judgement === 'split') splitBatch(fatals)
    if (judgement === 'wait' && firstTime) health.recordUnclearFatal()
    if (judgement === 'hold' || judgement === 'split') return []
    return fatals.map((each) => ({ ...each, counts: judgement === 'guilty' }))
  }

  /** An outage: no attempt is counted, and the lane is held until a probe succeeds. */
  function holdLane(kind: CallKind, fatals: readonly FatalItem[], now: number): void {
    const probe = kind === 'probe'
    if (kind === 'batch' && !health.hold && health.recovering) batchMax = Math.ceil(fatals.length / 2)
    const { reason, error } = (fatals[0] as FatalItem).outcome
    const retryAfterMs = Math.max(...fatals.map(({ outcome }) => outcome.retryAfterMs ?? 0))
    const forMs = health.recordOutage({ probe }, now, retryAfterMs)
    lastError = error
    holdReason = { reason, error }
    if (forMs !== undefined) emit('lane.held', { lane: lane.name, reason: error, forMs })
    const items = fatals.map(({ item }) => item)
    const [first] = items as [BufferedItem]
    // Another message must probe next: this message may itself be the cause.
    if (probe && byUser) buffer.requeueWithSimilar(items, (item) => orderingUser(item) === orderingUser(first))
    else buffer.requeue(items, probe && !ordered ? 'end' : 'front')
    if (splitParts.length > 0) buffer.requeue(splitParts.splice(0).reverse().flat(), 'front')
  }

  /** Halves the batch, until the guilty message is alone. In an ordered lane, the next batch is half as large. */
  function splitBatch(fatals: readonly FatalItem[]): void {
    const items = fatals.map(({ item }) => item)
    lastError = (fatals[0] as FatalItem).outcome.error
    const half = Math.ceil(items.length / 2)
    if (ordered || byUser) {
      batchMax = half
      buffer.requeue(items, 'front')
    } else splitParts.push(items.slice(half), items.slice(0, half))
  }

  /** Gives each item its own backoff. @param callItems all items of the call, in order */
  function scheduleRetries(
    retries: readonly RetryItem[],
    callItems: readonly BufferedItem[],
    now: number,
  ): ScheduledRetries {
    const givenUp: FinalItem[] = []
    const postponed: PostponedItem[] = []
    const requeued = new Set<BufferedItem>()
    const usersWithRetry = new Set<string>()
    for (const { item, outcome, counts } of retries) {
      lastError = outcome.error
      const memoryFull = buffer.delayed >= maxDelayed.items || buffer.totalBytes >= maxDelayed.bytes
      const plan = planRetry(item, outcome, lane.retry, { counts, memoryFull })
      if (plan.action === 'give up') {
        givenUp.push(finalItem(item, { ...outcome, category: 'failed', reason: 'expired', error: plan.error }))
        continue
      }
      // The item waits for an earlier item of its user: this was no attempt of its own.
      if (byUser && usersWithRetry.has(orderingUser(item))) {
        requeued.add(item)
        continue
      }
      const retryAt = now + plan.inMs
      const { seq, attempt } = item
      emit('item.retry', { lane: lane.name, seq, attempt, reason: outcome.reason, inMs: plan.inMs })
      storeWaitReason(seq, outcome)
      if (counts) item.attempt++
      else item.uncountedAttempts++
      if (ordered) {
        if (requeued.size === 0) blockedUntil = retryAt
        requeued.add(item)
      } else if (byUser) {
        requeued.add(item)
        usersWithRetry.add(orderingUser(item))
        blockedUsers.blockUntil(orderingUser(item), retryAt)
      } else if (plan.postpone) postponed.push({ item, at: retryAt })
      else buffer.delayUntil(item, retryAt)
    }
    if (requeued.size > 0) {
      // The items of a user return in the order of the call.
      buffer.requeue(byUser ? callItems.filter((item) => requeued.has(item)) : [...requeued], 'front')
    }
    return { givenUp, postponed }
  }

  function storeWaitReason(seq: number, { reason, error }: Fatal): void {
    waitReasons.delete(seq)
    waitReasons.set(seq, { reason, error })
    if (waitReasons.size > maxWaitReasons) waitReasons.delete(waitReasons.keys().next().value as number)
  }

  /** Many refusals in a row are a wrong configuration, not a hundred bad messages (design §6). */
  function pauseAfterRefusals(refusals: readonly boolean[]): void {
    const limit = lane.refusals ?? 100
    for (const isRefusal of refusals) {
      if (health.recordFinal(isRefusal && lane.max === 1) < limit) continue
      health.recordFinal(false)
      pause(
        `${limit} messages in a row were refused (${lastError}): correct the key or the address, then resume the lane; the refused messages are in Failed Actions and can be replayed`,
      )
    }
  }

  return {
    startCalls,
    endOverdueCalls: running.endOverdueCalls,
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
    findWaitReason: (seq) => (health.hold ? holdReason : waitReasons.get(seq)),
  }
}
