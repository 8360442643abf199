// Marks of notifications: seen, read, clicked, dismissed, archived. Each is set at most once, with its first time (row 23).

import type { Database, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { MessageStatus } from '../../contract/status.ts'
import { timestampOf } from '../../contract/timestamp.ts'
import { type Marks, markColumns, reserveNumbersOp } from './store.ts'
import { topicOf } from './topic.ts'

export const marks = ['seen', 'read', 'clicked', 'dismissed', 'archived'] as const
export type Mark = (typeof marks)[number]

/** A person who clicks a notification has read it, and who reads it has seen it. */
const implied: Readonly<Record<Mark, readonly Mark[]>> = {
  seen: ['seen'],
  read: ['seen', 'read'],
  clicked: ['seen', 'read', 'clicked'],
  dismissed: ['seen', 'dismissed'],
  archived: ['seen', 'read', 'archived'],
}

/** Row 23: the delivery status that each mark is. */
const statusOf: Readonly<Record<Mark, MessageStatus>> = {
  seen: 'displayed',
  read: 'opened',
  clicked: 'clicked',
  dismissed: 'dismissed',
  archived: 'archived',
}

/** Operations that record the statuses of notifications, in the commit of their marks. */
export type StatusOps = (
  changes: readonly {
    readonly brand: string
    readonly ref: string
    readonly status: MessageStatus
    readonly at: string
  }[],
) => readonly Op[]

export interface MarkStore {
  readonly database: Pick<Database, 'read' | 'commit' | 'wake'>
  /** Absent: statuses are not recorded. */
  readonly statusOps?: StatusOps | undefined
}

/** Numbers in one commit: one statement must not hold the row of the user for long. */
const numbersPerCommit = 1_000

export interface NewMark {
  readonly brand: string
  readonly userId: string
  readonly mark: Mark
  /** Epoch milliseconds. */
  readonly at: number
}

/**
 * Marks notifications of one user by their identifiers, in one commit.
 *
 * @returns the identifiers that the user has no notification of
 * @example await markByRef({ database }, { brand: '1', userId: '1001', mark: 'read', at: Date.now() }, ['0190…'])
 */
export async function markByRef(store: MarkStore, mark: NewMark, refs: readonly string[]): Promise<readonly string[]> {
  const { brand, userId } = mark
  const rows = [...new Set(refs)].map((ref) => [brand, userId, ref])
  const found = await store.database.read(op(selectByRef, rows))
  const ranges = found.map(({ seq }) => [seq, seq] as const)
  if (found.length > 0) await store.database.commit([...markOps(store, mark, ranges), ...statusOps(store, mark, found)])
  const known = new Set(found.map(({ ref }) => ref))
  return refs.filter((ref) => !known.has(ref))
}

/** Marks all notifications of one user up to a number, in several commits. Call it again after an error: marks are kept. */
export async function markUpTo(store: MarkStore, mark: NewMark, last: number): Promise<void> {
  const { brand, userId } = mark
  for (let after = 0; ; ) {
    const [next] = await store.database.read(op(selectFirst, [[brand, userId, after, last]]))
    if (!next || next.first === null) return
    const range = [next.first, Math.min(next.first - 1 + numbersPerCommit, last)] as const
    const found = store.statusOps ? await store.database.read(op(selectRange, [[brand, userId, ...range]])) : []
    await store.database.commit([...markOps(store, mark, [range]), ...statusOps(store, mark, found)])
    after = range[1]
  }
}

/** The statuses of the marks that these notifications do not have yet. */
function statusOps(
  { statusOps: ops }: MarkStore,
  { brand, mark, at }: NewMark,
  found: readonly Markable[],
): readonly Op[] {
  if (!ops) return []
  const isNew = (row: Markable, each: Mark): boolean => row[`${each}_at`] === null
  return ops(
    found.flatMap((row) =>
      implied[mark]
        .filter((each) => isNew(row, each))
        .map((each) => ({ brand, ref: row.ref, status: statusOf[each], at: timestampOf(at) })),
    ),
  )
}

interface Markable extends Marks {
  readonly ref: string
  readonly seq: number
}

type Range = readonly [first: number, last: number]

function markOps(
  { database }: MarkStore,
  { brand, userId, mark, at }: NewMark,
  ranges: readonly Range[],
): readonly Op[] {
  const flags = marks.map((each) => (implied[mark].includes(each) ? 1 : 0))
  const rows = ranges.map(([first, last]) => [brand, userId, first, last, at, ...flags])
  return [
    reserveNumbersOp(brand, userId, 0),
    op(reserveChanges, rows),
    op(setMarks, rows),
    database.wake(topicOf(brand, userId)),
  ]
}

const columns = {
  brand: 'text',
  user_id: 'text',
  first: 'bigint',
  last: 'bigint',
  at: 'bigint',
  seen: 'bigint',
  read: 'bigint',
  clicked: 'bigint',
  dismissed: 'bigint',
  archived: 'bigint',
} as const

/** The notifications of the ranges that a mark changes. */
const changing = (rows: string): string => `
  ${rows} r join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq >= r.first and i.seq <= r.last
    and (${marks.map((mark, n) => `(r.${mark} = 1 and i.${markColumns[n]} is null)`).join(' or ')})`

// After the numbers of new notifications in the same commit, which have locked the rows of the users in order.
const reserveChanges = statement('count_up_inbox_changes', columns)`
  update inbox_users set last = inbox_users.last + c.n
  from (
    select d.brand, d.user_id, count(*) as n
    from (select distinct i.brand, i.user_id, i.seq from ${changing(rows)}) d group by d.brand, d.user_id) c
  where inbox_users.brand = c.brand and inbox_users.user_id = c.user_id`

const setMarks = statement('mark_inbox', columns)`
  update inbox set changed = c.changed,
    ${marks.map((mark, n) => `${markColumns[n]} = coalesce(inbox.${markColumns[n]}, case when c.${mark} = 1 then c.at end)`).join(', ')}
  from (
    select i.brand, i.user_id, i.seq, min(r.at) as at, ${marks.map((mark) => `max(r.${mark}) as ${mark}`).join(', ')},
      u.last - count(*) over (partition by i.brand, i.user_id)
             + row_number() over (partition by i.brand, i.user_id order by i.seq) as changed
    from ${changing(rows)} join inbox_users u on u.brand = i.brand and u.user_id = i.user_id
    group by i.brand, i.user_id, i.seq, u.last) c
  where inbox.brand = c.brand and inbox.user_id = c.user_id and inbox.seq = c.seq`

const markable = ['ref', 'seq', ...markColumns].map((column) => `i.${column}`).join(', ')

const selectByRef = statement<Markable>({
  name: 'select_inbox_marks_by_ref',
  columns: { brand: 'text', user_id: 'text', ref: 'text' },
  route: 'ref',
  text: (rows) => `
    select ${markable} from ${rows} r join inbox i on i.brand = r.brand and i.ref = r.ref and i.user_id = r.user_id`,
})

const selectRange = statement<Markable>({
  name: 'select_inbox_marks',
  columns: { brand: 'text', user_id: 'text', first: 'bigint', last: 'bigint' },
  text: (rows) => `
    select ${markable} from ${rows} r
    join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq >= r.first and i.seq <= r.last`,
})

const selectFirst = statement<{ first: number | null }>({
  name: 'select_inbox_first',
  columns: { brand: 'text', user_id: 'text', after: 'bigint', last: 'bigint' },
  text: (rows) => `
    select min(i.seq) as first from ${rows} r
    join inbox i on i.brand = r.brand and i.user_id = r.user_id and i.seq > r.after and i.seq <= r.last`,
})
