// The guard around one push service: whatever it does, each push gets one answer in time, and what is wrong with one service is
// never another's trouble.

import type { Fatal } from '../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import { leastRestMs, stopping } from '../providers/guard.ts'
import type { Check, Pause, SendContext } from '../providers/provider.ts'
import type { DeviceAnswer, Push, PushService } from '../providers/push-service.ts'
import { invalidResult } from '../providers/read-results.ts'
import { type BreakerOptions, breakerDefaults, createBreaker } from '../runtime/breaker.ts'
import { emit, hasListeners } from '../runtime/events.ts'
import { createFairSemaphore } from '../runtime/fair-semaphore.ts'
import { readDeviceAnswer } from './read-device-answer.ts'
import { weigh } from './token-proof.ts'

export interface ServiceGuardOptions {
  /** How long one send may take; 15 s. */
  readonly timeoutMs?: number
  /** Most waiting pushes; any further push is fatal, unless its brand has less than its share of them. 20,000. */
  readonly waiting?: number
  readonly breaker?: BreakerOptions
}

/** What a push does when its turn has come, before it leaves. An answer instead of nothing: it does not leave. */
export interface Leaving {
  /** Asked first. Nearly always known at once. */
  refused(): DeviceAnswer | undefined | Promise<DeviceAnswer | undefined>
  /** Asked in the very turn of the call. */
  veto(): DeviceAnswer | undefined
}

export interface Guarded {
  readonly answer: DeviceAnswer
  /** The service was really asked. */
  readonly called: boolean
}

export interface GuardedService {
  readonly name: string
  readonly concurrency: number
  reaches(device: Device): boolean
  /** Whether it is sending, and not resting until a pause is over or a probe succeeds. */
  works(): boolean
  /** Undefined: it sends. */
  pause(): Pause | undefined
  /** Never rejects. */
  send(push: Push, context: SendContext, leaving: Leaving): Promise<Guarded>
  check(): Promise<readonly Check[]>
  close(): Promise<void>
}

/** How much later than the deadline a service may answer. */
const graceMs = 200

/**
 * Bounds sends at a time, applies deadline and timeout, turns a throw and nonsense into fatal, and rests when the service
 * asked for it (Retry-After, quota), has not worked lately, or has the wrong credential: others are fatal meanwhile, then one
 * send tries. A credential that nothing proved right yet is never believed against a token: see token-proof.ts.
 *
 * @example
 * const fcm = guardService(createFcm(options))
 * const { answer } = await fcm.send(push, { deadline: Date.now() + 30_000, signal }, leaving)
 */
export function guardService(service: PushService, options: ServiceGuardOptions = {}): GuardedService {
  const { timeoutMs = 15_000, waiting = 20_000, breaker: breakerOptions = breakerDefaults } = options
  const { name } = service
  const turns = createFairSemaphore(service.concurrency, waiting)
  const breaker = createBreaker(breakerOptions)
  /** An accepted send since the credential was loaded. */
  let proven = false
  /** Users whose tokens were refused as foreign before the credential had an accepted send. */
  const accusers = new Set<string>()
  let rests: string | undefined
  let alerted: string | undefined

  async function send(push: Push, context: SendContext, leaving: Leaving): Promise<Guarded> {
    if (context.signal.aborted) return notCalled(stopping)
    // Before the queue too: whoever would find it resting in the end need not wait for that.
    const restMs = breaker.restMs(Date.now())
    if (restMs > 0) return notCalled(resting(restMs))
    const turn = turns.acquire(context.deadline, push.device.brand)
    if (turn === 'full') return notCalled(overloaded(name))
    if (turn !== true && !(await turn)) return notCalled(tooLate(name))
    const admission = breaker.admit(Date.now())
    const probe = admission === 'probe'
    let answered = false
    try {
      if (typeof admission === 'object') return notCalled(resting(admission.retryAfterMs))
      const before = leaving.refused()
      const instead = (before instanceof Promise ? await before : before) ?? late(context) ?? leaving.veto()
      if (instead) return notCalled(instead)
      if (hasListeners('message.calling')) emit('message.calling', { provider: name, refs: [push.ref] })
      const said = await reach(push, context)
      const weighed = weigh(said, proven)
      answered = true
      const { brand, userId } = push.device
      tellBreaker(weighed, probe, said.token === 'mismatch' && !proven ? `${brand} ${userId}` : undefined)
      const answer = withRest(weighed)
      if (answer.category === 'successful') proven = true
      return { answer, called: true }
    } finally {
      if (!answered && typeof admission !== 'object') breaker.recordUnknown(probe)
      turns.release()
    }
  }

  function late({ deadline, signal }: SendContext): Fatal | undefined {
    if (signal.aborted) return stopping
    return Date.now() >= deadline ? tooLate(name) : undefined
  }

  /** Asks the service, no longer than it may take. */
  function reach(push: Push, context: SendContext): Promise<DeviceAnswer> {
    const now = Date.now()
    const ms = Math.min(timeoutMs, context.deadline - now)
    const given = { deadline: now + ms, signal: context.signal }
    return new Promise((resolve) => {
      let late = false
      const done = (answer: DeviceAnswer): void => {
        clearTimeout(timer)
        resolve(answer)
      }
      let timer = setTimeout(() => {
        late = true
        timer = setTimeout(() => done(timedOut(name, ms)), graceMs)
      }, ms)
      const gaveUp = (error: unknown): DeviceAnswer => {
        if (context.signal.aborted) return { ...stopping, uncertain: true }
        if (late) return timedOut(name, ms)
        return invalidResult(`${name}: ${error instanceof Error ? error.message : String(error)}`, 1, true)
      }
      try {
        service.send(push, given).then(
          (answer) => done(readDeviceAnswer(answer)),
          (error: unknown) => done(gaveUp(error)),
        )
      } catch (error) {
        done(gaveUp(error))
      }
    })
  }

  /** @param accuser the user of the only token that was refused as foreign */
  function tellBreaker(answer: DeviceAnswer, probe: boolean, accuser: string | undefined): void {
    if (answer.category !== 'fatal' || answer.blame !== 'provider') {
      if (accusers.size > 0) accusers.clear()
      if (!breaker.recordSuccess(probe)) return
      rests = undefined
      alerted = undefined
      emit('provider.resumed', { provider: name })
      return
    }
    const { reason, error, retryAfterMs } = answer
    const now = Date.now()
    // One answer is enough if the service asked for a pause, or if the credential had no accepted send yet. An answer that a
    // single device or user may have caused is not enough.
    const atOnce = retryAfterMs !== undefined || (reason === 'misconfigured' && !proven && accuser === undefined)
    const counts = probe || accuser === undefined || !accusers.has(accuser)
    if (accuser !== undefined && accusers.size < breakerOptions.after) accusers.add(accuser)
    const forMs = atOnce
      ? breaker.pause(probe, now, retryAfterMs)
      : counts
        ? breaker.recordFailure(probe, now)
        : undefined
    if (forMs !== undefined) {
      rests = error
      emit('provider.paused', { provider: name, reason: error, untilMs: now + forMs })
    }
    if (reason !== 'misconfigured' || alerted === error) return
    alerted = error
    emit('provider.alert', { provider: name, error, remedy: mend })
  }

  /** A caller that repeats the message before the pause is over would be refused. */
  function withRest(answer: DeviceAnswer): DeviceAnswer {
    if (answer.category !== 'fatal' || answer.blame !== 'provider') return answer
    const restMs = Math.max(answer.retryAfterMs ?? 0, breaker.restMs(Date.now()))
    return restMs > 0 ? { ...answer, retryAfterMs: restMs } : answer
  }

  const resting = (retryAfterMs: number): Fatal => ({
    category: 'fatal',
    reason: alerted === undefined ? 'unavailable' : 'misconfigured',
    blame: 'provider',
    rule: `${name}: paused`,
    error: `not sent: ${name} rests (${rests ?? 'it has not worked lately'})`,
    retryAfterMs,
  })

  return {
    name,
    concurrency: service.concurrency,
    reaches: (device) => service.reaches(device),
    works: () => breaker.restMs(Date.now()) === 0,
    pause() {
      if (!breaker.open) return undefined
      const restMs = breaker.restMs(Date.now())
      return { name, restMs, refusal: resting(Math.max(restMs, leastRestMs)) }
    },
    send,
    check: async () => (await service.check?.()) ?? [],
    close: async () => service.close?.(),
  }
}

const mend =
  'correct the credential in the configuration and restart (bellwire doctor says what is wrong); no message is lost: sending is tried again by itself'

const notCalled = (answer: DeviceAnswer): Guarded => ({ answer, called: false })

const overloaded = (name: string): Fatal => ({
  category: 'fatal',
  reason: 'overloaded',
  blame: 'provider',
  retryAfterMs: 1_000,
  rule: `${name}: too many waiting`,
  error: `too many messages wait for ${name}; ask again in a second`,
})

const tooLate = (name: string): Fatal => ({
  category: 'fatal',
  reason: 'timeout',
  blame: 'provider',
  rule: `${name}: the deadline passed before the call`,
  error: `not sent: ${name} had no room in time`,
})

const timedOut = (name: string, ms: number): Fatal => ({
  category: 'fatal',
  reason: 'timeout',
  blame: 'provider',
  rule: `${name}: no answer in time`,
  error: `${name} did not answer within ${ms} ms`,
  uncertain: true,
})
