// Consumes queues and topics, stores their messages, and parks the unreadable ones. A parked message is a failed item of a lane of
// its own: a person dismisses it, or replays it after a correction of the configuration.

import type { Outcome } from '../../contract/outcome.ts'
import { type FailedCode, failedRefusals, refuseFailed } from '../../contract/refusals.ts'
import { userKey } from '../queue/item-keys.ts'
import { createLaneSet } from '../queue/lane-set.ts'
import { parkedLane } from '../queue/parked-lane.ts'
import type { LaneHandler, LaneService, Queue } from '../queue/queue.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import type { Op } from '../store/database.ts'
import { type BrokerConsumer, sizeOf } from './consumer.ts'
import { type Parked, parkedText, readParkedText } from './parked.ts'
import { type ReadMessage, takeMessages } from './take-messages.ts'

export interface MessageIntake {
  /** The lanes of parked messages. */
  lanes(): readonly LaneService[]
  /** Serves the parked messages of these brands from now on: see the option `brands`. */
  replaceBrands(brands: readonly string[]): void
  readonly consumers: readonly BrokerConsumer[]
  start(): void
  /** Stops consuming, and waits for the messages in progress. */
  stop(withinMs?: number): Promise<void>
}

/** One queue or topic. */
export interface MessageSource<Value> {
  readonly consumer: BrokerConsumer
  readonly read: ReadMessage<Value>
  /** The brand of all its messages, if there is only one. */
  readonly brand?: string | undefined
}

export interface MessageIntakeOptions<Value> {
  readonly queue: Queue
  readonly sources: readonly MessageSource<Value>[]
  /** Stores the values of a brand, and runs the operations: see takeMessages(). */
  readonly commit: (values: readonly Value[], ops: readonly Op[], brand: string | undefined) => Promise<unknown>
  /** The brands of parked messages, and noBrand if there may be messages without a known brand. */
  readonly brands: readonly string[]
  /** The lane of the parked messages of a brand, such as '1/intake'. Visible only to keys that may see the brand. */
  readonly laneOf: (brand: string) => string
  readonly refusal: Extract<FailedCode, 'unreadable_link' | 'unreadable_record'>
  /**
   * Returns the current reader of a parked message. `consumer` is the name of the consumer that received it.
   *
   * @returns undefined if the queue or topic is no longer configured
   */
  readonly readerOf: (brand: string, consumer: string) => ReadMessage<Value> | undefined
}

/** Stands for an unknown brand. Visible only to keys that are not bound to a brand. */
export const noBrand = '-'

/**
 * @example
 * const intake = createMessageIntake({ queue, sources: [{ consumer: amqpConsumer({ url, queue: 'links' }), read }], … })
 * intake.start()
 */
export function createMessageIntake<Value>(options: MessageIntakeOptions<Value>): MessageIntake {
  const { queue, sources, commit, brands, laneOf, refusal, readerOf } = options
  const { reason, rule } = failedRefusals[refusal]
  const stopping = new AbortController()
  let consuming: Promise<unknown> = Promise.resolve()
  const laneOfParked = ({ brand = noBrand }: Parked): string => laneOf(brand)

  const parkFrom =
    (consumer: string) =>
    (parked: readonly Parked[]): readonly Op[] =>
      [...Map.groupBy(parked, laneOfParked)].flatMap(([lane, mine]) =>
        queue.insertFailedOps(
          lane,
          mine.map(({ id, userId, message, reason: error }) => ({
            key: userId === undefined ? id : userKey('parked', userId, id),
            text: parkedText(message, consumer, clock.now()),
            reason,
            error,
            rule,
          })),
        ),
      )

  const onParked = (parked: readonly Parked[]): void => {
    for (const each of parked) {
      const { message, reason } = each
      emit('message.parked', { lane: laneOfParked(each), from: message.from, reason, bytes: sizeOf(message) })
    }
  }

  /** Reads a parked message again under the current configuration. @returns why it is still unreadable, or undefined */
  async function replayMessage(text: string, brand: string): Promise<string | undefined> {
    const { message, consumer, cut } = readParkedText(text)
    if (cut) return 'the message was too large and only its beginning was kept: publish it again in smaller parts'
    const read = readerOf(brand, consumer)
    if (!read) return 'the queue or topic of the message is no longer configured: configure it, or dismiss the message'
    let unreadable: string | undefined
    const park = ([parked]: readonly Parked[]): readonly Op[] => {
      unreadable = parked?.reason
      return []
    }
    await takeMessages({ read, commit, park })([message])
    return unreadable
  }

  const replay =
    (brand: string): LaneHandler =>
    async (items) =>
      Promise.all(
        items.map(async ({ text }): Promise<Outcome> => {
          const unreadable = await replayMessage(text, brand)
          return unreadable === undefined
            ? { category: 'successful', rule: 'taken' }
            : refuseFailed(refusal, { error: unreadable })
        }),
      )

  const lanes = createLaneSet<string>((brand, name) => queue.serveLane({ ...parkedLane, name }, replay(brand)))
  const replaceBrands = (all: readonly string[]): void =>
    lanes.replace(new Map(all.map((brand) => [laneOf(brand), brand])))
  replaceBrands(brands)

  return {
    lanes: lanes.list,
    replaceBrands,
    consumers: sources.map(({ consumer }) => consumer),
    start() {
      lanes.start()
      consuming = Promise.all(
        sources.map(({ consumer, read, brand }) =>
          consumer.consume(
            takeMessages({ read, brand, commit, park: parkFrom(consumer.name), onParked }),
            stopping.signal,
          ),
        ),
      )
    },
    async stop(withinMs) {
      stopping.abort()
      await consuming
      await lanes.stop(withinMs)
    },
  }
}
