// The target devices of a message: all devices of its user, or the named targets that belong to this user now (docs/contributing/decisions.md).

import { clock } from '../../base/runtime/clock.ts'
import { gather } from '../../base/runtime/gather.ts'
import { within } from '../../base/runtime/within.ts'
import { cleanToken } from '../../contract/device-token.ts'
import type { Failed } from '../../contract/outcome.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import type { Device } from '../devices/device.ts'
import type { DeviceSource, Holder } from '../devices/device-source.ts'

/** The kind of device of a named target that the registry has never seen: for operators without a registry. */
export type UnregisteredDevice = Pick<Device, 'kind' | 'app' | 'environment'>

export interface Targets {
  readonly devices: readonly Device[]
  /** Named targets that must not be used, each with the reason. */
  readonly refused: readonly { readonly token: string; readonly outcome: Failed }[]
}

export interface TargetQuery {
  readonly brand: string
  readonly userId: string
  /** The device tokens that the message names. Absent: all devices of the user. */
  readonly tokens?: readonly string[]
}

export interface TargetsOptions {
  readonly source: DeviceSource
  readonly unregistered?: UnregisteredDevice
  readonly signal: AbortSignal
  /** Most devices of a user that a message is sent to: the first ones of the source's answer. 200. */
  readonly maxDevices?: number
}

const timeoutMs = 5_000

type FindTargets = (query: TargetQuery) => Targets

interface LookUp extends TargetQuery {
  readonly resolve: (targets: Targets) => void
  readonly reject: (error: unknown) => void
}

/**
 * Finds targets. Rejects if the source cannot answer. The calls of one turn of the event loop are one look-up per brand.
 *
 * @example const { devices } = await createTargets({ source, signal })({ brand: '1', userId: '1001' })
 */
export function createTargets({
  source,
  unregistered,
  signal,
  maxDevices = 200,
}: TargetsOptions): (query: TargetQuery) => Promise<Targets> {
  const lookUpTogether = gather<LookUp>((lookUps) => {
    for (const [brand, ofBrand] of Map.groupBy(lookUps, (lookUp) => lookUp.brand)) {
      const byUser = ofBrand.filter(({ tokens }) => tokens === undefined)
      const byToken = ofBrand.filter(({ tokens }) => tokens !== undefined)
      if (byUser.length > 0) void answerAll(byUser, () => readDevices(brand, byUser))
      if (byToken.length > 0) void answerAll(byToken, () => readHolders(brand, byToken))
    }
  })

  async function answerAll(lookUps: readonly LookUp[], read: () => Promise<FindTargets>): Promise<void> {
    try {
      const targetsOf = await read()
      for (const lookUp of lookUps) lookUp.resolve(targetsOf(lookUp))
    } catch (error) {
      for (const lookUp of lookUps) lookUp.reject(error)
    }
  }

  async function readDevices(brand: string, lookUps: readonly LookUp[]): Promise<FindTargets> {
    const users = [...new Set(lookUps.map((lookUp) => lookUp.userId))]
    const context = { deadline: clock.now() + timeoutMs, signal }
    const found = await within(timeoutMs, source.findDevices(brand, users, context))
    if (!(found instanceof Map)) throw new Error(`the answer of ${source.name} is not a Map of user id to devices`)
    return ({ userId }) => {
      const devices = (found as ReadonlyMap<string, readonly Device[]>).get(userId) ?? []
      // Another user would get the message.
      if (devices.some((device) => device.brand !== brand || device.userId !== userId))
        throw new Error(`${source.name} returned a device of another user for ${userId}`)
      return { devices: devices.length > maxDevices ? devices.slice(0, maxDevices) : devices, refused: [] }
    }
  }

  async function readHolders(brand: string, lookUps: readonly LookUp[]): Promise<FindTargets> {
    const tokens = [...new Set(lookUps.flatMap((lookUp) => lookUp.tokens ?? []))]
    const context = { deadline: clock.now() + timeoutMs, signal }
    const found = await within(timeoutMs, source.findHolders(brand, tokens, context))
    if (!(found instanceof Map)) throw new Error(`the answer of ${source.name} is not a Map of token to holder`)
    return (query) => selectTargets(query, found as ReadonlyMap<string, Holder>, unregistered)
  }

  return (query) => new Promise((resolve, reject) => lookUpTogether({ ...query, resolve, reject }))
}

/** Splits the named targets into devices of this user and refused ones. */
function selectTargets(
  { brand, userId, tokens = [] }: TargetQuery,
  holders: ReadonlyMap<string, Holder>,
  unregistered?: UnregisteredDevice,
): Targets {
  // Keyed by the registered token: a message may write the same token in another way.
  const devices = new Map<string, Device>()
  const refused: { token: string; outcome: Failed }[] = []
  for (const token of tokens) {
    const holder = holders.get(token)
    if (holder === undefined && unregistered)
      devices.set(token, { ...unregistered, brand, userId, token: cleanToken(token), linkedAt: '' })
    else if (holder === undefined) refused.push({ token, outcome: neverLinked })
    else if (holder === 'nobody') refused.push({ token, outcome: unlinked })
    else if (holder.brand !== brand || holder.userId !== userId) refused.push({ token, outcome: ofAnotherUser })
    else devices.set(holder.token, holder)
  }
  return { devices: [...devices.values()], refused }
}

const neverLinked = refuseFailed('target_not_registered')
const unlinked = refuseFailed('target_unlinked')
const ofAnotherUser = refuseFailed('target_of_another_user')
