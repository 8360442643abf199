import { type ErasedPeople, nobodyErased } from '../people/erasures.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import type { Database, Op } from '../store/database.ts'
import { cancelWaiting, forgetCancellations, listCancellations } from './controls/cancellations.ts'
import { type ControlKey, endControls, isInScope, probeLanes, setControls } from './controls/controls.ts'
import { countSelected } from './controls/waiting-pages.ts'
import { enqueueItems, enqueueOps } from './enqueue.ts'
import { decideFailed, previewFailed } from './failed/decide-failed.ts'
import { findFailed, listFailed } from './failed/failed-actions.ts'
import { readFailedGroups } from './failed/failed-counts.ts'
import { insertFailedOps } from './failed/insert-failed.ts'
import { findItem } from './find-item.ts'
import { findItems } from './find-items.ts'
import { createReadAheadBudget, type ReadAheadBudget } from './lane/read-ahead-budget.ts'
import { createLaneService, type ServedLane } from './lane/service.ts'
import { createDivision } from './owners/division.ts'
import type { NewItem, StoredQueue } from './queue.ts'
import { countItems, type FindWaitReason, readOutcomes } from './read-outcomes.ts'
import { forgetEvidence, forgetSettled } from './retention.ts'
import { laneTopic, transactionalTopic } from './wake-topics.ts'

export { queueMigrations } from './tables.ts'

export interface QueueOptions {
  /** The memory for items that all lanes of the process have read ahead. Default: 256 MiB for this queue. */
  readonly readAhead?: ReadAheadBudget
  /** Repetitions of their erased items are not stored. */
  readonly erased?: Pick<ErasedPeople, 'find'>
}

/**
 * Creates the queue of a database. A lane exists from its first item on, and one process serves it at a time.
 *
 * @example
 * const queue = createQueue(database)
 * const lane = queue.serveLane({ name: '1/push', order: 'none', max: 500, … }, async (items) => items.map(deliver))
 * lane.start()
 * const [enqueued] = await queue.enqueue('1/push', [{ key: 'k1', text: '{"activity":…}' }]) // { seq: 1, isNew: true }
 */
export function createQueue(
  database: Database,
  { readAhead = createReadAheadBudget(), erased = nobodyErased }: QueueOptions = {},
): StoredQueue {
  const servedLanes = new Map<string, ServedLane>()
  const division = createDivision(database)

  const findWaitReason: FindWaitReason = (item) => servedLanes.get(item.lane)?.findWaitReason(item)

  const wakeOps = (lane: string, items: readonly NewItem[]): readonly Op[] =>
    sourcesOf(items).map((source) => database.wake(source === 'enqueued' ? laneTopic(lane) : transactionalTopic(lane)))

  async function refreshControls(changed: readonly Pick<ControlKey, 'scope'>[]): Promise<void> {
    const lanes = [...servedLanes.values()].filter(({ name }) => changed.some(({ scope }) => isInScope(name, scope)))
    await Promise.all(lanes.map((lane) => lane.refreshControls()))
  }

  return {
    enqueueOps: (lane, items) => [...enqueueOps(lane, items, clock.now(), erased), ...wakeOps(lane, items)],
    insertFailedOps: (lane, items) => insertFailedOps(lane, items, clock.now(), erased),
    async enqueue(lane, items) {
      // If this process owns the lane, it wakes it directly: a notification at each commit slows down all commits.
      const servedLane = servedLanes.get(lane)
      const owned = servedLane?.owned === true
      const enqueued = await enqueueItems(database, lane, items, owned ? [] : wakeOps(lane, items), erased)
      if (owned) for (const source of sourcesOf(items)) servedLane.wake(source)
      return enqueued
    },
    serveLane(lane, handle) {
      const service = createLaneService({ database, division, readAhead }, lane, handle)
      return {
        name: lane.name,
        lane,
        state: service.state,
        start() {
          servedLanes.set(lane.name, service)
          service.start()
        },
        async stop(withinMs) {
          await service.stop(withinMs)
          if (servedLanes.get(lane.name) === service) servedLanes.delete(lane.name)
        },
      }
    },
    async setControls(controls, also) {
      await setControls(database, controls, also)
      await refreshControls(controls)
    },
    async endControls(keys, by, also) {
      const ended = await endControls(database, keys, by, also)
      await refreshControls(keys)
      return ended
    },
    probeLanes: (lanes) => probeLanes(database, lanes),
    countSelected: (lane, selection, after) => countSelected(database, lane, selection, after),
    async cancelWaiting(cancellations, also) {
      await cancelWaiting(database, cancellations, also)
      await refreshControls(cancellations.map(({ lane: scope }) => ({ scope })))
    },
    listCancellations: (lanes, limit) => listCancellations(database, lanes, limit),
    readOutcomes: (seqs) => readOutcomes(database, seqs, findWaitReason),
    findItem: (seq) => findItem(database, seq, findWaitReason),
    findItems: (search) => findItems(database, search, findWaitReason),
    listFailed: (filter, page) => listFailed(database, filter, page),
    findFailed: (seq) => findFailed(database, seq),
    summarizeFailed: (filter) => readFailedGroups(database, filter),
    previewFailed: (filter, action, after) => previewFailed(database, filter, action, after),
    async decideFailed(filter, action, decision = {}) {
      const decided = await decideFailed(database, filter, action, decision)
      if (decided.count > 0) emit('failed.decided', { action, count: decided.count, by: decision.by ?? 'this program' })
      return decided
    },
    countItems: () => countItems(database),
    movedTo: (brand) => division.movedTo(brand),
    forgetSettled: async (before) =>
      (await forgetSettled(database, before)) || (await forgetCancellations(database, before)),
    forgetEvidence: (before) => forgetEvidence(database, before),
  }
}

/** The sources that the owner of a lane must read to find these items. */
function sourcesOf(items: readonly NewItem[]): readonly ('enqueued' | 'transactional')[] {
  const transactional = items.filter((item) => item.transactional).length
  return [
    ...(transactional < items.length ? (['enqueued'] as const) : []),
    ...(transactional > 0 ? (['transactional'] as const) : []),
  ]
}
