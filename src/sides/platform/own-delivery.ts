// Lanes without an operator (§1.2, §1.4): the platform delivers through a provider of its own, with the operator's send path. Each
// message is claimed in the store of its brand, suppressed by the CRM's attributes, and sent to the devices of the brand's registry.

import { withDefaults } from '../../base/runtime/present.ts'
import { defaultContentMapping } from '../../contract/content.ts'
import type { Fatal } from '../../contract/outcome.ts'
import { type ChannelPath, createSidePaths, type SidePaths } from '../../subjects/delivery/compose.ts'
import { createSuppression, type Suppression, suppressing } from '../../subjects/delivery/suppress.ts'
import type { DeviceSource } from '../../subjects/devices/device-source.ts'
import { devicesPerUser, type Registry } from '../../subjects/devices/registry.ts'
import { createExpiry } from '../../subjects/inbox/expiry.ts'
import type { Channel, Provider, Result } from '../../subjects/providers/provider.ts'
import { crmSource } from '../../subjects/reconcile/crm/attribute-source.ts'
import { type OwnDeliveryOptions, ownDeliveryLimits } from './options.ts'
import type { OwnStatuses } from './own-statuses.ts'
import type { PlatformStore, PlatformStores } from './stores.ts'

export interface OwnDelivery extends Omit<SidePaths, 'ofStores'> {
  /** The send path of a channel, as the provider of a lane. */
  providerOf(brand: string, channel: Channel): Provider
  readonly suppression: Suppression | undefined
  start(): Promise<void>
}

/** Most messages in one call of the send path. A lane has its own, lower limits. */
const mostPerCall = 10_000

interface OwnDeliveryParts {
  readonly perUser: number | undefined
  readonly signal: AbortSignal
  readonly statuses: OwnStatuses
}

export function createOwnDelivery(
  options: OwnDeliveryOptions,
  stores: PlatformStores,
  { perUser = devicesPerUser, signal, statuses }: OwnDeliveryParts,
): OwnDelivery {
  const { push, site, content } = options
  const suppression = createOwnSuppression(options, stores, signal)
  const { ofStores, ...paths } = createSidePaths({
    push,
    site,
    content: withDefaults(defaultContentMapping, content),
    stores: stores.all,
    registry: registryOf(stores),
    devicesPerUser: perUser,
    limits: withDefaults(ownDeliveryLimits, options.limits),
    checkMessage: suppression?.checkMessage,
    settledOps: (channel) => statuses.settledOps(channel === 'site' && site === 'inbox' ? 'delivered' : 'sent'),
  })
  const expiries = site === 'inbox' ? stores.all.map(({ database }) => createExpiry(database, statuses.inboxOps)) : []
  return {
    ...paths,
    providerOf(brand, channel) {
      const found = ofStores[stores.all.indexOf(stores.of(brand))]?.[channel]
      if (!found) throw new Error(`the platform has no provider of its own for ${channel} messages`)
      return throughPath(found)
    },
    suppression,
    async start() {
      await paths.removals?.start()
      for (const expiry of expiries) expiry.start()
    },
    async close() {
      await Promise.all(expiries.map((expiry) => expiry.stop()))
      await paths.close()
    },
  }
}

/**
 * The devices of all stores: each brand's are in its store. A brand that has moved keeps its old store here, whose triggers refuse
 * the brand's messages.
 */
function registryOf({ all, homeOf }: PlatformStores): DeviceSource {
  const [{ registry: main }, ...others] = all as readonly [PlatformStore, ...PlatformStore[]]
  if (others.length === 0) return main
  const of = (brand: string): Registry => homeOf(brand).registry
  return {
    name: main.name,
    findDevices: (brand, userIds, look) => of(brand).findDevices(brand, userIds, look),
    findHolders: (brand, tokens, look) => of(brand).findHolders(brand, tokens, look),
    refresh: async (device) => of(device.brand).refresh?.(device),
    isRevoked: (device) => of(device.brand).isRevoked(device),
    // Called for the devices of one message.
    unlink: (devices, why) => devices.slice(0, 1).flatMap(({ brand }) => of(brand).unlink(devices, why)),
    markProven: (devices) => devices.slice(0, 1).flatMap(({ brand }) => of(brand).markProven(devices)),
  }
}

/** The send path settles each message in its own row, before the lane settles it in the queue. */
function throughPath({ delivery, path }: ChannelPath): Provider {
  return {
    name: delivery.name,
    max: mostPerCall,
    async send(messages, { deadline }) {
      return toLaneResults(await path.send(messages, { deadline }))
    },
    check: () => delivery.check(),
  }
}

/**
 * The results as the lane needs them. The rows to write are settled already. If another message of the call was settled, a paused
 * push service is the matter of its own messages: the lane goes on with the devices of the other services.
 */
export function toLaneResults(results: readonly Result[]): readonly Result[] {
  const works = results.some(({ category }) => category !== 'fatal')
  return results.map(({ writes: _, untried: __, textMissingAt: ___, ...outcome }) =>
    works && outcome.category === 'fatal' && outcome.blame === 'provider'
      ? ({ ...outcome, blame: 'message' } satisfies Fatal)
      : outcome,
  )
}

function createOwnSuppression(
  { suppression = {} }: OwnDeliveryOptions,
  stores: PlatformStores,
  signal: AbortSignal,
): Suppression | undefined {
  if (suppression === 'none') return undefined
  return createSuppression(
    crmSource((brand) => stores.of(brand).crm, suppressing),
    signal,
    suppression,
  )
}
