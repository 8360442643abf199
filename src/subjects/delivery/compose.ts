// The deliveries of the channels, from the options that both sides have: the operator for the requests of §4.1, and the
// platform for lanes with a provider of its own.

import { present } from '../../base/runtime/present.ts'
import type { Database } from '../../base/store/database.ts'
import type { ContentMapping } from '../../contract/content.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { RemovalLimits } from '../devices/removals/brake.ts'
import type { Brake } from '../devices/removals/keeper.ts'
import { createInbox } from '../inbox/inbox.ts'
import { guard } from '../providers/guard.ts'
import type { Provider } from '../providers/provider.ts'
import type { Delivery } from './delivery.ts'
import { createDevices, type DevicesOptions } from './devices.ts'
import type { SendPathOptions } from './send-path.ts'
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

export interface PushDeliveryOptions {
  readonly registry: DeviceSource
  readonly brake: Brake | undefined
  readonly devicesPerUser: number
  readonly content: ContentMapping | undefined
  readonly limits: ProviderLimits
}

export function createPushDelivery(push: PushOptions, options: PushDeliveryOptions): Delivery {
  const { registry, brake, devicesPerUser, content, limits } = options
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

/** The delivery of on-site messages: the inbox in this database, or the provider. */
export function createSiteDelivery(
  site: Provider | 'inbox',
  database: Database,
  { content, limits }: Pick<PushDeliveryOptions, 'content' | 'limits'>,
): Delivery {
  return deliverThrough(site === 'inbox' ? createInbox({ database, ...(content && { content }) }) : site, limits)
}

/** The limits of a send path, from those of its side. */
export const pathLimits = (
  limits: ProviderLimits & { readonly answerBudgetMs: number; readonly inProgress: number },
): Pick<SendPathOptions, 'inProgress' | 'workMs'> => ({
  inProgress: limits.inProgress,
  workMs: limits.answerBudgetMs + limits.providerTimeoutMs,
})
