// The guard around one push service: each push gets exactly one answer in time, even if the service misbehaves. A fault of one
// service does not affect another.

import type { Fatal } from '../contract/outcome.ts'
import { refuseFatal } from '../contract/refusals.ts'
import { endOf } from '../contract/span-attributes.ts'
import type { Device } from '../devices/device.ts'
import { stopping } from '../providers/call-provider.ts'
import { leastRestMs } from '../providers/guard.ts'
import type { Pause, SendContext } from '../providers/provider.ts'
import type { DeviceAnswer, Push, PushService } from '../providers/push-service.ts'
import { invalidResult } from '../providers/read-results.ts'
import { type BreakerOptions, breakerDefaults, createBreaker } from '../runtime/breaker.ts'
import type { Check } from '../runtime/check.ts'
import { clock } from '../runtime/clock.ts'
import { emit, hasListeners } from '../runtime/events.ts'
import { createFairSemaphore } from '../runtime/fair-semaphore.ts'
import { messageOf } from '../runtime/message-of.ts'
import { createSendRate } from '../runtime/send-rate.ts'
import { beginSpan } from '../runtime/spans.ts'
import { readDeviceAnswer } from './read-device-answer.ts'
import { resolveMismatch } from './token-proof.ts'

export interface ServiceGuardOptions {
  /** Timeout of one send; 15 s. */
  readonly timeoutMs?: number
  /** Most waiting pushes; any further push is fatal, unless its brand has less than its share of them. 20,000. */
  readonly waiting?: number
  readonly breaker?: BreakerOptions
}

/** The checks of a push after its wait and before the call. A returned answer means: do not call the service. */
export interface SendChecks {
  /** The first check. Nearly always returns without a promise. */
  findRefusal(): DeviceAnswer | undefined | Promise<DeviceAnswer | undefined>
  /** The last check, in the same turn of the event loop as the call. */
  findLateRefusal(): DeviceAnswer | undefined
}

export interface GuardedAnswer {
  readonly answer: DeviceAnswer
  /** False: the answer was given without a call of the service. */
  readonly called: boolean
}

export interface GuardedService {
  readonly name: string
  readonly concurrency: number
  reaches(device: Device): boolean
  /** Whether the service is sending: not paused, and not waiting for the result of a probe. */
  works(): boolean
  /** Undefined: the service is sending. */
  pause(): Pause | undefined
  /** Never rejects. */
  send(push: Push, context: SendContext, checks: SendChecks): Promise<GuardedAnswer>
  check(): Promise<readonly Check[]>
  close(): Promise<void>
}

/** Grace period after the deadline: then the answer of the service is no longer awaited. */
const graceMs = 200

/**
 * Limits the rate of sends and the sends in flight, and applies deadline and timeout. An exception or a malformed answer becomes
 * fatal. After a refusal for the quota, the service is sent to at half the rate, which recovers slowly. The service is paused if
 * it asks for that (Retry-After, quota), fails repeatedly, or has the wrong credential. During a pause sends are fatal; after it,
 * one send is the probe. A token is not removed before the credential is proven: see token-proof.ts.
 *
 * @example
 * const fcm = guardService(createFcm(options))
 * const { answer } = await fcm.send(push, { deadline: Date.now() + 30_000, signal }, checks)
 */
export function guardService(service: PushService, options: ServiceGuardOptions = {}): GuardedService {
  const { timeoutMs = 15_000, waiting = 20_000, breaker: breakerOptions = breakerDefaults } = options
  const { name } = service
  const rate = createSendRate(service.perSecond)
  const slots = createFairSemaphore(service.concurrency, waiting, rate)
  const breaker = createBreaker(breakerOptions)
  /** A send was accepted since the credential was loaded. */
  let proven = false
  /** Users whose tokens were refused as foreign before the credential had an accepted send. */
  const mismatchUsers = new Set<string>()
  let pauseReason: string | undefined
  let alertedError: string | undefined

  async function send(push: Push, context: SendContext, checks: SendChecks): Promise<GuardedAnswer> {
    if (context.signal.aborted) return notCalled(stopping)
    // Check the breaker before the queue too: a push must not wait only to be refused.
    const restMs = breaker.restMs(clock.now())
    if (restMs > 0) return notCalled(pausedOutcome(restMs))
    const slot = slots.acquire(context.deadline, push.device.brand)
    if (slot === 'full') return notCalled(overloaded(name, rate.waitMs(clock.now(), slots.waiting)))
    if (slot !== true && !(await slot)) return notCalled(tooLate(name))
    const admission = breaker.admit(clock.now())
    const probe = admission === 'probe'
    let answered = false
    try {
      if (typeof admission === 'object') return notCalled(pausedOutcome(admission.retryAfterMs))
      const first = checks.findRefusal()
      const refusal = (first instanceof Promise ? await first : first) ?? checkTime(context) ?? checks.findLateRefusal()
      if (refusal) return notCalled(refusal)
      if (hasListeners('message.calling')) emit('message.calling', { provider: name, refs: [push.ref] })
      const sentAt = clock.now()
      const span = beginSpan(`push ${name}`, {
        kind: 'client',
        parent: push.traceparent,
        attributes: () => ({ 'messaging.operation.type': 'send' }),
      })
      const received = await callService(push, context)
      span.end(() => endOf(received))
      const resolved = resolveMismatch(received, proven)
      answered = true
      const { brand, userId } = push.device
      updateBreaker(resolved, probe, received.token === 'mismatch' && !proven ? `${brand} ${userId}` : undefined)
      slowDownIfRefused(resolved, sentAt)
      const answer = addRetryAfter(resolved)
      if (answer.category === 'successful') proven = true
      return { answer, called: true }
    } finally {
      if (!answered && typeof admission !== 'object') breaker.recordUnknown(probe)
      slots.release()
    }
  }

  function checkTime({ deadline, signal }: SendContext): Fatal | undefined {
    if (signal.aborted) return stopping
    return clock.now() >= deadline ? tooLate(name) : undefined
  }

  /** Calls the service with a timeout. */
  function callService(push: Push, context: SendContext): Promise<DeviceAnswer> {
    const now = clock.now()
    const ms = Math.min(timeoutMs, context.deadline - now)
    const callContext = { deadline: now + ms, signal: context.signal }
    return new Promise((resolve) => {
      let late = false
      const done = (answer: DeviceAnswer): void => {
        clock.clearTimeout(timer)
        resolve(answer)
      }
      let timer = clock.setTimeout(() => {
        late = true
        timer = clock.setTimeout(() => done(timedOut(name, ms)), graceMs)
      }, ms)
      const toAnswer = (error: unknown): DeviceAnswer => {
        if (context.signal.aborted) return { ...stopping, uncertain: true }
        if (late) return timedOut(name, ms)
        return invalidResult(`${name}: ${messageOf(error)}`, 1, true)
      }
      try {
        service.send(push, callContext).then(
          (answer) => done(readDeviceAnswer(answer)),
          (error: unknown) => done(toAnswer(error)),
        )
      } catch (error) {
        done(toAnswer(error))
      }
    })
  }

  /** @param mismatchUser the user of the token, if it was refused as foreign before the credential was proven */
  function updateBreaker(answer: DeviceAnswer, probe: boolean, mismatchUser: string | undefined): void {
    if (answer.category !== 'fatal' || answer.blame !== 'provider') {
      if (mismatchUsers.size > 0) mismatchUsers.clear()
      if (!breaker.recordSuccess(probe)) return
      pauseReason = undefined
      alertedError = undefined
      emit('provider.resumed', { provider: name })
      return
    }
    const { reason, error, retryAfterMs } = answer
    const now = clock.now()
    // One answer is enough if the service asked for a pause, or if the credential had no accepted send yet. An answer that a
    // single device or user may have caused is not enough.
    const atOnce = retryAfterMs !== undefined || (reason === 'misconfigured' && !proven && mismatchUser === undefined)
    const counts = probe || mismatchUser === undefined || !mismatchUsers.has(mismatchUser)
    if (mismatchUser !== undefined && mismatchUsers.size < breakerOptions.after) mismatchUsers.add(mismatchUser)
    const forMs = atOnce
      ? breaker.pause(probe, now, retryAfterMs)
      : counts
        ? breaker.recordFailure(probe, now)
        : undefined
    if (forMs !== undefined) {
      pauseReason = error
      emit('provider.paused', { provider: name, reason: error, untilMs: now + forMs })
    }
    if (reason !== 'misconfigured' || alertedError === error) return
    alertedError = error
    emit('provider.alert', { provider: name, error, remedy: credentialRemedy })
  }

  function slowDownIfRefused(answer: DeviceAnswer, sentAt: number): void {
    if (answer.category !== 'fatal' || answer.blame !== 'provider' || answer.reason !== 'rate_limited') return
    const now = clock.now()
    const perSecond = rate.slowDown(sentAt, now, breaker.restMs(now))
    if (perSecond !== undefined) emit('provider.slowed', { provider: name, perSecond, reason: answer.error })
  }

  /** The caller must not retry before the pause is over. */
  function addRetryAfter(answer: DeviceAnswer): DeviceAnswer {
    if (answer.category !== 'fatal' || answer.blame !== 'provider') return answer
    const restMs = Math.max(answer.retryAfterMs ?? 0, breaker.restMs(clock.now()))
    return restMs > 0 ? { ...answer, retryAfterMs: restMs } : answer
  }

  const pausedOutcome = (retryAfterMs: number): Fatal =>
    refuseFatal('paused', {
      by: name,
      ...(alertedError !== undefined && { reason: 'misconfigured' }),
      error: `not sent: ${name} is paused (${pauseReason ?? 'it has failed repeatedly'})`,
      retryAfterMs,
    })

  return {
    name,
    concurrency: service.concurrency,
    reaches: (device) => service.reaches(device),
    works: () => breaker.restMs(clock.now()) === 0,
    pause() {
      if (!breaker.open) return undefined
      const restMs = breaker.restMs(clock.now())
      return { name, restMs, refusal: pausedOutcome(Math.max(restMs, leastRestMs)) }
    },
    send,
    check: async () => (await service.check?.()) ?? [],
    close: async () => service.close?.(),
  }
}

const credentialRemedy =
  'correct the credential in the configuration and restart (bellwire doctor names the fault); no message is lost: sending is retried automatically'

const notCalled = (answer: DeviceAnswer): GuardedAnswer => ({ answer, called: false })

/** @param waitMs how long the waiting messages need at the rate of the service */
const overloaded = (name: string, waitMs: number): Fatal =>
  refuseFatal('too_many_waiting', {
    by: name,
    error: `too many messages are waiting for ${name}: repeat the request after the time in Retry-After`,
    retryAfterMs: Math.max(leastRestMs, Math.ceil(waitMs)),
  })

const tooLate = (name: string): Fatal =>
  refuseFatal('too_late', { by: name, error: `not sent: ${name} was at its limit until the deadline` })

const timedOut = (name: string, ms: number): Fatal =>
  refuseFatal('timed_out', { by: name, error: `${name} did not answer within ${ms} ms`, uncertain: true })
