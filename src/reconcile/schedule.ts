import type { Run } from './runs.ts'

/** What was refused may be well soon: it is tried again earlier than the next turn. */
const againMs = 600_000

/**
 * When the next run is due, in epoch milliseconds; Infinity: only when somebody asks.
 *
 * @param last the newest run of this brand and field
 * @example dueAt(undefined, 3_600_000) // 0: now
 */
export function dueAt(last: Pick<Run, 'state' | 'asked_at' | 'why'> | undefined, everyMs: number | undefined): number {
  if (everyMs === undefined) return Number.POSITIVE_INFINITY
  if (!last || last.why === 'interrupted') return 0
  return last.asked_at + (last.state === 'refused' ? Math.min(everyMs, againMs) : everyMs)
}
