// Lanes without an operator (§1.2, §1.4): the platform delivers through a provider of its own, with the operator's send path. Each
// message is claimed in the store of its brand, suppressed by the CRM's attributes, and sent to the devices of the brand's registry.

import type { Fatal } from '../contract/outcome.ts'
import { createStorePaths, type StorePath } from '../delivery/store-paths.ts'
import { createSuppression, type Suppression } from '../delivery/suppress.ts'
import { joinRegistries } from '../devices/join-registries.ts'
import { devicesPerUser } from '../devices/registry.ts'
import { createRemovalKeeper, type RemovalKeeper } from '../devices/removals/keeper.ts'
import type { Channel, Provider, Result } from '../providers/provider.ts'
import { crmSource } from '../reconcile/crm/attribute-source.ts'
import { type OwnDeliveryOptions, ownDeliveryLimits, suppressionFields } from './options.ts'
import type { PlatformStore, PlatformStores } from './stores.ts'

export interface OwnDelivery {
  /** The send path of a channel, as the provider of a lane. */
  providerOf(brand: string, channel: Channel): Provider
  readonly suppression: Suppression | undefined
  /** The brake on removals. Absent: no lane sends to devices. */
  readonly removals: RemovalKeeper | undefined
  start(): Promise<void>
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Most messages in one call of the send path. A lane has its own, lower limits. */
const mostPerCall = 10_000

export function createOwnDelivery(
  options: OwnDeliveryOptions,
  stores: PlatformStores,
  { perUser = devicesPerUser, signal }: { readonly perUser: number | undefined; readonly signal: AbortSignal },
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
  const paths = createStorePaths(stores.all, {
    push,
    site,
    content,
    registry: joinRegistries(
      (brand) => stores.homeOf(brand).registry,
      stores.all.map(({ registry }) => registry),
    ),
    brake: removals,
    devicesPerUser: perUser,
    suppression,
    limits,
  })

  return {
    providerOf(brand, channel) {
      const found = paths.of(stores.of(brand).number, channel)
      if (!found) throw new Error(`the platform has no provider of its own for ${channel} messages`)
      return throughPath(found)
    },
    suppression,
    removals,
    start: async () => removals?.start(),
    idle: paths.idle,
    async close() {
      await removals?.stop()
      await paths.close()
    },
  }
}

/** The send path settles each message in its own row, before the lane settles it in the queue. */
function throughPath({ delivery, path }: StorePath): Provider {
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
  const { fields = suppressionFields, ...options } = suppression
  return createSuppression(
    crmSource((brand) => stores.of(brand).crm, fields),
    signal,
    options,
  )
}
