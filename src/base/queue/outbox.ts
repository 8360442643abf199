// An outbox: each event is put into the queue in the commit that stores it, and sent from there, in order for each user, until it
// is accepted.

import type { Op } from '../store/database.ts'
import type { Lane, LaneHandler, LaneService, NewItem, Queue } from './queue.ts'

/** The receiver of the events of one brand. */
export interface OutboxLane<Event> {
  readonly brand: string
  readonly name: string
  /** Most items in one call, and most calls at once. */
  readonly max: number
  readonly concurrency: number
  /** Default: 15 s. */
  readonly timeoutMs?: number | undefined
  /** Default: from 1 s to 5 min. */
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number } | undefined
  /** The item of an event; undefined: the event is not sent. An event with the key of an earlier one is not stored again. */
  toItem(event: Event): NewItem | undefined
  readonly send: LaneHandler
  close(): Promise<void>
}

export interface Outbox<Event> {
  readonly lanes: readonly LaneService[]
  /** The operations that put events into the queue, for a commit together with the cause. */
  publishOps(events: readonly Event[]): readonly Op[]
  start(): void
  stop(withinMs?: number): Promise<void>
}

/**
 * Creates a lane for each brand. An event that is rejected for good is parked, and the next one of its user follows. Any other
 * failure is retried and delays only the events of its user, or the whole lane while the receiver is unavailable.
 */
export function createOutbox<Event extends { readonly brand: string }>(
  queue: Queue,
  receivers: readonly OutboxLane<Event>[],
): Outbox<Event> {
  const byBrand = new Map(receivers.map((receiver) => [receiver.brand, receiver]))
  const lanes = receivers.map((receiver) => queue.serveLane(laneOf(receiver), receiver.send))
  return {
    lanes,
    publishOps(events) {
      const items = new Map<string, NewItem[]>()
      for (const event of events) {
        const receiver = byBrand.get(event.brand)
        const item = receiver?.toItem(event)
        if (!receiver || !item) continue
        const ofLane = items.get(receiver.name) ?? []
        items.set(receiver.name, ofLane)
        ofLane.push(item)
      }
      return [...items].flatMap(([lane, ofLane]) => queue.enqueueOps(lane, ofLane))
    },
    start() {
      for (const lane of lanes) lane.start()
    },
    async stop(withinMs) {
      await Promise.all(lanes.map((lane) => lane.stop(withinMs)))
      await Promise.all(receivers.map((receiver) => receiver.close()))
    },
  }
}

const laneOf = ({ name, max, concurrency, retry, timeoutMs = 15_000 }: OutboxLane<never>): Lane => ({
  name,
  max,
  concurrency,
  order: 'user',
  bytes: 2 * 1024 * 1024,
  spanMs: 0,
  timeoutMs,
  keepFailed: true,
  retry: { firstMs: retry?.firstMs ?? 1_000, mostMs: retry?.mostMs ?? 300_000 },
})
