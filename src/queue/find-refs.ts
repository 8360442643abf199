// Finds the messages that have an identifier of the operator, for its delivery statuses.

import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'

export interface LaneRef {
  readonly lane: string
  /** push_id or site_notification_id. */
  readonly ref: string
}

const selectRefs = statement<LaneRef>({
  name: 'find_refs',
  rank: 49,
  columns: { lane: 'text', ref: 'text' },
  text: (rows) => `
    select distinct r.lane, r.ref from ${rows} r cross join identifiers d where d.lane = r.lane and d.ref = r.ref`,
})

/** @returns those of the identifiers that a message of their lane has, as texts of laneRefKey() */
export async function findRefs(database: Database, refs: readonly LaneRef[]): Promise<ReadonlySet<string>> {
  if (refs.length === 0) return new Set()
  const rows = await database.read(
    op(
      selectRefs,
      refs.map(({ lane, ref }) => [lane, ref]),
    ),
  )
  return new Set(rows.map(laneRefKey))
}

/** A key for maps. The name of a lane contains no space. */
export const laneRefKey = ({ lane, ref }: LaneRef): string => `${lane} ${ref}`
