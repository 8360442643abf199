import { longestRetryAfterMs } from '../../runtime/backoff.ts'
import type { Database } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import type { Lane } from '../queue.ts'
import { pausedFrom } from '../tables.ts'

// A replay at a rate has due times of its own, and its items have no attempt.
const updateDueTimes = statement('limit_due_times', { lane: 'text', latest: 'bigint' })`
  update waiting set due_at = r.latest from ${rows} r
  where waiting.lane = r.lane and waiting.due_at > r.latest and waiting.due_at < ${pausedFrom} and waiting.attempt > 0`

/**
 * Brings the due times of retries down to the longest backoff: the clock of the process that stored them may have been ahead.
 * The new owner of a lane calls it before it reads the first item.
 */
export async function limitDueTimes(
  database: Database,
  { name, retry }: Pick<Lane, 'name' | 'retry'>,
  now: number,
): Promise<void> {
  const latest = now + Math.max(retry.mostMs, longestRetryAfterMs)
  await database.commit([op(updateDueTimes, [[name, latest]])], { durable: false })
}
