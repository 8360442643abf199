// Lanes without an operator (§1.2, §1.4): the platform delivers through a provider of its own, with the operator's send path. Each
// message is claimed in the store of its brand, suppressed by the CRM's attributes, and sent to the devices of the brand's registry.

import type { Fatal } from '../../contract/outcome.ts'
import { createPushDelivery, createSiteDelivery, pathLimits } from '../../subjects/delivery/compose.ts'
import type { Delivery } from '../../subjects/delivery/delivery.ts'
import { createSendPath, type SendPath } from '../../subjects/delivery/send-path.ts'
import { createSuppression, type Suppression, suppressing } from '../../subjects/delivery/suppress.ts'
import type { DeviceSource } from '../../subjects/devices/device-source.ts'
import { devicesPerUser, type Registry } from '../../subjects/devices/registry.ts'
import { createRemovalKeeper, type RemovalKeeper } from '../../subjects/devices/removals/keeper.ts'
import { createExpiry } from '../../subjects/inbox/expiry.ts'
import type { Channel, Provider, Result } from '../../subjects/providers/provider.ts'
import { crmSource } from '../../subjects/reconcile/crm/attribute-source.ts'
import type { ChannelServices } from '../admin/services.ts'
import { type OwnDeliveryOptions, ownDeliveryLimits } from './options.ts'
import type { OwnStatuses } from './own-statuses.ts'
import type { PlatformStore, PlatformStores } from './stores.ts'

export interface OwnDelivery {
  /** The send path of a channel, as the provider of a lane. */
  providerOf(brand: string, channel: Channel): Provider
  readonly suppression: Suppression | undefined
  /** The push services and providers. */
  readonly services: readonly ChannelServices[]
  /** The brake on removals. Absent: no lane sends to devices. */
  readonly removals: RemovalKeeper | undefined
  start(): Promise<void>
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
  close(): Promise<void>
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
  const limits = { ...ownDeliveryLimits, ...options.limits }
  const suppression = createOwnSuppression(options, stores, signal)
  const [main] = stores.all as readonly [PlatformStore, ...PlatformStore[]]
  const removals =
    push && 'devices' in push
      ? createRemovalKeeper({
          // Several brands may share a credential, so the brake has one database.
          database: main.database,
          ...(push.devices.removals && { limits: push.devices.removals }),
        })
      : undefined
  const parts = { registry: registryOf(stores), brake: removals, devicesPerUser: perUser, content, limits }
  // The stores share the providers, so a provider has one rate, one breaker and one pause. Each store has an inbox of its own.
  const pushDelivery = push && createPushDelivery(push, parts)
  const provider = site && site !== 'inbox' ? createSiteDelivery(site, main.database, parts) : undefined
  const paths = stores.all.map((store) => ({
    push: pathOf(store, pushDelivery, 'sent'),
    site: pathOf(
      store,
      provider ?? (site && createSiteDelivery(site, store.database, parts)),
      site === 'inbox' ? 'delivered' : 'sent',
    ),
  }))
  const expiries = site === 'inbox' ? stores.all.map(({ database }) => createExpiry(database, statuses.inboxOps)) : []
  const all = paths.flatMap(({ push, site }) => [push, site]).filter((path) => path !== undefined)

  function pathOf(
    { database, erased }: PlatformStore,
    delivery: Delivery | undefined,
    success: 'sent' | 'delivered',
  ): OwnPath | undefined {
    if (!delivery) return undefined
    const checkMessage = suppression?.checkMessage
    const settledOps = statuses.settledOps(success)
    return {
      delivery,
      path: createSendPath({ database, delivery, checkMessage, settledOps, erased, ...pathLimits(limits) }),
    }
  }

  return {
    providerOf(brand, channel) {
      const found = paths[stores.all.indexOf(stores.of(brand))]?.[channel]
      if (!found) throw new Error(`the platform has no provider of its own for ${channel} messages`)
      return throughPath(found)
    },
    suppression,
    services: servicesOf(paths),
    removals,
    async start() {
      await removals?.start()
      for (const expiry of expiries) expiry.start()
    },
    idle: async () => void (await Promise.all(all.map(({ path }) => path.idle()))),
    async close() {
      await Promise.all([removals, ...expiries].map((each) => each?.stop()))
      await Promise.all([...new Set(all.map(({ delivery }) => delivery))].map((delivery) => delivery.close()))
    },
  }
}

/** Each service once: the stores share the push services and the provider. */
function servicesOf(paths: readonly { readonly [Each in Channel]: OwnPath | undefined }[]): readonly ChannelServices[] {
  return (['push', 'site'] as const).flatMap((channel) =>
    [...new Set(paths.flatMap((path) => path[channel]?.delivery ?? []))].map(({ states }) => ({ channel, states })),
  )
}

interface OwnPath {
  readonly delivery: Delivery
  readonly path: SendPath
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
function throughPath({ delivery, path }: OwnPath): Provider {
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
