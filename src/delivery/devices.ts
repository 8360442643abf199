// The Provider that fans a message out to the devices of its user, each through the push service that reaches it (design §5.4, §5.5).

import { type ContentMapping, readPushContent } from '../contract/content.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import { deviceId, idOf } from '../devices/identity.ts'
import type { MayLeave, Message, Provider, Result, SendContext } from '../providers/provider.ts'
import type { DeviceAnswer, PushService } from '../providers/push-service.ts'
import { nonsense } from '../providers/read-results.ts'
import { emit } from '../runtime/events.ts'
import { timeOfUuidv7 } from '../runtime/ids.ts'
import type { Op, Value } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { combine } from './combine.ts'
import {
  almostReached,
  failed,
  held,
  noDevice,
  notReached,
  revoked,
  serviceRemedy,
  sourceDown,
  storeAway,
} from './device-refusals.ts'
import { deviceSendRow, insertDeviceSends } from './device-sends.ts'
import { type Fresh, watchFresh } from './freshness.ts'
import { type GuardedService, guardService, type Leaving, type ServiceGuardOptions } from './service-guard.ts'
import { createTargets, type Targets, type Unregistered } from './targets.ts'
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
  readonly guard?: ServiceGuardOptions
  /** Asked before a device is removed. Absent: nothing is counted. */
  readonly brake?: Brake
}

/** See removal-brake.ts. */
export interface Brake {
  /** A push service was asked, whatever it answered. */
  sent(service: string): void
  /** May this device, which its provider proved dead, be removed? */
  mayRemove(service: string, device: string): boolean
}

const dayMs = 24 * 3_600_000

/** What became of a message at one device. */
interface Sent {
  readonly id: string
  readonly service: string
  readonly answer: DeviceAnswer
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
 * createSendPath({ database, provider: push, … })
 */
export function createDevices(options: DevicesOptions): Provider {
  const { source, content: mapping, lifetimeMs = dayMs, unregisteredTargets: unregistered, brake } = options
  const services = named(options.services).map((service) => guardService(service, options.guard))
  const closing = new AbortController()
  const find = createTargets({ source, signal: closing.signal, ...(unregistered && { unregistered }) })
  const unreached = new Set<string>()

  async function deliver(message: Message, context: SendContext): Promise<Result> {
    const content = readPushContent(message.text, mapping)
    if ('error' in content) return failed('invalid', 'content', content.error)
    const expiresAt = (timeOfUuidv7(message.ref) ?? Date.now()) + lifetimeMs
    if (Date.now() >= expiresAt)
      return failed('expired', 'lifetime over', `not sent: its lifetime of ${lifetimeMs / 3_600_000} h is over`)
    const { brand, userId } = message
    const who = { brand, userId, ...(content.tokens && { tokens: content.tokens }) }
    const lookedAt = Date.now()
    let targets: Targets
    try {
      targets = await find(who)
    } catch (error) {
      return sourceDown(error)
    }
    const { devices, refused } = targets
    if (devices.length === 0 && refused.length === 0) return noDevice
    const fresh = watchFresh(message, context, lookedAt, () => find(who))
    let departing: Promise<MayLeave> | undefined
    const depart = (): Promise<MayLeave> | undefined => {
      departing ??= context.depart?.(message)
      return departing
    }
    const sends = devices.map(async (device): Promise<Sent> => {
      const service = services.find((each) => each.reaches(device))
      if (!service) return unreachable(device)
      const push = { ref: message.ref, device, content, expiresAt }
      const { answer, called } = await service.send(push, context, leaving(device, fresh, depart))
      return judged(service, device, answer, called)
    })
    const results = devices.length === 1 ? [await (sends[0] as Promise<Sent>)] : await Promise.all(sends)
    for (const { token, outcome } of refused) results.push({ id: deviceId(token), service: '', answer: outcome })
    return concluded(message, results)
  }

  /** Before a push leaves: what was read is not old, and the message is marked as leaving. */
  function leaving(device: Device, fresh: Fresh, depart: () => Promise<MayLeave> | undefined): Leaving {
    let mayLeave: MayLeave | undefined
    return {
      async prepare() {
        const before = fresh(device)
        const refused = before instanceof Promise ? await before : before
        if (refused) return refused
        try {
          mayLeave = await depart()
        } catch (error) {
          return storeAway(error)
        }
        return fresh(device)
      },
      veto: () => (source.revoked?.(device) ? revoked : mayLeave?.()),
    }
  }

  /** What the answer means for the device. */
  function judged({ name }: GuardedService, device: Device, answer: DeviceAnswer, called: boolean): Sent {
    const id = idOf(device)
    if (!called) return { id, service: name, answer }
    brake?.sent(name)
    const registered = device.linkedAt !== '' && source.unlink !== undefined
    if (!registered || !provenDead(answer, device.linkedAt)) return { id, service: name, answer }
    if (brake && !brake.mayRemove(name, id)) return { id, service: name, answer: held(name, answer) }
    return { id, service: name, answer, dead: device }
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
    return { id: idOf(device), service: '', answer }
  }

  function concluded(message: Message, sent: readonly Sent[]): Result {
    const outcome = combine(
      sent.map(({ answer }) => answer),
      services.length > 1 && services.some((service) => service.works()),
    )
    const at = Date.now()
    const rows: Value[][] = []
    const dead = new Map<string, Device[]>()
    for (const { id, service, answer, dead: device } of sent) {
      rows.push(deviceSendRow(message, id, service, answer, at))
      const { category, rule } = answer
      const uncertain = category === 'fatal' && answer.uncertain === true
      emit('device.sent', { brand: message.brand, ref: message.ref, device: id, service, category, rule, uncertain })
      if (!device) continue
      const why = `${service}: ${rule}`
      dead.set(why, [...(dead.get(why) ?? []), device])
      emit('device.dropped', { brand: message.brand, ref: message.ref, device: id, service, why: rule })
    }
    const unlinks = [...dead].flatMap(([why, devices]): readonly Op[] => source.unlink?.(devices, why) ?? [])
    const writes = [op(insertDeviceSends, rows), ...unlinks]
    return outcome.category === 'successful' ? { ...outcome, ref: message.ref, writes } : { ...outcome, writes }
  }

  return {
    name: 'devices',
    max: 1_000,
    departs: true,
    atOnce: services.reduce((sum, { concurrency }) => sum + concurrency, 0),
    send: (messages, context) =>
      Promise.all(
        messages.map(async (message) => {
          const result = await deliver(message, context).catch((error: unknown) => nonsense(String(error), 1, true))
          context.tell?.(message, result)
          return result
        }),
      ),
    check: async () => (await Promise.all(services.map((service) => service.check()))).flat(),
    async close() {
      closing.abort()
      await Promise.all(services.map((service) => service.close()))
    },
  }
}

/** Services are told apart by name, in evidence, metrics and the removal brake. */
function named(services: readonly PushService[]): readonly PushService[] {
  const names = services.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw new TypeError(`two push services are named ${twice}: give each a name of its own`)
  if (services.length === 0) throw new TypeError('there is no push service: give at least one')
  return services
}
