// The Delivery that fans a message out to the devices of its user, each through its own push service (docs/contributing/decisions.md).

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createFairSemaphore } from '../../base/runtime/fair-semaphore.ts'
import type { Op } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { type ContentMapping, type PushContent, readPushContent, textMissingAt } from '../../contract/content.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import type { Failed, Outcome } from '../../contract/outcome.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import { deviceId, idOf } from '../devices/identity.ts'
import type { Brake } from '../devices/removals/keeper.ts'
import { expiryOf } from '../providers/expiry.ts'
import { leastRestMs } from '../providers/guard.ts'
import { type PresentationRule, presentationOf } from '../providers/presentation.ts'
import type { Message, Pause, Result } from '../providers/provider.ts'
import type { DeviceAnswer, PushService } from '../providers/push-service.ts'
import { invalidResult } from '../providers/read-results.ts'
import { combine } from './combine.ts'
import type { Delivery, DeliveryContext } from './delivery.ts'
import { expired, noService, removalStopped, serviceRemedy, serviceWithoutApp, sourceDown } from './device-refusals.ts'
import { deviceSendRow, insertDeviceSends } from './device-sends.ts'
import { DeviceSendChecks, Freshness } from './send-checks.ts'
import { type GuardedAnswer, type GuardedService, guardService, type ServiceGuardOptions } from './service-guard.ts'
import { createTargets, type TargetQuery, type Targets, type UnregisteredDevice } from './targets.ts'
import { isProvenDead } from './token-proof.ts'

export interface DevicesOptions {
  readonly source: DeviceSource
  /** In order of preference: a device is sent to through the first service that reaches it. */
  readonly services: readonly PushService[]
  /** The pointers to the content in a request element (row 4). */
  readonly content?: ContentMapping
  /** Lifetime of a message, from its first attempt; 24 h. */
  readonly lifetimeMs?: number
  /** How devices present messages, for fields that the platform does not send. A later rule replaces the fields of an earlier one. */
  readonly presentation?: readonly PresentationRule[]
  /** Send to named targets that were never linked, as devices of this kind. Absent: refuse them. */
  readonly unregisteredTargets?: UnregisteredDevice
  /** Most devices that one message is sent to. 200. */
  readonly devicesPerUser?: number
  readonly guard?: ServiceGuardOptions
  /** Called before a device is removed. Absent: removals are not limited. */
  readonly brake?: Brake
}

const dayMs = 24 * 3_600_000

/** The result of a message at one device. */
interface DeviceResult {
  readonly id: string
  readonly service: string
  readonly answer: DeviceAnswer
  /** False: the answer was given without a call of the service. */
  readonly called: boolean
  /** The device, if its push service proved it dead and the brake allows the removal. */
  readonly dead?: Device
  /** The device, if this is the first push to it that was accepted. */
  readonly proven?: Device
}

/**
 * Each push service has its own guard, so a device that hangs delays only its own message, and each result is reported as soon as
 * it is known. The look-ups of one turn of the event loop are still one query, and so are the commits. Do not wrap it in guard():
 * one breaker for all services would also stop the services that work.
 *
 * @example
 * const push = createDevices({ source: registry, services: [createFcm(account), createApns(key)] })
 * createSendPath({ database, delivery: push, … })
 */
export function createDevices(options: DevicesOptions): Delivery {
  const { source, content: mapping, lifetimeMs = dayMs, unregisteredTargets: unregistered, brake } = options
  const services = checkNames(options.services).map((service) => guardService(service, options.guard))
  const { presentation: rules = [] } = options
  const closing = new AbortController()
  const limit = options.devicesPerUser === undefined ? {} : { maxDevices: options.devicesPerUser }
  const findTargets = createTargets({ source, signal: closing.signal, ...limit, ...(unregistered && { unregistered }) })
  const alerted = new Set<string>()

  /** Never rejects. One function with few awaits, because thousands of pushes may wait here at once. */
  async function deliver(message: Message, context: DeliveryContext): Promise<Result> {
    try {
      const content = readPushContent(message.text, mapping, message.element)
      if ('error' in content) return report(message, context, refuseFailed('unreadable_push', { error: content.error }))
      const expiresAt = expiryOf(message.ref, content, lifetimeMs)
      if (clock.now() >= expiresAt) return report(message, context, expired(content, lifetimeMs))
      const query = targetQueryOf(message, content)
      const readAt = clock.monotonic()
      let targets: Targets
      try {
        targets = await findTargets(query)
      } catch (error) {
        return report(message, context, sourceDown(error))
      }
      const { devices, refused } = targets
      if (devices.length === 0 && refused.length === 0) return report(message, context, refuseFailed('no_device'))
      const freshness = new Freshness(message, context, readAt, () => findTargets(query))
      const serviceOf = devices.map((device) => services.find((service) => service.reaches(device)))
      const { traceparent } = message.context
      const sends = devices.map((device, i) => {
        const checks = new DeviceSendChecks(source, device, freshness, context.fence)
        const presented = rules.length === 0 ? { content } : present(message, content, serviceOf[i]?.name, device.app)
        return serviceOf[i]?.send({ ref: message.ref, device, ...presented, expiresAt, traceparent }, context, checks)
      })
      const answers = sends.length === 1 ? [await sends[0]] : await Promise.all(sends)
      const results = devices.map((device, i) => toDeviceResult(serviceOf[i], device, answers[i]))
      for (const { token, outcome } of refused)
        results.push({ id: deviceId(token), service: '', answer: outcome, called: false })
      return report(message, context, toResult(message, content, results))
    } catch (error) {
      return report(message, context, invalidResult(String(error), 1, true))
    }
  }

  function present(message: Message, content: PushContent, service = '', app?: string) {
    const { activityId: activity } = readMessageKey(message.key)
    const presentation = presentationOf(rules, { service, app, activity })
    return {
      content: content.url === undefined && presentation.url ? { ...content, url: presentation.url } : content,
      presentation,
    }
  }

  /** The pause that keeps a message from being sent. Undefined: a service that works reaches it, or no service reaches it. */
  async function findPause(message: Message): Promise<Pause | undefined> {
    const all = services.map((service) => service.pause())
    if (all.every((pause) => pause !== undefined && pause.restMs > 0)) return shortestPause(all as Pause[])
    const content = readPushContent(message.text, mapping, message.element)
    if ('error' in content) return undefined
    let devices: Targets['devices']
    try {
      devices = (await findTargets(targetQueryOf(message, content))).devices
    } catch (error) {
      return { name: source.name, restMs: leastRestMs, refusal: { ...sourceDown(error), retryAfterMs: leastRestMs } }
    }
    const pauses: Pause[] = []
    const names = new Map<Pause, string>()
    for (const device of devices) {
      const service = services.find((each) => each.reaches(device))
      const pause = service?.pause(device)
      if (service && !pause) return undefined
      if (service && pause) {
        pauses.push(pause)
        names.set(pause, service.name)
      }
    }
    if (pauses.length === 0) return undefined
    const pause = shortestPause(pauses)
    const blame = someServiceWorks() ? 'message' : 'provider'
    return { ...pause, refusal: nameService({ ...pause.refusal, blame }, names.get(pause)) }
  }

  /** Whether messages for other services, or other counterparts of the same service, are being sent. */
  const someServiceWorks = (): boolean =>
    (services.length > 1 || services.some(({ counterparts }) => counterparts > 1)) &&
    services.some((service) => service.works())

  /** Evaluates the answer: may the device be removed? */
  function toDeviceResult(
    service: GuardedService | undefined,
    device: Device,
    sent: GuardedAnswer | undefined,
  ): DeviceResult {
    if (!service || !sent) return unreachable(device)
    const { name } = service
    const { answer, called } = sent
    const id = idOf(device)
    if (!called) return { id, service: name, answer, called }
    brake?.recordSend(name)
    if (answer.category === 'successful' && device.unproven)
      return { id, service: name, answer, called, proven: device }
    const registered = device.linkedAt !== '' && source.unlink !== undefined
    if (!registered || !isProvenDead(answer, device.linkedAt)) return { id, service: name, answer, called }
    if (brake && !brake.mayRemove(name, device))
      return { id, service: name, answer: removalStopped(answer as Failed), called }
    return { id, service: name, answer, called, dead: device }
  }

  /** No service reaches the device: the configuration has a gap, which raises one alert. */
  function unreachable(device: Device): DeviceResult {
    const { kind, app: _app, environment: _environment, ...rest } = device
    // A service reaches the kind, but not the app or environment. That setting may be wrong, so the message is fatal, not failed.
    const sameKind = services.find((service) => service.reaches({ kind, ...rest }))
    const answer = sameKind ? serviceWithoutApp(sameKind.name, device) : noService(device)
    if (alerted.size < 100 && !alerted.has(answer.error)) {
      alerted.add(answer.error)
      emit('provider.alert', { provider: sameKind?.name ?? 'devices', error: answer.error, remedy: serviceRemedy })
    }
    return { id: idOf(device), service: sameKind?.name ?? '', answer, called: false }
  }

  function toResult(message: Message, content: PushContent, results: readonly DeviceResult[]): Result {
    const outcome = nameService(
      combine(
        results.map(({ answer }) => answer),
        someServiceWorks(),
      ),
      results.find(isOfService)?.service,
    )
    for (const { id, service, answer } of results) {
      const { category, rule } = answer
      const uncertain = category === 'fatal' && answer.uncertain === true
      emit('device.sent', { brand: message.brand, ref: message.ref, device: id, service, category, rule, uncertain })
    }
    if (outcome.category === 'fatal' && results.every(isUntried)) return { ...outcome, untried: true }
    const at = clock.now()
    const rows = results.map(({ id, service, answer }) => deviceSendRow(message, id, service, answer, at))
    const proven = results.flatMap(({ proven }) => proven ?? [])
    const writes = [
      op(insertDeviceSends, rows),
      ...(proven.length > 0 ? (source.markProven?.(proven) ?? []) : []),
      ...(results.some(({ dead }) => dead) ? unlinkDead(message, results) : []),
    ]
    if (outcome.category !== 'successful') return { ...outcome, writes }
    const missing = textMissingAt(content, mapping)
    return { ...outcome, ref: message.ref, writes, ...(missing && { textMissingAt: missing }) }
  }

  function unlinkDead({ brand, ref }: Message, results: readonly DeviceResult[]): readonly Op[] {
    const dead = new Map<string, Device[]>()
    for (const { id, service, answer, dead: device } of results) {
      if (!device) continue
      const why = `${service}: ${answer.rule}`
      dead.set(why, [...(dead.get(why) ?? []), device])
      emit('device.dropped', { brand, ref, device: id, service, why: answer.rule })
    }
    return [...dead].flatMap(([why, devices]): readonly Op[] => source.unlink?.(devices, why) ?? [])
  }

  return {
    name: 'devices',
    max: 1_000,
    // Each service has its own limit.
    slots: createFairSemaphore(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    transactional: false,
    findPauses: (messages) =>
      services.some(({ paused }) => paused) ? Promise.all(messages.map(findPause)) : undefined,
    deliver: (messages, context) => Promise.all(messages.map((message) => deliver(message, context))),
    states: () => services.map((service) => service.state()),
    check: async () => (await Promise.all(services.map((service) => service.check()))).flat(),
    async close() {
      closing.abort()
      await Promise.all(services.map((service) => service.close()))
    },
  }
}

const targetQueryOf = ({ brand, userId }: Message, { tokens }: PushContent): TargetQuery =>
  tokens ? { brand, userId, tokens } : { brand, userId }

/** The service or its configuration is the cause, and not this message. */
const isOfService = ({ answer }: DeviceResult): boolean =>
  answer.category === 'fatal' && (answer.blame === 'provider' || answer.reason === 'misconfigured')

/** Row 59: the platform learns which push service a fatal message waits for, unless the whole operator waits. */
function nameService<Any extends Outcome>(outcome: Any, service: string | undefined): Any {
  return outcome.category === 'fatal' && outcome.blame === 'message' && service ? { ...outcome, service } : outcome
}

const shortestPause = (pauses: readonly Pause[]): Pause =>
  pauses.reduce((least, pause) => (pause.restMs < least.restMs ? pause : least))

/** Its service was paused or full. Any other reason for not sending is stored as evidence. */
const isUntried = ({ called, service, answer }: DeviceResult): boolean =>
  !called && service !== '' && answer.category === 'fatal' && answer.blame === 'provider'

function report(message: Message, context: DeliveryContext, result: Result): Result {
  context.report(message, result)
  return result
}

/** Evidence, metrics and the removal brake identify a service by its name. */
function checkNames(services: readonly PushService[]): readonly PushService[] {
  const names = services.map(({ name }) => name)
  const duplicate = names.find((name, i) => names.indexOf(name) < i)
  if (duplicate !== undefined) throw new TypeError(`two push services are named ${duplicate}: give each its own name`)
  if (services.length === 0) throw new TypeError('there is no push service: configure at least one')
  return services
}
