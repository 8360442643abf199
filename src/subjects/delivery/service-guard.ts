// The guard around one push service: each push gets exactly one answer in time, even if the service misbehaves. A fault of one
// service does not affect another.

import { type BreakerOptions, breakerDefaults } from '../../base/runtime/breaker.ts'
import type { Check } from '../../base/runtime/check.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit, hasListeners } from '../../base/runtime/events.ts'
import { createFairSemaphore } from '../../base/runtime/fair-semaphore.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { recordPauses } from '../../base/runtime/pauses.ts'
import { createSendRate } from '../../base/runtime/send-rate.ts'
import { beginSpan } from '../../base/runtime/spans.ts'
import type { Fatal } from '../../contract/outcome.ts'
import { refuseFatal } from '../../contract/refusals.ts'
import { endOf } from '../../contract/span-attributes.ts'
import type { Device } from '../devices/device.ts'
import { stopping } from '../providers/call-provider.ts'
import { leastRestMs } from '../providers/guard.ts'
import type { Pause, SendContext } from '../providers/provider.ts'
import type { DeviceAnswer, Push, PushService } from '../providers/push-service.ts'
import { invalidResult } from '../providers/read-results.ts'
import type { ServicePause, ServiceState } from '../providers/service-state.ts'
import { checkDeviceAnswer } from './check-device-answer.ts'
import { type Circuit, type Counterpart, createCircuit, createCounterparts } from './counterparts.ts'
import { resolveEvidence } from './token-proof.ts'

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
  /** Whether some counterpart is sending: not paused, and not waiting for the result of a probe. */
  works(): boolean
  /** The number of counterparts that were sent to. */
  readonly counterparts: number
  /** The service or some counterpart is paused. */
  readonly paused: boolean
  /** The pause of the whole service, or the pause that applies to a device. Undefined: nothing is paused. */
  pause(device?: Device): Pause | undefined
  state(): ServiceState
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
 * one send is the probe.
 *
 * An answer that concerns one counterpart pauses only that counterpart, and an answer that concerns some recipients pauses nothing.
 * A token is not removed before its counterpart has accepted the credential: see token-proof.ts.
 *
 * @example
 * const fcm = guardService(createFcm(options))
 * const { answer } = await fcm.send(push, { deadline: Date.now() + 30_000, signal }, checks)
 */
export function guardService(service: PushService, options: ServiceGuardOptions = {}): GuardedService {
  const { timeoutMs = 15_000, waiting = 20_000, breaker: breakerOptions = breakerDefaults } = options
  const { name } = service
  const rate = createSendRate(service.perSecond)
  const slots = createFairSemaphore(service.concurrency, waiting, { rate, mostOfGroup: service.perCounterpart })
  const pauses = recordPauses(name)
  const whole = createCircuit(name, breakerOptions)
  const counterparts = createCounterparts(name, (device) => service.counterpartOf?.(device) ?? '', breakerOptions)
  /** Some counterpart accepted a send since the credential was loaded. */
  let proven = false

  async function send(push: Push, context: SendContext, checks: SendChecks): Promise<GuardedAnswer> {
    if (context.signal.aborted) return notCalled(stopping)
    const counterpart = counterparts.of(push.device)
    // Check for a pause before the queue too: a push must not wait only to be refused.
    const pause = findPause(counterpart)
    if (pause && pause.restMs > 0) return notCalled(pausedOutcome(pause.circuit, pause.restMs))
    const slot = slots.acquire(context.deadline, push.device.brand, counterpart.counterpart)
    if (slot === 'full') return notCalled(overloaded(name, rate.waitMs(clock.monotonic(), slots.waiting)))
    if (slot !== true && !(await slot)) return notCalled(tooLate(name))
    const probed: Circuit[] = []
    let answered = false
    try {
      const refusedBy = admit(counterpart, probed)
      if (refusedBy) return notCalled(refusedBy)
      const first = checks.findRefusal()
      const refusal = (first instanceof Promise ? await first : first) ?? checkTime(context) ?? checks.findLateRefusal()
      if (refusal) return notCalled(refusal)
      if (hasListeners('message.calling')) emit('message.calling', { provider: name, refs: [push.ref] })
      const sentAt = clock.monotonic()
      const span = beginSpan(`push ${name}`, {
        kind: 'client',
        parent: push.traceparent,
        attributes: () => ({ 'messaging.operation.type': 'send' }),
      })
      if (counterpart.inFlight++ === 0) counterpart.quietSince = sentAt
      const received = await callService(push, context)
      counterpart.inFlight--
      if (received.category !== 'fatal' || received.reason !== 'timeout') counterpart.quietSince = clock.monotonic()
      span.end(() => endOf(received))
      const resolved = resolveEvidence(received, { counterpart: counterpart.proven, service: proven })
      answered = true
      const { brand, userId } = push.device
      updateCircuits(resolved, counterpart, probed, `${brand} ${userId}`)
      slowDownIfRefused(resolved, sentAt)
      const answer = addRetryAfter(resolved, counterpart)
      if (answer.category === 'successful') counterpart.proven = proven = true
      return { answer, called: true }
    } finally {
      if (!answered) for (const { breaker } of probed) breaker.recordUnknown(true)
      slots.release(counterpart.counterpart)
    }
  }

  /** @param probed gets the circuits that the send probes. @returns the refusal of a send that must not begin */
  function admit(counterpart: Counterpart, probed: Circuit[]): Fatal | undefined {
    for (const circuit of [whole, counterpart]) {
      const admission = circuit.breaker.admit(clock.monotonic())
      if (typeof admission === 'object') return pausedOutcome(circuit, admission.retryAfterMs)
      if (admission === 'probe') probed.push(circuit)
    }
    return undefined
  }

  /** The pause that applies to a counterpart: its own, or that of the whole service. */
  function findPause(counterpart: Counterpart): Paused | undefined {
    let pause: Paused | undefined
    if (isStalled(counterpart)) pause = { circuit: { name: counterpart.name, cause: stalled }, restMs: leastRestMs }
    for (const circuit of [whole, counterpart]) {
      if (!circuit.breaker.open) continue
      const restMs = circuit.breaker.restMs(clock.monotonic())
      if (!pause || restMs > pause.restMs) pause = { circuit, restMs }
    }
    return pause
  }

  /** Further messages would only wait with the others, and hold the answers of their batches. */
  function isStalled({ inFlight, quietSince }: Counterpart): boolean {
    if (service.perCounterpart === undefined || inFlight < breakerOptions.after) return false
    return clock.monotonic() - quietSince >= stalledAfterMs
  }

  function checkTime({ deadline, signal }: SendContext): Fatal | undefined {
    if (signal.aborted) return stopping
    return clock.now() >= deadline ? tooLate(name) : undefined
  }

  /** Calls the service with a timeout. Never rejects. */
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
          (answer) => done(checkDeviceAnswer(answer)),
          (error: unknown) => done(toAnswer(error)),
        )
      } catch (error) {
        done(toAnswer(error))
      }
    })
  }

  function updateCircuits(answer: DeviceAnswer, counterpart: Counterpart, probed: Circuit[], user: string): void {
    const failing = answer.category === 'fatal' && answer.blame === 'provider'
    // An answer about some recipients says nothing about a pause.
    const unclear = answer.category === 'fatal' && !failing && answer.reason === 'misconfigured'
    const failed = !failing ? undefined : answer.concerns === 'counterpart' ? counterpart : whole
    for (const circuit of [whole, counterpart]) {
      const probe = probed.includes(circuit)
      if (failed === undefined && !unclear) recordWorking(circuit, probe)
      else if (failed !== circuit) circuit.breaker.recordUnknown(probe)
    }
    if (answer.category !== 'fatal') return
    if (failed === undefined) counterpart.refusedUsers.clear()
    else recordFailure(answer, failed, probed.includes(failed), counterpart, user)
    if (answer.reason === 'misconfigured') alert(answer, counterpart)
  }

  function recordWorking(circuit: Circuit, probe: boolean): void {
    if (!circuit.breaker.recordSuccess(probe)) return
    // The end of an outage is no repair of the configuration.
    if (circuit.cause?.reason === 'misconfigured') circuit.alerts.clear()
    delete circuit.cause
    pauses.end({ counterpart: circuit.counterpart || undefined, sending: works() })
  }

  function recordFailure(answer: Answer, failed: Circuit, probe: boolean, from: Counterpart, user: string): void {
    const { reason, error, retryAfterMs } = answer
    const now = clock.monotonic()
    // Before the first accepted send, a wrong setting and a recipient that is refused look alike: several users must be refused.
    const suspected = failed === from && reason === 'misconfigured'
    const counts = probe || !suspected || !from.refusedUsers.has(user)
    if (suspected && from.refusedUsers.size < breakerOptions.after) from.refusedUsers.add(user)
    // One answer is enough if the service asked for a pause, or if the credential had no accepted send yet.
    const atOnce = retryAfterMs !== undefined || (reason === 'misconfigured' && !proven && !suspected)
    const forMs = atOnce
      ? failed.breaker.pause(probe, now, retryAfterMs)
      : counts
        ? failed.breaker.recordFailure(probe, now)
        : undefined
    if (forMs === undefined) return
    failed.cause = { reason, error }
    pauses.begin({ counterpart: failed.counterpart || undefined, reason: error, forMs, sending: works() })
  }

  /** One alert an hour for each cause, until the service or its counterpart resumes. */
  function alert({ rule, error, concerns, blame }: Answer, counterpart: Counterpart): void {
    const { alerts } = blame === 'provider' && concerns === undefined ? whole : counterpart
    if (!alerts.isDue(rule)) return
    emit('provider.alert', { provider: name, error, remedy: credentialRemedy })
  }

  function slowDownIfRefused(answer: DeviceAnswer, sentAt: number): void {
    if (answer.category !== 'fatal' || answer.blame !== 'provider' || answer.reason !== 'rate_limited') return
    const now = clock.monotonic()
    const perSecond = rate.slowDown(sentAt, now, whole.breaker.restMs(now))
    if (perSecond !== undefined) emit('provider.slowed', { provider: name, perSecond, reason: answer.error })
  }

  /** The caller must not retry before the pause is over. */
  function addRetryAfter(answer: DeviceAnswer, counterpart: Counterpart): DeviceAnswer {
    if (answer.category !== 'fatal' || answer.blame !== 'provider') return answer
    const restMs = Math.max(answer.retryAfterMs ?? 0, findPause(counterpart)?.restMs ?? 0)
    return restMs > 0 ? { ...answer, retryAfterMs: restMs } : answer
  }

  const pausedOutcome = ({ name: paused, cause }: Pick<Circuit, 'name' | 'cause'>, retryAfterMs: number): Fatal =>
    refuseFatal('paused', {
      by: name,
      ...(cause?.reason === 'misconfigured' && { reason: cause.reason }),
      error: `not sent: ${paused} is paused (${cause?.error ?? repeatedly})`,
      retryAfterMs,
    })

  const isSending = ({ breaker }: Circuit): boolean => breaker.restMs(clock.monotonic()) === 0

  /** Some counterpart is sending. Of several counterparts, only a proven one is known to work. */
  function works(): boolean {
    if (!isSending(whole)) return false
    const known = [...counterparts.known.values()]
    const isAnswering = (each: Counterpart): boolean => isSending(each) && !isStalled(each)
    return known.length <= 1 ? known.every(isAnswering) : known.some((each) => each.proven && isAnswering(each))
  }

  const toPause = ({ circuit, restMs }: Paused): Pause => ({
    name: circuit.name,
    restMs,
    refusal: pausedOutcome(circuit, Math.max(restMs, leastRestMs)),
  })

  /** The pause of a circuit itself. */
  const pauseOf = ({ breaker, cause }: Circuit): { readonly pause?: ServicePause } =>
    breaker.open ? { pause: { reason: cause?.error ?? repeatedly, restMs: breaker.restMs(clock.monotonic()) } } : {}

  return {
    name,
    concurrency: service.concurrency,
    reaches: (device) => service.reaches(device),
    works,
    get counterparts() {
      return counterparts.known.size
    },
    get paused() {
      return whole.breaker.open || [...counterparts.known.values()].some((each) => each.breaker.open || isStalled(each))
    },
    pause(device) {
      const pause = device
        ? findPause(counterparts.of(device))
        : whole.breaker.open && { circuit: whole, restMs: whole.breaker.restMs(clock.monotonic()) }
      return pause ? toPause(pause) : undefined
    },
    state: () => ({
      name,
      waiting: slots.waiting,
      ...pauseOf(whole),
      ...(service.counterpartOf && {
        counterparts: [...counterparts.known.values()].map((each) => ({
          name: each.counterpart,
          accepted: each.proven,
          ...(isStalled(each) ? { pause: { reason: stalled.error, restMs: 0 } } : pauseOf(each)),
        })),
      }),
    }),
    send,
    check: async () => (await service.check?.()) ?? [],
    async close() {
      pauses.close()
      await service.close?.()
    },
  }
}

const repeatedly = 'it has failed repeatedly'

interface Paused {
  readonly circuit: Pick<Circuit, 'name' | 'cause'>
  readonly restMs: number
}

/** The services with several counterparts answer within a fraction of this time. */
const stalledAfterMs = 1_000
const stalled = { reason: 'timeout', error: 'it has not answered for a second' } as const

/** The error names the cause: a key, the clock, an address, an account. */
const credentialRemedy =
  'do what the error says (bellwire doctor checks keys, clock and addresses); no message is lost: sending is retried automatically'

type Answer = Extract<DeviceAnswer, { category: 'fatal' }>

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
