import { clock } from '../../runtime/clock.ts'
import { createLoop, type Loop } from '../../runtime/loop.ts'
import type { Database } from '../../store/database.ts'
import { findDueLanes } from '../lane/read-waiting.ts'

const sweepEveryMs = 1_000

/**
 * Calls `sweepLane` once a second for each lane that has due items, since a wake-up may have been lost, and postponed items come due
 * without one. One statement for all lanes: its cost grows only with the number of lanes that have waiting items.
 */
export function createSweeper(database: Database, sweepLane: (lane: string) => void): Loop {
  return createLoop('sweeping the lanes', async () => {
    for (const lane of await findDueLanes(database, clock.steady())) sweepLane(lane)
    return sweepEveryMs
  })
}
