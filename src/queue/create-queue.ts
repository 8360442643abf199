import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import { decideFailed, listFailed } from './failed.ts'
import { findItems } from './find.ts'
import { type ServedLane, serveLane } from './lane.ts'
import { countItems, readOutcomes } from './outcomes.ts'
import { parkOps } from './park.ts'
import { enqueue, putOps } from './put.ts'
import type { ItemOutcome, Queue } from './queue.ts'
import { forgetSettled } from './retention.ts'
import { laneTopic } from './topic.ts'

export { queueMigrations } from './tables.ts'

/**
 * The queue of a database: lanes by name, made by putting into them, served by one process at a time.
 *
 * @example
 * const queue = createQueue(database)
 * const lane = queue.serve({ name: '1/push', order: 'none', max: 500, … }, async (items) => items.map(deliver))
 * lane.start()
 * const [put] = await queue.enqueue('1/push', [{ key: 'k1', text: '{"activity":…}' }]) // { seq: 1, fresh: true }
 */
export function createQueue(database: Database): Queue {
  const served = new Map<string, ServedLane>()

  /** Adds why a waiting item was not delivered yet, as far as this process knows. */
  function explain<Of extends ItemOutcome>(item: Of): Of {
    return item.category === 'waiting' ? { ...item, ...served.get(item.lane)?.why(item.seq) } : item
  }

  return {
    put: (lane, items) => [...putOps(lane, items, clock.now()), database.wake(laneTopic(lane))],
    park: (lane, items) => parkOps(lane, items, clock.now()),
    async enqueue(lane, items) {
      // Within this process a call is enough; telling all the others costs them a look each.
      const here = served.get(lane)
      const owned = here?.owned === true
      const puts = await enqueue(database, lane, items, owned ? [] : [database.wake(laneTopic(lane))])
      if (owned) here?.hint('put')
      return puts
    },
    serve(lane, handle) {
      const service = serveLane(database, lane, handle)
      served.set(lane.name, service)
      return service
    },
    outcomes: async (seqs) => (await readOutcomes(database, seqs)).map(explain),
    find: async (search) => (await findItems(database, search)).map(explain),
    failed: (filter, page) => listFailed(database, filter, page),
    decide: (filter, what, decision = {}) => decideFailed(database, filter, what, decision),
    count: () => countItems(database),
    forget: (before) => forgetSettled(database, before),
  }
}
