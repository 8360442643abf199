// The most statuses of unknown messages that a lane may have in the store: its operator decides how many it sends.

import { brandOf } from '../../base/queue/lane-name.ts'
import type { FailedActions } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { parkedStatusLane } from './parked.ts'
import { countAwaited } from './tables.ts'

/** Identifiers that wait for their message, of a lane of messages; pending items, of a lane of parked statuses. */
export const mostUnknownStatuses = 100_000

/** How long a count is used, in milliseconds. Meanwhile the statuses that this process stores are added. */
const countedEveryMs = 10_000
/** A lane without room is counted again after this time, in milliseconds. */
const fullForMs = 1_000

/** The lane has no room for these statuses: nothing is stored until a person decides about its Failed Actions, or time passes. */
export class StatusesFull extends Error {}

export interface StatusQuota {
  /**
   * Takes room for statuses that this process is about to store.
   *
   * @param lanes a lane for each of them
   * @throws StatusesFull
   */
  take(lanes: readonly string[]): Promise<void>
}

export interface StatusQuotaOptions {
  readonly queue: FailedActions
  readonly databaseOf: (brand: string) => Database
  readonly most?: number
}

/** @example await createStatusQuota({ queue, databaseOf }).take(['1/push', '1/statuses']) */
export function createStatusQuota({ queue, databaseOf, most = mostUnknownStatuses }: StatusQuotaOptions): StatusQuota {
  const counts = new Map<string, { count: number; readonly countedAt: number }>()

  async function count(lane: string): Promise<number> {
    if (lane !== parkedStatusLane(brandOf(lane)))
      return (await databaseOf(brandOf(lane)).read(op(countAwaited, [[lane, most]])))[0]?.awaited ?? 0
    const groups = await queue.summarizeFailed({ lane, state: 'pending' })
    return groups.reduce((sum, { pending }) => sum + pending, 0)
  }

  async function countOf(lane: string): Promise<{ count: number }> {
    const known = counts.get(lane)
    const keptMs = known && known.count >= most ? fullForMs : countedEveryMs
    if (known && clock.monotonic() < known.countedAt + keptMs) return known
    const entry = { count: await count(lane), countedAt: clock.monotonic() }
    counts.set(lane, entry)
    return entry
  }

  return {
    async take(lanes) {
      const wanted = [...Map.groupBy(lanes, (lane) => lane)].map(([lane, { length }]) => ({ lane, length }))
      const found = await Promise.all(wanted.map(async (each) => ({ ...each, entry: await countOf(each.lane) })))
      for (const { lane, entry } of found) {
        if (entry.count < most) continue
        emit('statuses.full', { lane, statuses: entry.count })
        throw new StatusesFull(
          `${lane} has ${most} statuses of unknown messages: send statuses with the identifiers of your answers, and ask the platform to dismiss its Failed Actions`,
        )
      }
      for (const { length, entry } of found) entry.count += length
    },
  }
}
