// Finds one item by its number, with everything that is stored about it except its text.

import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { type FailedState, failedStates } from './failed/failed-state.ts'
import { readIdentifiers } from './identifiers.ts'
import { readAttempts } from './lane/attempts.ts'
import type { ItemDetails } from './queue.ts'
import { type FindWaitReason, readOutcomes } from './read-outcomes.ts'

interface ItemRow {
  readonly key: string
  readonly enqueued_at: number
  readonly expires_at: number | null
  readonly transactional: number | null
  readonly erased: number
  readonly settled_at: number | null
  readonly failed_state: number | null
  readonly replays: number | null
  readonly decided_by: string | null
  readonly decided_at: number | null
  readonly owner: string | null
}

const selectItem = statement<ItemRow>('find_item', { seq: 'bigint' })`
  select i.key, i.enqueued_at, i.expires_at, i.transactional, case when i.text = '' then 1 else 0 end as erased,
    s.at as settled_at, f.state as failed_state, f.replays, f.decided_by, f.decided_at, o.owner
  from ${rows} r join items i on i.seq = r.seq
  left join settled s on s.lane = i.lane and s.last >= i.seq
    and s.first = (select max(t.first) from settled t where t.lane = i.lane and t.first <= i.seq)
  left join failed f on f.seq = i.seq
  left join lane_owners o on o.lane = i.lane`

export async function findItem(
  database: Database,
  seq: number,
  findWaitReason: FindWaitReason,
): Promise<ItemDetails | undefined> {
  const [[row], [outcome], attempts, identifiers] = await Promise.all([
    database.read(op(selectItem, [[seq]])),
    readOutcomes(database, [seq], findWaitReason),
    readAttempts(database, [seq]),
    readIdentifiers(database, [seq]),
  ])
  if (!row || !outcome) return undefined
  const { failed_state: state, replays, settled_at: settledAt, expires_at: expiresAt, owner } = row
  return {
    ...outcome,
    key: row.key,
    enqueuedAt: row.enqueued_at,
    history: attempts.get(seq) ?? [],
    identifiers: identifiers.get(seq) ?? [],
    ...(replays !== null && replays > 0 && { replays }),
    ...(row.erased === 1 && { erased: true }),
    ...(expiresAt !== null && { expiresAt }),
    ...(row.transactional === 1 && { transactional: true }),
    ...(outcome.category !== 'waiting' && settledAt !== null && { settledAt }),
    ...(state !== null && {
      failed: { state: failedStates[state] as FailedState, by: row.decided_by, at: row.decided_at },
    }),
    ...(owner !== null && { owner }),
  }
}
