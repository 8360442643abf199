import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import { enqueueItems, enqueueOps } from './enqueue.ts'
import { decideFailed, listFailed } from './failed-actions.ts'
import { findItems } from './find-items.ts'
import { insertFailedOps } from './insert-failed.ts'
import type { ItemOutcome, Queue } from './queue.ts'
import { countItems, readOutcomes } from './read-outcomes.ts'
import { forgetSettled } from './retention.ts'
import { type ServedLane, serveLane } from './serve-lane.ts'
import { laneTopic } from './wake-topics.ts'

export { queueMigrations } from './tables.ts'

/**
 * Creates the queue of a database. A lane exists from its first item on, and one process serves it at a time.
 *
 * @example
 * const queue = createQueue(database)
 * const lane = queue.serveLane({ name: '1/push', order: 'none', max: 500, … }, async (items) => items.map(deliver))
 * lane.start()
 * const [enqueued] = await queue.enqueue('1/push', [{ key: 'k1', text: '{"activity":…}' }]) // { seq: 1, isNew: true }
 */
export function createQueue(database: Database): Queue {
  const servedLanes = new Map<string, ServedLane>()

  /** Adds the reason why a waiting item is not delivered yet, if this process knows it. */
  function addWaitReason<Of extends ItemOutcome>(item: Of): Of {
    return item.category === 'waiting' ? { ...item, ...servedLanes.get(item.lane)?.findWaitReason(item.seq) } : item
  }

  return {
    enqueueOps: (lane, items) => [...enqueueOps(lane, items, clock.now()), database.wake(laneTopic(lane))],
    insertFailedOps: (lane, items) => insertFailedOps(lane, items, clock.now()),
    async enqueue(lane, items) {
      // If this process owns the lane, it wakes it directly: a wake operation costs every other process a query.
      const servedLane = servedLanes.get(lane)
      const owned = servedLane?.owned === true
      const enqueued = await enqueueItems(database, lane, items, owned ? [] : [database.wake(laneTopic(lane))])
      if (owned) servedLane?.wake('enqueued')
      return enqueued
    },
    serveLane(lane, handle) {
      const service = serveLane(database, lane, handle)
      servedLanes.set(lane.name, service)
      return service
    },
    readOutcomes: async (seqs) => (await readOutcomes(database, seqs)).map(addWaitReason),
    findItems: async (search) => (await findItems(database, search)).map(addWaitReason),
    listFailed: (filter, page) => listFailed(database, filter, page),
    decideFailed: (filter, action, decision = {}) => decideFailed(database, filter, action, decision),
    countItems: () => countItems(database),
    forgetSettled: (before) => forgetSettled(database, before),
  }
}
