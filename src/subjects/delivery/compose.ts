// The send paths of the channels, from the options that both sides have: the operator for the requests of §4.1, and the
// platform for lanes with a provider of its own.

import { present } from '../../base/runtime/present.ts'
import type { Database } from '../../base/store/database.ts'
import type { ContentMapping } from '../../contract/content.ts'
import { type Channel, channels } from '../../contract/endpoints.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { RemovalLimits } from '../devices/removals/brake.ts'
import { createRemovalKeeper, type RemovalKeeper } from '../devices/removals/keeper.ts'
import { createInbox } from '../inbox/inbox.ts'
import { guard } from '../providers/guard.ts'
import type { Provider } from '../providers/provider.ts'
import type { Delivery } from './delivery.ts'
import { createDevices, type DevicesOptions } from './devices.ts'
import { createSendPath, type SendPath, type SendPathOptions } from './send-path.ts'
import type { SettledOps } from './settle.ts'
import { throughProvider } from './through-provider.ts'

/** Sends push messages to the devices of their users. */
export interface PushDevices extends Omit<DevicesOptions, 'content' | 'brake' | 'source' | 'devicesPerUser'> {
  /** The source of the users' devices: the built-in registry, which link and unlink fill, or your own source. */
  readonly source: DeviceSource | 'registry'
  /** Limits of the automatic removal of dead devices. Beyond them, a person has to confirm. */
  readonly removals?: Partial<RemovalLimits>
}

/** The destination of push messages: the users' devices, or your own provider. */
export type PushOptions = Provider | { readonly devices: PushDevices }

export interface ProviderLimits {
  readonly providerConcurrency: number
  readonly providerTimeoutMs: number
}

type Store = Required<Pick<SendPathOptions, 'database' | 'erased'>>

interface SidePathsOptions extends Pick<SendPathOptions, 'checkMessage'> {
  readonly push: PushOptions | undefined
  readonly site: Provider | 'inbox' | undefined
  readonly content: ContentMapping | undefined
  /** The stores of the messages. Several brands may share a credential, so removals have one store: the first. */
  readonly stores: readonly Store[]
  readonly registry: DeviceSource
  readonly devicesPerUser: number
  readonly limits: ProviderLimits & { readonly answerBudgetMs: number; readonly inProgress: number }
  /** Undefined: statuses are not recorded. */
  readonly settledOps: (channel: Channel) => SettledOps | undefined
}

/** The send path of a channel in one store. */
export interface ChannelPath {
  readonly delivery: Delivery
  readonly path: SendPath
}

export type SidePaths = ReturnType<typeof createSidePaths>

export function createSidePaths(options: SidePathsOptions) {
  const { push, site, content, stores, limits, checkMessage, settledOps } = options
  const [{ database: first }] = stores as readonly [Store, ...Store[]]
  const removals =
    push && 'devices' in push
      ? createRemovalKeeper({ database: first, ...present({ limits: push.devices.removals }) })
      : undefined
  // The stores share the providers, so a provider has one rate, one breaker and one pause. Each store has an inbox of its own.
  const pushDelivery = push && createPushDelivery(push, options, removals)
  const provider = site && site !== 'inbox' ? deliverThrough(site, limits) : undefined
  const inboxIn = (database: Database): Delivery =>
    deliverThrough(createInbox({ database, ...present({ content }) }), limits)
  const ofStores = stores.map((store) => ({
    push: pathOf('push', store, pushDelivery),
    site: pathOf('site', store, site === 'inbox' ? inboxIn(store.database) : provider),
  }))
  const all = ofStores.flatMap((paths) => Object.values(paths)).filter((path) => path !== undefined)
  const deliveriesOf = (paths: readonly ChannelPath[]) => [...new Set(paths.map(({ delivery }) => delivery))]

  function pathOf(
    channel: Channel,
    { database, erased }: Store,
    delivery: Delivery | undefined,
  ): ChannelPath | undefined {
    if (!delivery) return undefined
    const path = createSendPath({
      database,
      delivery,
      checkMessage,
      settledOps: settledOps(channel),
      erased,
      inProgress: limits.inProgress,
      workMs: limits.answerBudgetMs + limits.providerTimeoutMs,
    })
    return { delivery, path }
  }

  return {
    /** In the order of the stores. Undefined: the channel has no provider. */
    ofStores,
    /** The push services and providers of each channel. */
    services: channels.flatMap((channel) =>
      deliveriesOf(ofStores.flatMap((paths) => paths[channel] ?? [])).map(({ states }) => ({ channel, states })),
    ),
    /** The brake on removals. Undefined: no message is sent to devices. */
    removals,
    /** Resolves when nothing is in progress. */
    idle: async () => void (await Promise.all(all.map(({ path }) => path.idle()))),
    async close() {
      await removals?.stop()
      await Promise.all(deliveriesOf(all).map((delivery) => delivery.close()))
    },
  }
}

function createPushDelivery(
  push: PushOptions,
  { registry, devicesPerUser, content, limits }: SidePathsOptions,
  brake: RemovalKeeper | undefined,
): Delivery {
  if (!('devices' in push)) return deliverThrough(push, limits)
  const { removals: _, source, ...devices } = push.devices
  return createDevices({
    guard: { timeoutMs: limits.providerTimeoutMs },
    ...devices,
    source: source === 'registry' ? registry : source,
    devicesPerUser,
    ...present({ content, brake }),
  })
}

/** The delivery through one provider, behind a guard. */
function deliverThrough(provider: Provider, limits: ProviderLimits): Delivery {
  const { providerConcurrency: concurrency, providerTimeoutMs: timeoutMs } = limits
  return throughProvider(guard(provider, { concurrency, timeoutMs }), concurrency)
}
