// Failed Actions (§6.4): the list, and what a person decides.

import { randomUUID } from 'node:crypto'
import type { Reason } from '../contract/outcome.ts'
import type { Database, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { Decision, FailedFilter, FailedItem } from './queue.ts'
import { failedState } from './tables.ts'
import { laneTopic } from './topic.ts'

const filterColumns = {
  lane: 'text',
  activity: 'text',
  action: 'text',
  user_id: 'text',
  state: 'bigint',
  after: 'bigint',
  many: 'bigint',
} as const
const given = (rows: string, column: string): string => `(select r.${column} from ${rows} r)`
// An absent filter is null.
const matches = (rows: string): string =>
  ['lane', 'activity', 'action', 'user_id', 'state']
    .map((column) => `(${given(rows, column)} is null or f.${column} = ${given(rows, column)})`)
    .join(' and ')

const selectFailed = statement<
  Omit<FailedItem, 'user' | 'state' | 'decidedBy' | 'decidedAt'> & {
    user_id: string | null
    state: number
    decided_by: string | null
    decided_at: number | null
  }
>({
  name: 'list_failed',
  rank: 49,
  columns: filterColumns,
  text: (rows) => `
    select f.seq, f.lane, f.key, f.activity, f.action, f.user_id, f.reason, f.error, f.rule, f.answer, f.call, f.attempts, f.at,
      f.state, f.decided_by, f.decided_at, i.text
    from failed f join items i on i.seq = f.seq
    where ${matches(rows)} and f.seq > ${given(rows, 'after')} order by f.seq limit ${given(rows, 'many')}`,
})

const selectSeqs = statement<{ seq: number; lane: string }>({
  name: 'match_failed',
  rank: 49,
  columns: filterColumns,
  text: (rows) => `
    select f.seq, f.lane from failed f
    where ${matches(rows)} and f.seq > ${given(rows, 'after')} order by f.seq limit ${given(rows, 'many')}`,
})

// Taken only if it is as it was when it was matched: of two people who decide at once, one does.
const updateFailed = statement<{ seq: number }>({
  name: 'decide_failed',
  rank: 50,
  columns: { seq: 'bigint', was: 'bigint', state: 'bigint', decision: 'text', decided_by: 'text', at: 'bigint' },
  text: (rows) => `
    update failed set state = r.state, decision = r.decision, decided_by = r.decided_by, decided_at = r.at
    from ${rows} r where failed.seq = r.seq and failed.state = r.was
    returning failed.seq as seq`,
})

const decided = { seq: 'bigint', decision: 'text' } as const

// Due long ago: the lane's sweep finds it, although reading on is past its number.
const replayWaiting = statement({
  name: 'replay_waiting',
  rank: 51,
  columns: decided,
  text: (rows) => `
    insert into waiting (lane, due_at, seq, attempt)
    select f.lane, 1, f.seq, 0 from ${rows} r join failed f on f.seq = r.seq and f.decision = r.decision where true
    on conflict do nothing`,
})

const replaySettled = statement({
  name: 'replay_settled',
  rank: 52,
  columns: decided,
  text: (rows) => `
    delete from settled where (lane, first) in
      (select f.lane, f.seq from ${rows} r join failed f on f.seq = r.seq and f.decision = r.decision)`,
})

const pageRows = 1_000
const stateNames = ['pending', 'dismissed', 'replayed'] as const

/** By seq, from after the cursor; `next` is absent at the end. */
export async function listFailed(
  database: Database,
  filter: FailedFilter,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ items: FailedItem[]; next?: number }> {
  const rows = await database.read(op(selectFailed, [filterRow(filter, after, limit)]))
  const items = rows.map(({ user_id, state, decided_by, decided_at, ...rest }) => ({
    ...rest,
    user: user_id,
    reason: rest.reason as Reason,
    state: stateNames[state] as FailedItem['state'],
    decidedBy: decided_by,
    decidedAt: decided_at,
  }))
  const last = items.at(-1)
  return last && items.length === limit ? { items, next: last.seq } : { items }
}

/** Decides what matches, a page at a time. Without a state in the filter: what is pending. What is replayed already stays as it is. */
export async function decideFailed(
  database: Database,
  filter: FailedFilter,
  what: 'dismiss' | 'replay',
  { perSecond, by }: Decision,
): Promise<number> {
  const was = filter.state ?? 'pending'
  const state = what === 'dismiss' ? 'dismissed' : 'replayed'
  if (was === 'replayed' || was === state) return 0
  const many = Math.max(1, Math.min(pageRows, Math.floor(perSecond ?? pageRows)))
  let count = 0
  for (let after = 0; ; ) {
    const began = Date.now()
    const found = await database.read(op(selectSeqs, [filterRow({ ...filter, state: was }, after, many)]))
    const last = found.at(-1)
    if (!last) return count
    after = last.seq
    const decision = randomUUID()
    const update = op(
      updateFailed,
      found.map(({ seq }) => [seq, failedState[was], failedState[state], decision, by ?? null, began]),
    )
    const rows = found.map(({ seq }) => [seq, decision])
    const lanes = new Set(found.map(({ lane }) => lane))
    const replay =
      what === 'replay'
        ? [
            op(replayWaiting, rows),
            op(replaySettled, rows),
            ...[...lanes].map((lane) => database.wake(laneTopic(lane))),
          ]
        : []
    const [taken] = await database.commit([update, ...replay])
    count += taken.length
    if (found.length < many) return count
    if (perSecond !== undefined) await rest(began + (found.length * 1_000) / perSecond - Date.now())
  }
}

function filterRow({ lane, activity, action, user, state }: FailedFilter, after: number, many: number): Value[] {
  return [lane ?? null, activity ?? null, action ?? null, user ?? null, state ? failedState[state] : null, after, many]
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}
