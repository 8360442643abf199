// Sends the items of a lane: cuts batches from the buffer, starts calls, and decides the next step from the outcomes. Its
// state is in memory and is dropped when the lane is lost.

import type { Fatal } from '../../../contract/outcome.ts'
import { longestRetryAfterMs } from '../../runtime/backoff.ts'
import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import { batchLimits } from '../controls/lane-settings.ts'
import { eventFieldsOf } from '../item-keys.ts'
import type { HandledOutcome, Lane, LaneHandler, LaneSettings } from '../queue.ts'
import type { AttemptBuffer } from './attempt-buffer.ts'
import { createBlockedUsers } from './blocked-users.ts'
import type { LaneBuffer } from './buffer.ts'
import type { BufferedItem } from './buffered-item.ts'
import { classifyOutcomes, expiredItem, type FatalItem, finalItem } from './classify.ts'
import { type BatchCut, cutBatch, cutUnsuspectedItem, orderingUser } from './cut-batch.ts'
import { judgeFatals } from './judge-fatals.ts'
import { planRetry } from './plan-retry.ts'
import { createProviderHealth } from './provider-health.ts'
import { createRateLimit } from './rate-limit.ts'
import { type CallKind, createRunningCalls } from './running-calls.ts'
import type { FinalItem, PostponedItem } from './settle-ops.ts'
import type { SettleWriter } from './settle-writer.ts'
import { createWaitReasons, type WaitReason } from './wait-reasons.ts'

export interface DispatcherOptions {
  readonly lane: Lane
  readonly handle: LaneHandler
  readonly buffer: LaneBuffer
  readonly attempts: AttemptBuffer
  readonly settleWriter: SettleWriter
  /** The settings in effect. They may change between two calls of startCalls(). */
  readonly settings: () => LaneSettings
  /** Aborts when the process stops and the time for running calls is over. */
  readonly signal: AbortSignal
  /** Aborts when this process no longer owns the lane. */
  readonly lost: AbortSignal
  /** Called when a call has ended and startCalls() may have work. */
  readonly wake: () => void
  /** Pauses the lane until a person resumes it, and alerts. */
  readonly pause: (reason: string) => void
  /** Stores a pause that the provider asked for, so that a restart does not end it. */
  readonly storeHold: (forMs: number, reason: string) => void
}

export interface Dispatcher {
  /** Starts all calls that can start now. `now`: clock.steady(). @returns how many milliseconds until the next check; Infinity: until woken */
  startCalls(now: number): number
  /** Returns the parts of split batches to the buffer. */
  requeueSplitParts(): void
  /** Ends calls that ignored their deadline. @returns how many milliseconds until the next call is overdue */
  endOverdueCalls(now: number): number
  readonly calls: number
  readonly inFlight: number
  /** The times are by clock.steady(). */
  readonly hold: { readonly since: number; readonly until: number; readonly reason: string } | undefined
  /** `at`: epoch milliseconds. */
  readonly lastError: { readonly error: string; readonly at: number } | undefined
  /** Begins with a pause that the provider asked an earlier owner of the lane for. */
  continuePause(forMs: number, reason: string): void
  /** Ends the wait of a held lane. */
  probeNow(): void
  /** Why this item is not delivered yet. Undefined: it was not tried, or the reason was dropped from memory. */
  findWaitReason(seq: number): WaitReason | undefined
}

/** The most answered items that wait for a commit. While there are more, no call starts. */
const maxUnsettled = 20_000
/** The limits of delayed items in memory. Beyond them, items are postponed in the store. */
const maxDelayed = { items: 10_000, bytes: 32 * 1024 * 1024 }

interface NextCall {
  readonly kind: CallKind
  readonly items: readonly BufferedItem[]
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
  const { lane, handle, buffer, attempts, settleWriter, signal, lost, wake, pause, storeHold } = options
  const oneAtATime = lane.order === 'lane'
  const byUser = lane.order === 'user'
  const blockedUsers = createBlockedUsers()
  const health = createProviderHealth(lane.retry)
  let settings = options.settings()
  let rateLimit = createRateLimit(settings.perSecond, clock.steady())
  const running = createRunningCalls({
    lane,
    handle: (items, context) => handle(items, { ...context, mode: settings.mode }),
    signal,
    onEnd,
  })
  /** The parts of split batches that wait for a call of their own. The last part is next. */
  const splitParts: (readonly BufferedItem[])[] = []
  let splitCallRunning = false
  const waitReasons = createWaitReasons()
  let holdReason: WaitReason | undefined
  let alerted = false
  let lastError: Dispatcher['lastError']
  /** A lane with one call at a time starts none before this time. */
  let blockedUntil = 0
  /** Limits a batch further. Halved when batches fail although a probe succeeded, doubled by each batch that succeeds. */
  let batchMax = Number.POSITIVE_INFINITY

  function startCalls(now: number): number {
    applySettings(now)
    const waitMs = Math.min(buffer.requeueDue(now) - now, running.endOverdueCalls(now))
    // While as many outcomes are not written, no call starts: a killed process repeats at most twice `concurrency` calls.
    const most = oneAtATime ? 1 : settings.concurrency
    while (
      running.calls < most &&
      running.calls + settleWriter.unwritten < (oneAtATime ? 1 : 2 * most) &&
      settleWriter.size < (oneAtATime ? 1 : maxUnsettled)
    ) {
      const next = takeNextCall(now)
      if ('waitMs' in next) return Math.min(waitMs, next.waitMs, running.endOverdueCalls(now))
      const { kind, full } = next
      const items = settleExpired(next.items)
      if (items.length === 0) continue
      if (kind === 'split') splitCallRunning = true
      if (kind === 'probe') health.startProbe()
      rateLimit.recordCall(items.length, now)
      if (byUser) blockedUsers.startCall(items)
      running.startCall(kind, items, now, full)
    }
    return Math.min(waitMs, running.endOverdueCalls(now))
  }

  /** Fails the expired items. @returns the others */
  function settleExpired(items: readonly BufferedItem[]): readonly BufferedItem[] {
    const now = clock.now()
    const expired = items.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= now)
    if (expired.length === 0) return items
    attempts.release(expired.map((item) => ({ item })))
    settleWriter.add({ final: expired.map(expiredItem), postponed: [], writes: [] })
    return items.filter((item) => !expired.includes(item))
  }

  function applySettings(now: number): void {
    const { perSecond } = settings
    settings = options.settings()
    if (settings.perSecond !== perSecond) rateLimit = createRateLimit(settings.perSecond, now)
    // The parts of a batch may be larger than a batch may now be.
    const { max } = batchLimits(settings)
    if (splitParts.some(({ length }) => length > max)) requeueSplitParts()
  }

  function takeNextCall(now: number): NextCall | Wait {
    const waitMs = Math.max(rateLimit.waitMs(now), blockedUntil - now)
    if (waitMs > 0) return { waitMs }
    if (health.hold) return takeProbe(now)
    const part = splitCallRunning ? undefined : splitParts.at(-1)
    if (part) return takeSplitPart(part, now)
    const cut = cutNextBatch(Math.min(batchMax, rateLimit.room(now)), now)
    return 'waitMs' in cut ? cut : { kind: 'batch', items: buffer.takeBatch(cut), full: cut.full }
  }

  function takeSplitPart(items: readonly BufferedItem[], now: number): NextCall | Wait {
    const waitMs = rateLimit.waitMs(now, items.length)
    if (waitMs > 0) return { waitMs }
    splitParts.pop()
    return { kind: 'split', items, full: false }
  }

  function takeProbe(now: number): NextCall | Wait {
    const { hold } = health
    if (!hold || hold.probing) return { waitMs: Number.POSITIVE_INFINITY }
    if (now < hold.until) return { waitMs: hold.until - now }
    if (buffer.length === 0) return { waitMs: Number.POSITIVE_INFINITY }
    // One message is enough for a probe, and limits what is at risk if the answer is lost.
    const cut = byUser
      ? cutNextBatch(1, now)
      : oneAtATime
        ? { scanned: 1, skipped: [] }
        : cutUnsuspectedItem(buffer, health.deliveringCalls)
    return 'waitMs' in cut ? cut : { kind: 'probe', items: buffer.takeBatch(cut), full: false }
  }

  function cutNextBatch(max: number, now: number): BatchCut | Wait {
    const most = batchLimits(settings)
    const limits = { order: lane.order, bytes: lane.bytes, spanMs: most.spanMs, max: Math.min(max, most.max) }
    if (!byUser) return cutBatch(buffer, limits, now)
    const cut = cutBatch(buffer, limits, now, blockedUsers.blockedAt(now))
    return 'waitMs' in cut ? { waitMs: Math.min(cut.waitMs, blockedUsers.waitMs(now)) } : cut
  }

  function onEnd(kind: CallKind, items: readonly BufferedItem[], outcomes: readonly HandledOutcome[]): void {
    if (kind === 'split') splitCallRunning = false
    if (byUser) blockedUsers.endCall(items)
    if (lost.aborted) return
    applyOutcomes(kind, items, outcomes)
    wake()
  }

  function applyOutcomes(kind: CallKind, items: readonly BufferedItem[], outcomes: readonly HandledOutcome[]): void {
    const now = clock.steady()
    const { final, fatal, writes, worked, delivered, pauseAsked, refusals } = classifyOutcomes(items, outcomes)
    if (pauseAsked) startHold(kind, pauseAsked, pauseAsked.retryAfterMs, now)
    else if (worked) recordAnswer(kind, delivered, now)
    const retries = [
      // Row 59: an outage of a push service counts no attempt.
      ...fatal.message.map((each) => ({ ...each, counts: each.outcome.service === undefined })),
      ...applyJudgement(kind, 'provider', fatal.provider, now),
      ...applyJudgement(kind, 'call', fatal.call, now),
    ]
    const { givenUp, postponed } = scheduleRetries(retries, items, now)
    const result = { final: [...final, ...givenUp], postponed, writes }
    attempts.release([...result.final, ...postponed])
    const { error } = result.final.findLast(({ failed }) => failed)?.failed ?? {}
    if (error !== undefined) noteError(error)
    if (result.final.length + postponed.length + writes.length > 0) settleWriter.add(result)
    pauseAfterRefusals(refusals)
  }

  function recordAnswer(kind: CallKind, delivered: boolean, now: number): void {
    const heldMs = health.recordAnswer({ probe: kind === 'probe', batch: kind === 'batch', delivered }, now)
    if (heldMs !== undefined) emit('lane.released', { lane: lane.name, heldMs })
    alerted = alerted && health.hold !== undefined
    if (kind === 'batch') batchMax = batchMax < settings.max ? batchMax * 2 : Number.POSITIVE_INFINITY
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
    const retryAfterMs = Math.max(...fatals.map(({ outcome }) => outcome.retryAfterMs ?? 0))
    startHold(kind, (fatals[0] as FatalItem).outcome, retryAfterMs, now)
    const items = fatals.map(({ item }) => item)
    const [first] = items as [BufferedItem]
    // Another message must probe next: this message may itself be the cause.
    if (probe && byUser) buffer.requeueWithSimilar(items, (item) => orderingUser(item) === orderingUser(first))
    else buffer.requeue(items, probe && !oneAtATime ? 'end' : 'front')
    requeueSplitParts()
  }

  /** Holds the lane, for at least as long as the provider asked for. */
  function startHold(
    kind: CallKind,
    { reason, error, unconnected }: WaitReason & Pick<Fatal, 'unconnected'>,
    retryAfterMs = 0,
    now: number,
  ): void {
    const forMs = health.recordOutage({ probe: kind === 'probe', unconnected: unconnected === true }, now, retryAfterMs)
    noteError(error)
    holdReason = { reason, error }
    if (forMs === undefined) return
    emit('lane.held', { lane: lane.name, reason: error, forMs })
    if (retryAfterMs > 0) storeHold(Math.min(retryAfterMs, longestRetryAfterMs), error)
    if (reason !== 'misconfigured' || alerted) return
    alerted = true
    emit('provider.alert', {
      provider: lane.name,
      error,
      remedy: `correct the key or the address of the lane; its messages wait, and bellwire resume ${lane.name} --now tries again at once`,
    })
  }

  function noteError(error: string): void {
    lastError = { error, at: clock.now() }
  }

  function requeueSplitParts(): void {
    if (splitParts.length > 0) buffer.requeue(splitParts.splice(0).reverse().flat(), 'front')
  }

  /** Halves the batch, until the guilty message is alone. In a lane with one call at a time, the next batch is half as large. */
  function splitBatch(fatals: readonly FatalItem[]): void {
    const items = buffer.sift(fatals.map(({ item }) => item))
    noteError((fatals[0] as FatalItem).outcome.error)
    const half = Math.ceil(items.length / 2)
    if (oneAtATime || byUser) {
      batchMax = half
      buffer.requeue(items, 'front')
    } else splitParts.push(...[items.slice(half), items.slice(0, half)].filter(({ length }) => length > 0))
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
      noteError(outcome.error)
      const { delayed, totalBytes, freeBytes } = buffer
      const memoryFull =
        delayed >= maxDelayed.items || totalBytes >= maxDelayed.bytes || freeBytes <= 0 || attempts.full
      const plan = planRetry(item, outcome, lane.retry, { counts, memoryFull })
      if (plan.action === 'give up') {
        givenUp.push(finalItem(item, { ...outcome, category: 'failed', reason: 'given_up', error: plan.error }))
        continue
      }
      // The item waits for an earlier item of its user: this was no attempt of its own.
      if (byUser && usersWithRetry.has(orderingUser(item))) {
        requeued.add(item)
        continue
      }
      const retryAt = now + plan.inMs
      emit('item.retry', { ...eventFieldsOf(lane.name, item), reason: outcome.reason, inMs: plan.inMs })
      waitReasons.set(item.seq, outcome)
      if (counts) {
        if (lane.keepFailed) attempts.add(item, outcome, clock.now())
        item.attempt++
      } else item.uncountedAttempts++
      if (oneAtATime) {
        if (requeued.size === 0) blockedUntil = retryAt
        requeued.add(item)
      } else if (byUser) {
        requeued.add(item)
        usersWithRetry.add(orderingUser(item))
        blockedUsers.blockUntil(orderingUser(item), retryAt)
      } else if (!plan.postpone) buffer.delayUntil(item, retryAt)
      else if (buffer.sift([item]).length > 0) postponed.push({ item, at: retryAt })
    }
    if (requeued.size > 0) {
      // The items of a user return in the order of the call.
      buffer.requeue(byUser ? callItems.filter((item) => requeued.has(item)) : [...requeued], 'front')
    }
    return { givenUp, postponed }
  }

  /** Many refusals in a row are a wrong configuration, not a hundred bad messages (docs/contributing/decisions.md). */
  function pauseAfterRefusals(refusals: readonly boolean[]): void {
    const limit = lane.refusals ?? 100
    for (const isRefusal of refusals) {
      if (health.recordFinal(isRefusal && batchLimits(settings).max === 1) < limit) continue
      health.recordFinal(false)
      pause(
        `${limit} messages in a row were refused (${lastError?.error}): correct the key or the address, then resume the lane; the refused messages are in Failed Actions and can be replayed`,
      )
    }
  }

  return {
    startCalls,
    requeueSplitParts,
    endOverdueCalls: running.endOverdueCalls,
    get calls() {
      return running.calls
    },
    get inFlight() {
      return running.items
    },
    get hold() {
      return health.hold && { ...health.hold, reason: holdReason?.error ?? '' }
    },
    get lastError() {
      return lastError
    },
    continuePause(forMs, error) {
      const now = clock.steady()
      health.continuePause(forMs, now)
      noteError(error)
      holdReason = { reason: 'unavailable', error }
      emit('lane.held', { lane: lane.name, reason: error, forMs })
    },
    probeNow() {
      health.probeNow(clock.steady())
      blockedUntil = 0
    },
    findWaitReason: (seq) => (health.hold ? holdReason : waitReasons.get(seq)),
  }
}
