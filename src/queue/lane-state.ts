import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { findPause } from './pauses.ts'
import type { LaneState } from './queue.ts'
import type { Reign } from './reign.ts'

/** Of items that were put off, the oldest is looked for among the next that are due. */
const mostLookedAt = 1_000

const countWaiting = statement<{ items: number; oldest: number | null }>({
  name: 'lane_state',
  rank: 47,
  columns: { lane: 'text' },
  text: (rows) => `
    select
      (select coalesce(sum(c.n), 0) from lane_counts c where c.scope = r.lane and c.name = 'waiting') as items,
      (select min(i.put_at) from items i where i.seq in (
        select min(w.seq) from waiting w where w.lane = r.lane and w.due_at = 0
        union all
        select min(p.seq) from (
          select w.seq from waiting w where w.lane = r.lane and w.due_at > 0 order by w.due_at, w.seq limit ${mostLookedAt}) p
      )) as oldest
    from ${rows} r`,
})

/** A lane for people: what waits, and why. */
export async function readLaneState(database: Database, name: string, reign: Reign | undefined): Promise<LaneState> {
  const [[counted], pause] = await Promise.all([database.read(op(countWaiting, [[name]])), findPause(database, name)])
  const { items = 0, oldest = null } = counted ?? {}
  const now = clock.now()
  const heldSince = reign?.dispatch.heldSince
  const lastError = pause ?? reign?.paused ?? reign?.dispatch.lastError
  return {
    name,
    waiting: items,
    oldestAgeMs: oldest === null ? 0 : Math.max(0, now - oldest),
    owned: reign !== undefined,
    state:
      pause !== undefined || reign?.paused !== undefined
        ? 'paused'
        : !reign
          ? 'elsewhere'
          : heldSince === undefined
            ? 'running'
            : 'held',
    heldForMs: heldSince === undefined ? 0 : now - heldSince,
    inFlight: reign?.dispatch.inFlight ?? 0,
    ...(lastError !== undefined && { lastError }),
  }
}
