// The Delivery that fans a message out to the devices of its user, each through the push service that reaches it (design §5.4, §5.5).

import { type ContentMapping, type PushContent, readPushContent, textMissingAt } from '../contract/content.ts'
import type { Failed } from '../contract/outcome.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import { deviceId, idOf } from '../devices/identity.ts'
import { leastRestMs } from '../providers/guard.ts'
import type { Message, Pause, Result } from '../providers/provider.ts'
import type { DeviceAnswer, PushService } from '../providers/push-service.ts'
import { invalidResult } from '../providers/read-results.ts'
import { emit } from '../runtime/events.ts'
import { timeOfUuidv7 } from '../runtime/ids.ts'
import type { Op } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { combine } from './combine.ts'
import type { Delivery, DeliveryContext } from './delivery.ts'
import {
  almostReached,
  expired,
  failed,
  noDevice,
  notReached,
  serviceRemedy,
  sourceDown,
  stillLinked,
} from './device-refusals.ts'
import { deviceSendRow, insertDeviceSends } from './device-sends.ts'
import { Freshness } from './freshness.ts'
import { LeavingDevice } from './leaving.ts'
import { type Guarded, type GuardedService, guardService, type ServiceGuardOptions } from './service-guard.ts'
import { createTargets, type Targets, type Unregistered, type Who } from './targets.ts'
import { provenDead } from './token-proof.ts'

export interface DevicesOptions {
  readonly source: DeviceSource
  /** Asked in this order: a device goes to the first that reaches it. */
  readonly services: readonly PushService[]
  /** Where the content stands in a request element (row 4). */
  readonly content?: ContentMapping
  /** How long after its first attempt a message may still be shown; 24 h. */
  readonly lifetimeMs?: number
  /** Named targets that were never linked are sent to, as devices of this kind; absent: they are not. */
  readonly unregisteredTargets?: Unregistered
  /** Most devices that one message goes to. 200. */
  readonly devicesPerUser?: number
  readonly guard?: ServiceGuardOptions
  /** Asked before a device is removed. Absent: nothing is counted. */
  readonly brake?: Brake
}

/** See removal-brake.ts. */
export interface Brake {
  /** A push service was asked, whatever it answered. */
  sent(service: string): void
  /** May this device of this user, which its provider proved dead, be removed? */
  mayRemove(service: string, device: string, user: string): boolean
}

const dayMs = 24 * 3_600_000

/** The result of a message at one device. */
interface Sent {
  readonly id: string
  readonly service: string
  readonly answer: DeviceAnswer
  /** The service was really asked. */
  readonly called: boolean
  /** Its provider proved it dead, and it may go. */
  readonly dead?: Device
}

/**
 * Each push service is guarded by itself, so a device that hangs costs its own message and no other, and a result is told when it
 * is there. Look-ups of all messages of a turn are one nevertheless, and so are commits. It is not to be wrapped in guard(): one
 * breaker for all services would stop those that work.
 *
 * @example
 * const push = createDevices({ source: registry, services: [createFcm(account), createApns(key)] })
 * createSendPath({ database, delivery: push, … })
 */
export function createDevices(options: DevicesOptions): Delivery {
  const { source, content: mapping, lifetimeMs = dayMs, unregisteredTargets: unregistered, brake } = options
  const services = named(options.services).map((service) => guardService(service, options.guard))
  const closing = new AbortController()
  const most = options.devicesPerUser === undefined ? {} : { most: options.devicesPerUser }
  const find = createTargets({ source, signal: closing.signal, ...most, ...(unregistered && { unregistered }) })
  const unreached = new Set<string>()

  /** Never rejects. One function and one wait after the other: of each push thousands may be waiting. */
  async function deliver(message: Message, context: DeliveryContext): Promise<Result> {
    try {
      const content = readPushContent(message.text, mapping)
      if ('error' in content) return reported(message, context, failed('invalid', 'content', content.error))
      const expiresAt = (timeOfUuidv7(message.ref) ?? Date.now()) + lifetimeMs
      if (Date.now() >= expiresAt) return reported(message, context, expired(lifetimeMs))
      const who = whoOf(message, content)
      const lookedAt = Date.now()
      let targets: Targets
      try {
        targets = await find(who)
      } catch (error) {
        return reported(message, context, sourceDown(error))
      }
      const { devices, refused } = targets
      if (devices.length === 0 && refused.length === 0) return reported(message, context, noDevice)
      const freshness = new Freshness(message, context, lookedAt, () => find(who))
      const reached = devices.map((device) => services.find((service) => service.reaches(device)))
      const sends = devices.map((device, i) => {
        const leaving = new LeavingDevice(source, device, freshness, context.fence)
        return reached[i]?.send({ ref: message.ref, device, content, expiresAt }, context, leaving)
      })
      const answers = sends.length === 1 ? [await sends[0]] : await Promise.all(sends)
      const results = devices.map((device, i) => judged(reached[i], device, answers[i]))
      for (const { token, outcome } of refused)
        results.push({ id: deviceId(token), service: '', answer: outcome, called: false })
      return reported(message, context, concluded(message, content, results))
    } catch (error) {
      return reported(message, context, invalidResult(String(error), 1, true))
    }
  }

  /** The pause that keeps a message from being sent; undefined where a service that works reaches it, or none does. */
  async function findPause(message: Message): Promise<Pause | undefined> {
    const everywhere = services.map((service) => service.pause())
    if (everywhere.every((pause) => pause !== undefined && pause.restMs > 0)) return shortest(everywhere as Pause[])
    const content = readPushContent(message.text, mapping)
    if ('error' in content) return undefined
    let devices: Targets['devices']
    try {
      devices = (await find(whoOf(message, content))).devices
    } catch (error) {
      return { name: source.name, restMs: leastRestMs, refusal: { ...sourceDown(error), retryAfterMs: leastRestMs } }
    }
    const reached = devices.map((device) => services.find((service) => service.reaches(device)))
    const pauses = reached.flatMap((service) => (service ? [service.pause()] : []))
    if (pauses.length === 0 || pauses.includes(undefined)) return undefined
    const pause = shortest(pauses as Pause[])
    return { ...pause, refusal: { ...pause.refusal, blame: othersWork() ? 'message' : 'provider' } }
  }

  const othersWork = (): boolean => services.length > 1 && services.some((service) => service.works())

  /** What the answer means for the device. */
  function judged(service: GuardedService | undefined, device: Device, sent: Guarded | undefined): Sent {
    if (!service || !sent) return unreachable(device)
    const { name } = service
    const { answer, called } = sent
    const id = idOf(device)
    if (!called) return { id, service: name, answer, called }
    brake?.sent(name)
    const registered = device.linkedAt !== '' && source.unlink !== undefined
    if (!registered || !provenDead(answer, device.linkedAt)) return { id, service: name, answer, called }
    if (brake && !brake.mayRemove(name, id, `${device.brand} ${device.userId}`))
      return { id, service: name, answer: stillLinked(answer as Failed), called }
    return { id, service: name, answer, called, dead: device }
  }

  /** A gap in the configuration: somebody should hear of it, once. */
  function unreachable(device: Device): Sent {
    const { kind, app: _app, environment: _environment, ...rest } = device
    // Its kind is sent to, but not its app or environment: perhaps it is that setting which is wrong, so nothing is burned.
    const nearly = services.find((service) => service.reaches({ kind, ...rest }))
    const answer = nearly ? almostReached(nearly.name, device) : notReached(device)
    if (unreached.size < 100 && !unreached.has(answer.error)) {
      unreached.add(answer.error)
      emit('provider.alert', { provider: nearly?.name ?? 'devices', error: answer.error, remedy: serviceRemedy })
    }
    return { id: idOf(device), service: '', answer, called: false }
  }

  function concluded(message: Message, content: PushContent, sent: readonly Sent[]): Result {
    const outcome = combine(
      sent.map(({ answer }) => answer),
      othersWork(),
    )
    for (const { id, service, answer } of sent) {
      const { category, rule } = answer
      const uncertain = category === 'fatal' && answer.uncertain === true
      emit('device.sent', { brand: message.brand, ref: message.ref, device: id, service, category, rule, uncertain })
    }
    if (outcome.category === 'fatal' && sent.every(isUntried)) return { ...outcome, untried: true }
    const at = Date.now()
    const rows = sent.map(({ id, service, answer }) => deviceSendRow(message, id, service, answer, at))
    const writes = [op(insertDeviceSends, rows), ...(sent.some(({ dead }) => dead) ? unlinking(message, sent) : [])]
    if (outcome.category !== 'successful') return { ...outcome, writes }
    const missing = textMissingAt(content, mapping)
    return { ...outcome, ref: message.ref, writes, ...(missing && { textMissingAt: missing }) }
  }

  function unlinking({ brand, ref }: Message, sent: readonly Sent[]): readonly Op[] {
    const dead = new Map<string, Device[]>()
    for (const { id, service, answer, dead: device } of sent) {
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
    // Each service bounds its own.
    concurrency: Number.POSITIVE_INFINITY,
    transactional: false,
    findPauses: (messages) =>
      services.some((service) => service.pause() !== undefined) ? Promise.all(messages.map(findPause)) : undefined,
    deliver: (messages, context) => Promise.all(messages.map((message) => deliver(message, context))),
    check: async () => (await Promise.all(services.map((service) => service.check()))).flat(),
    async close() {
      closing.abort()
      await Promise.all(services.map((service) => service.close()))
    },
  }
}

const whoOf = ({ brand, userId }: Message, { tokens }: PushContent): Who =>
  tokens ? { brand, userId, tokens } : { brand, userId }

const shortest = (pauses: readonly Pause[]): Pause =>
  pauses.reduce((least, pause) => (pause.restMs < least.restMs ? pause : least))

/** Its service was paused or full. Any other reason for not sending is stored as evidence. */
const isUntried = ({ called, service, answer }: Sent): boolean =>
  !called && service !== '' && answer.category === 'fatal' && answer.blame === 'provider'

function reported(message: Message, context: DeliveryContext, result: Result): Result {
  context.report(message, result)
  return result
}

/** Services are told apart by name, in evidence, metrics and the removal brake. */
function named(services: readonly PushService[]): readonly PushService[] {
  const names = services.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw new TypeError(`two push services are named ${twice}: give each a name of its own`)
  if (services.length === 0) throw new TypeError('there is no push service: give at least one')
  return services
}
