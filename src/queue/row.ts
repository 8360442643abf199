import type { Item } from './queue.ts'

/** An item in the memory of its lane's owner. */
export interface Row extends Item {
  /** This attempt, from 1; the database knows an older number until the row is put off. */
  attempt: number
  /** As it stands in the database: where the row is found. */
  readonly dueAt: number
  /** Since when it waits for its batch: put, or back from a failed attempt. */
  since: number
  readonly bytes: number
  /** How many calls had happened that got a message through (health.ts) when this one was last fatal for an unclear reason; absent: never. */
  doubtedAt: number | undefined
  /** Attempts that do not count (row 53): they lengthen its backoff. */
  uncounted: number
  /** activity.id, once somebody asked. */
  id: string | undefined
}
