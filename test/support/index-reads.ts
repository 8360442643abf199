// The index entries that PostgreSQL reads: their number shows a plan that reads too much, on a machine of any speed.

import { setTimeout as sleep } from 'node:timers/promises'
import { query } from './services/postgres.ts'
import { until } from './wait.ts'

/** Each look-up is repeated, so that one scan of the table would exceed the limit by far. */
const repeats = 20
const reportMs = 1_200

/** The index scans of a table, and the index entries that they have read. */
async function indexReads(url: string, table: string): Promise<{ scans: number; entries: number }> {
  const [row] = await query(
    url,
    `select sum(idx_scan)::int as scans, sum(idx_tup_read)::int as entries from pg_stat_user_indexes
     where schemaname = current_schema() and relname = '${table}'`,
  )
  return row as { scans: number; entries: number }
}

/**
 * The index entries that one look-up has read on average. A session reports its counts at most once a second, and an idle session up
 * to ten seconds later, so the reads of an earlier statement may be counted once. If there are more than `most`, it measures again.
 */
export async function entriesPerLookUp(
  url: string,
  table: string,
  lookUp: () => Promise<unknown>,
  most: number,
): Promise<number> {
  for (let left = 3; ; left--) {
    const entries = await measure(url, table, lookUp)
    if (entries <= most || left === 0) return entries
  }
}

async function measure(url: string, table: string, lookUp: () => Promise<unknown>): Promise<number> {
  // Earlier statements of the session are reported with its next one.
  await sleep(reportMs)
  await lookUp()
  const before = await indexReads(url, table)
  let lookUps = 0
  for (; lookUps < repeats; lookUps++) await lookUp()
  await sleep(reportMs)
  const after = await until(
    async () => {
      lookUps++
      await lookUp()
      const now = await indexReads(url, table)
      return now.scans - before.scans >= repeats ? now : undefined
    },
    { awaited: 'the statistics of the look-ups', withinMs: 30_000 },
  )
  return (after.entries - before.entries) / lookUps
}
