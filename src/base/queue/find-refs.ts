// Finds the messages that have an identifier of the operator, for its delivery statuses.

import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { settledState } from './tables.ts'

export interface LaneRef {
  readonly lane: string
  /** push_id or site_notification_id. */
  readonly ref: string
}

/** A message with an identifier. */
export interface KnownRef extends LaneRef {
  readonly key: string
  /** Epoch milliseconds. */
  readonly enqueued_at: number
  /** 1: the send with this identifier failed. The message may have been replayed since. */
  readonly failed: number
}

const selectRefs = statement<KnownRef>('find_refs', { lane: 'text', ref: 'text' })`
  select r.lane, r.ref, i.key, i.enqueued_at, case when d.replayed_at is not null or exists (
    select 1 from settled s where s.lane = i.lane and s.first = i.seq and s.state = ${settledState.failed}) then 1 else 0 end as failed
  from ${rows} r cross join identifiers d cross join items i where d.lane = r.lane and d.ref = r.ref and i.seq = d.seq
  order by i.seq`

export type KnownRefs = ReadonlyMap<string, KnownRef>

/** @returns the first message that has each identifier, by laneRefKey(). Unknown identifiers are left out */
export async function findRefs(database: Database, refs: readonly LaneRef[]): Promise<KnownRefs> {
  const known = new Map<string, KnownRef>()
  if (refs.length === 0) return known
  const distinct = new Map(refs.map((each) => [laneRefKey(each), [each.lane, each.ref]]))
  for (const row of await database.read(op(selectRefs, [...distinct.values()]))) {
    const before = known.get(laneRefKey(row))
    known.set(laneRefKey(row), before ? { ...before, failed: Math.max(before.failed, row.failed) } : row)
  }
  return known
}

/** A key for maps. The name of a lane contains no space. */
export const laneRefKey = ({ lane, ref }: LaneRef): string => `${lane} ${ref}`
