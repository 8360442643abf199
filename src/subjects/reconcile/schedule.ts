import type { ReconciliationRun } from './runs.ts'

/** A refused run is repeated after this time, if its interval is longer: the cause may be gone soon. */
const retryRefusedMs = 600_000

/**
 * When the next run is due, in epoch milliseconds; Infinity: only on request.
 *
 * @param last the newest run of this brand and field
 * @example nextRunAt(undefined, 3_600_000) // 0: now
 */
export function nextRunAt(
  last: Pick<ReconciliationRun, 'state' | 'requested_at' | 'why'> | undefined,
  everyMs: number | undefined,
): number {
  if (everyMs === undefined) return Number.POSITIVE_INFINITY
  if (!last || last.why === 'interrupted') return 0
  return last.requested_at + (last.state === 'refused' ? Math.min(everyMs, retryRefusedMs) : everyMs)
}
