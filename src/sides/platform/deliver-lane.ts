// A configured lane: its providers, and the messages that it makes of items.

import { laneName } from '../../base/queue/lane-name.ts'
import type { Item, Lane, LaneService, Lanes } from '../../base/queue/queue.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import { defaultsOf } from '../../base/runtime/setting.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import { callProvider } from '../../subjects/providers/call-provider.ts'
import type { Message, Provider } from '../../subjects/providers/provider.ts'
import { laneSettings } from '../../subjects/settings/platform.ts'
import { traceSend } from './lane-spans.ts'
import type { LaneOptions } from './options.ts'
import type { OwnDelivery } from './own-delivery.ts'

const laneDefaults = defaultsOf(laneSettings)
const retryDefaults = defaultsOf(laneSettings.retry.settings)

type LaneWithProvider = Omit<LaneOptions, 'provider'> & { readonly provider: Exclude<LaneOptions['provider'], 'own'> }

/** The provider of a lane: the given provider, or one that is created for the lane and this mode. */
export function providerOf(
  { provider, channel, max, concurrency, ...configured }: LaneWithProvider,
  mode = configured.mode,
): Provider {
  if (typeof provider !== 'function') return provider
  return provider({
    channel,
    mode,
    max: mode === 'single' ? 1 : (max ?? laneDefaults.max),
    concurrency: concurrency ?? laneDefaults.concurrency,
  })
}

/** A provider for each mode, so that the mode can change while the lane runs. */
type Providers = Readonly<Record<LaneOptions['mode'], Provider>>

export function providersOf({ provider, ...lane }: LaneOptions, own?: OwnDelivery): Providers {
  if (provider !== 'own') {
    const given = { ...lane, provider }
    return { single: providerOf(given, 'single'), batch: providerOf(given, 'batch') }
  }
  if (!own) throw new Error('the option `own` of the platform is missing')
  const path = own.providerOf(lane.brand, lane.channel)
  return { single: path, batch: path }
}

/** Serves a configured lane with its providers. */
export function deliverLane(queue: Lanes, options: LaneOptions, providers: Providers): LaneService {
  const { brand, channel, mode } = options
  const timeoutMs = options.timeoutMs ?? laneDefaults.timeoutMs
  const mostPerCall = providers.batch.max
  const lane: Lane = {
    name: laneName(brand, channel),
    order: 'none',
    mode,
    max: Math.min(options.max ?? laneDefaults.max, mostPerCall),
    mostPerCall,
    bytes: options.bytes ?? laneDefaults.bytes,
    spanMs: options.spanMs ?? laneDefaults.spanMs,
    concurrency: options.concurrency ?? laneDefaults.concurrency,
    ...(options.perSecond !== undefined && { perSecond: options.perSecond }),
    timeoutMs,
    keepFailed: options.failedActions ?? laneDefaults.failedActions,
    retry: {
      firstMs: options.retry?.firstMs ?? retryDefaults.firstMs,
      mostMs: options.retry?.mostMs ?? retryDefaults.mostMs,
      ...(options.retry?.attempts !== undefined && { attempts: options.retry.attempts }),
    },
  }
  // The lane is the guard of its provider: its concurrency, its timeout, and its hold during an outage.
  return queue.serveLane(lane, (items, context) => {
    const provider = providers[context.mode]
    const messages = items.map((item) => toMessage(item, brand))
    return traceSend(lane.name, provider, messages, (traced) => callProvider(provider, traced, context))
  })
}

function toMessage(item: Item, brand: string): Message {
  const { channel, id, userId } = readMessageKey(item.key)
  return {
    brand,
    channel,
    id,
    userId,
    key: item.key,
    // The operator generates its own identifier. Our own provider finds the first identifier by the key.
    ref: uuidv7(),
    text: item.text,
    attempt: item.attempt,
    context: item.traceparent === undefined ? {} : { traceparent: item.traceparent },
  }
}
