// The send paths of a side whose brands live in one database, or in several. The databases share the push services, so a service has
// one rate, one breaker and one pause.

import type { ContentMapping } from '../contract/content.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { Brake } from '../devices/removals/keeper.ts'
import { createInbox } from '../inbox/inbox.ts'
import type { Channel, Message, Provider, Result } from '../providers/provider.ts'
import type { FairSemaphore } from '../runtime/fair-semaphore.ts'
import { uuidv7 } from '../runtime/ids.ts'
import type { Database } from '../store/database.ts'
import { createPath, createPushDelivery, deliverThrough, type PathOptions, type PushOptions } from './compose.ts'
import type { Delivery } from './delivery.ts'
import { createSlots, type SendPath } from './send-path.ts'
import type { SettledOps } from './settle.ts'
import type { Suppression } from './suppress.ts'

export interface StorePathsOptions {
  readonly push: PushOptions | undefined
  readonly site: Provider | 'inbox' | undefined
  readonly content: ContentMapping | undefined
  /** The devices of all brands. */
  readonly registry: DeviceSource
  readonly brake: Brake | undefined
  readonly devicesPerUser: number
  readonly suppression: Suppression | undefined
  readonly limits: PathOptions['limits']
}

/** A database with send paths. */
export interface PathStore {
  readonly number: number
  readonly database: Database
  /** Rows to write with each settle. */
  readonly settledOps?: ((channel: Channel) => SettledOps | undefined) | undefined
}

export interface StorePath {
  readonly delivery: Delivery
  readonly path: SendPath
}

export interface StorePaths {
  /** The send path of a channel in a store. Undefined: the channel has no provider. */
  of(store: number, channel: Channel): StorePath | undefined
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
  /** Closes the providers. */
  close(): Promise<void>
}

export function createStorePaths(stores: readonly PathStore[], options: StorePathsOptions): StorePaths {
  const { push, site, content, suppression, limits } = options
  const pushDelivery = push && createPushDelivery(push, options)
  const siteDelivery = site && site !== 'inbox' ? deliverThrough(site, limits) : undefined

  /** The inbox stores its notifications with the outcomes, so each store has its own. */
  function deliveryOf(channel: Channel, database: Database): Delivery | undefined {
    if (channel === 'push') return pushDelivery
    if (site !== 'inbox') return siteDelivery
    return deliverThrough(createInbox({ database, ...(content && { content }) }), limits)
  }

  const slots = new Map<Delivery, FairSemaphore>()
  function slotsOf(delivery: Delivery): FairSemaphore {
    const found = slots.get(delivery) ?? createSlots(delivery)
    slots.set(delivery, found)
    return found
  }

  const all = stores.flatMap(({ number, database, settledOps }) =>
    (['push', 'site'] as const).flatMap((channel) => {
      const delivery = deliveryOf(channel, database)
      if (!delivery) return []
      const shared = { suppression, slots: slotsOf(delivery), limits }
      const path = createPath(delivery, { ...shared, database, settledOps: settledOps?.(channel) })
      return [{ number, channel, delivery, path }]
    }),
  )
  return {
    of: (store, channel) => all.find((each) => each.number === store && each.channel === channel),
    idle: async () => void (await Promise.all(all.map(({ path }) => path.idle()))),
    close: async () =>
      void (await Promise.all([...new Set(all.map((each) => each.delivery))].map((each) => each.close()))),
  }
}

/** The part of a send path that requests use. */
export type Sender = Pick<SendPath, 'send' | 'refuse'>

/**
 * Each store has a request with the texts of its own messages only: the erasure of a user's texts reaches the store of the user's
 * brand.
 */
function withOwnRequest(messages: readonly Message[]): readonly Message[] {
  const of = { id: uuidv7(), text: `[${messages.map(({ text }) => text).join(',')}]` }
  let start = 1
  return messages.map((message, position) => {
    const part = { of, start, position }
    start += message.text.length + 1
    return { ...message, part }
  })
}

/** Sends each message through the path of its brand, and returns the results in the order of the messages. */
export function joinPaths(pathOf: (brand: string) => Sender): Sender {
  async function inEach(
    messages: readonly Message[],
    run: (path: Sender, messages: readonly Message[]) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const groups = [...Map.groupBy(messages, ({ brand }) => pathOf(brand))]
    const [first, ...others] = groups
    if (first === undefined) return []
    if (others.length === 0) return run(...first)
    const results = await Promise.all(groups.map(([path, own]) => run(path, withOwnRequest(own))))
    const next = new Map(groups.map(([path], i) => [path, (results[i] as readonly Result[]).values()]))
    return messages.map(({ brand }) => next.get(pathOf(brand))?.next().value as Result)
  }
  return {
    send: (messages, context) => inEach(messages, (path, own) => path.send(own, context)),
    refuse: (messages, refusal) => inEach(messages, (path, own) => path.refuse(own, refusal)),
  }
}
