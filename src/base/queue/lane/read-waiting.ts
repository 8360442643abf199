// Reads the waiting items of a lane. Every look-up is a range of the primary key (lane, due_at, seq), even without statistics.

import { clock } from '../../runtime/clock.ts'
import { toRanges } from '../../runtime/ranges.ts'
import type { Database } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import type { BufferedItem } from './buffered-item.ts'

interface ItemRow {
  readonly seq: number
  readonly due_at: number
  readonly attempt: number
  readonly key: string
  readonly text: string
  readonly enqueued_at: number
  readonly traceparent: string | null
  readonly expires_at: number | null
  readonly transactional: number | null
}
/** The primary key of a waiting row, without the lane. */
export interface WaitingKey {
  readonly due_at: number
  readonly seq: number
}

const columns = 'w.seq, w.due_at, w.attempt, i.key, i.text, i.enqueued_at, i.traceparent, i.expires_at, i.transactional'

const selectPage = statement<ItemRow>({
  name: 'read_page',
  columns: { lane: 'text', due_at: 'bigint', after: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    select ${columns} from waiting w join items i on i.seq = w.seq
    where w.lane = (select r.lane from ${rows} r) and w.due_at = (select r.due_at from ${rows} r) and w.seq > (select r.after from ${rows} r)
    order by w.seq limit (select r.max_rows from ${rows} r)`,
})

/** Reads the next new items of a lane with this `due_at` after this seq, in order. */
export async function readPage(
  database: Database,
  lane: string,
  { due_at: dueAt, seq: after }: WaitingKey,
  limit: number,
): Promise<BufferedItem[]> {
  return (await database.read(op(selectPage, [[lane, dueAt, after, limit]]))).map((row) => toBufferedItem(lane, row))
}

export interface WaitingRow extends WaitingKey {
  readonly attempt: number
}

const selectAhead = statement<WaitingRow>({
  name: 'read_ahead',
  columns: { lane: 'text', due_at: 'bigint', after: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq, w.attempt from waiting w
    where w.lane = (select r.lane from ${rows} r) and w.due_at = (select r.due_at from ${rows} r) and w.seq > (select r.after from ${rows} r)
    order by w.seq limit (select r.max_rows from ${rows} r)`,
})

const selectRanges = statement<Omit<ItemRow, 'due_at' | 'attempt'>>('read_ranges', { first: 'bigint', last: 'bigint' })`
  select i.seq, i.key, i.text, i.enqueued_at, i.traceparent, i.expires_at, i.transactional from ${rows} r cross join items i
  where i.seq between r.first and r.last`

/** Reads the next rows after this key, with the same `due_at`, without their texts. readItemsBySeq() reads the texts. */
export function readWaitingRows(
  database: Database,
  lane: string,
  { due_at: dueAt, seq: after }: WaitingKey,
  limit: number,
): Promise<readonly WaitingRow[]> {
  return database.read(op(selectAhead, [[lane, dueAt, after, limit]]))
}

/** Reads the items of these rows by ranges of consecutive seqs: on PostgreSQL 2 µs a row in long pages, instead of 4 µs. */
export async function readItemsBySeq(
  database: Database,
  lane: string,
  rows: readonly WaitingRow[],
): Promise<BufferedItem[]> {
  const ranges = toRanges(rows.map(({ seq }) => seq))
  const items = new Map((await database.read(op(selectRanges, ranges))).map((item) => [item.seq, item]))
  return rows.flatMap(({ due_at, seq, attempt }) => {
    const item = items.get(seq)
    return item ? [toBufferedItem(lane, { ...item, due_at, attempt })] : []
  })
}

const selectSkipped = statement<WaitingKey>({
  name: 'read_behind',
  columns: { lane: 'text', due_at: 'bigint', after: 'bigint', until: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq from waiting w
    where w.lane = (select r.lane from ${rows} r) and w.due_at = (select r.due_at from ${rows} r)
      and w.seq > (select r.after from ${rows} r) and w.seq <= (select r.until from ${rows} r)
    order by w.seq limit (select r.max_rows from ${rows} r)`,
})

const selectDue = statement<WaitingRow>({
  name: 'read_due',
  columns: { lane: 'text', due_at: 'bigint', seq: 'bigint', now: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq, w.attempt from waiting w
    where w.lane = (select r.lane from ${rows} r) and w.due_at <= (select r.now from ${rows} r)
      and (w.due_at, w.seq) > ((select r.due_at from ${rows} r), (select r.seq from ${rows} r))
    order by w.due_at, w.seq limit (select r.max_rows from ${rows} r)`,
})

const selectByKey = statement<ItemRow>('read_places', { lane: 'text', due_at: 'bigint', seq: 'bigint' })`
  select ${columns} from ${rows} r
  join waiting w on w.lane = r.lane and w.due_at = r.due_at and w.seq = r.seq join items i on i.seq = w.seq`

/** Finds the next postponed or replayed rows that are due now, sorted by due time. */
export function findDue(
  database: Database,
  lane: string,
  after: WaitingKey,
  now: number,
  limit: number,
): Promise<readonly WaitingRow[]> {
  return database.read(op(selectDue, [[lane, after.due_at, after.seq, now, limit]]))
}

/**
 * Finds the rows between `after` and `until` that a reader may have skipped: PostgreSQL assigns numbers before the commit, so
 * a row may become visible after a row with a higher number.
 */
export function findSkipped(
  database: Database,
  lane: string,
  { due_at: dueAt, seq: after }: WaitingKey,
  until: number,
  limit: number,
): Promise<readonly WaitingKey[]> {
  return database.read(op(selectSkipped, [[lane, dueAt, after, until, limit]]))
}

/** Reads the items of these rows in the order of their keys, without rows that were settled meanwhile. */
export async function readItemsAt(
  database: Database,
  lane: string,
  keys: readonly WaitingKey[],
): Promise<BufferedItem[]> {
  if (keys.length === 0) return []
  const rows = keys.map(({ due_at, seq }) => [lane, due_at, seq])
  const found = await database.read(op(selectByKey, rows))
  return found.map((row) => toBufferedItem(lane, row)).sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq)
}

// Jumps from lane to lane in the index, from its end: the newest rows wait. The oldest index entries are of settled rows, as long
// as a snapshot that is held open keeps PostgreSQL from removing them.
const selectDueLanes = statement<{ lane: string }>('due_lanes', { now: 'bigint' })`
  with recursive waiting_lanes (lane) as (
    select max(w.lane) from waiting w
    union all
    select (select max(w.lane) from waiting w where w.lane < l.lane) from waiting_lanes l where l.lane is not null)
  select l.lane from waiting_lanes l
  where (select w.seq from waiting w where w.lane = l.lane and w.due_at <= (select r.now from ${rows} r)
         order by w.due_at desc, w.seq desc limit 1) is not null`

/** Finds the lanes with items that are due. The cost grows with the number of lanes that have waiting items. */
export async function findDueLanes(database: Database, now: number): Promise<readonly string[]> {
  return (await database.read(op(selectDueLanes, [[now]]))).map(({ lane }) => lane)
}

export function toBufferedItem(lane: string, row: ItemRow): BufferedItem {
  const { seq, due_at, attempt, key, text, enqueued_at, traceparent, expires_at: expiresAt, transactional } = row
  const item: BufferedItem = {
    seq,
    lane,
    key,
    text,
    attempt: attempt + 1,
    enqueuedAt: enqueued_at,
    dueAt: due_at,
    waitingSince: clock.steady() - Math.max(0, clock.now() - enqueued_at),
    bytes: Buffer.byteLength(text),
    suspectedAtCall: attempt > 0 ? 0 : undefined,
    uncountedAttempts: 0,
    batchId: undefined,
    earlierAttempts: undefined,
  }
  if (traceparent === null && expiresAt === null && transactional === null) return item
  return {
    ...item,
    ...(traceparent !== null && { traceparent }),
    ...(expiresAt !== null && { expiresAt }),
    ...(transactional !== null && { transactional: true }),
  }
}
