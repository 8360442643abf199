// Reading what waits. Every look-up is a range of the primary key (lane, due_at, seq), with or without statistics.

import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import type { Row } from './row.ts'

interface Read {
  readonly seq: number
  readonly due_at: number
  readonly attempt: number
  readonly key: string
  readonly text: string
  readonly put_at: number
  readonly traceparent: string | null
}
/** Where a waiting row is found. */
export interface Place {
  readonly due_at: number
  readonly seq: number
}

const columns = 'w.seq, w.due_at, w.attempt, i.key, i.text, i.put_at, i.traceparent'

const selectPage = statement<Read>({
  name: 'read_page',
  rank: 43,
  columns: { lane: 'text', after: 'bigint', many: 'bigint' },
  text: (rows) => `
    select ${columns} from waiting w join items i on i.seq = w.seq
    where w.lane = (select r.lane from ${rows} r) and w.due_at = 0 and w.seq > (select r.after from ${rows} r)
    order by w.seq limit (select r.many from ${rows} r)`,
})

/** The next rows of a lane after this seq, in order. What was put off is not among them. */
export async function readPage(database: Database, lane: string, after: number, many: number): Promise<Row[]> {
  return (await database.read(op(selectPage, [[lane, after, many]]))).map((read) => toRow(lane, read))
}

export interface Ahead extends Place {
  readonly attempt: number
}

const selectAhead = statement<Ahead>({
  name: 'read_ahead',
  rank: 43,
  columns: { lane: 'text', after: 'bigint', many: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq, w.attempt from waiting w
    where w.lane = (select r.lane from ${rows} r) and w.due_at = 0 and w.seq > (select r.after from ${rows} r)
    order by w.seq limit (select r.many from ${rows} r)`,
})

const selectRanges = statement<Omit<Read, 'due_at' | 'attempt'>>({
  name: 'read_ranges',
  rank: 43,
  columns: { first: 'bigint', last: 'bigint' },
  text: (rows) => `
    select i.seq, i.key, i.text, i.put_at, i.traceparent from ${rows} r cross join items i
    where i.seq between r.first and r.last`,
})

/** The same in two steps: which rows come next, without their texts … */
export function readAhead(database: Database, lane: string, after: number, many: number): Promise<readonly Ahead[]> {
  return database.read(op(selectAhead, [[lane, after, many]]))
}

/**
 * … and their items, by ranges of consecutive seqs. Of long pages that is the faster way: on PostgreSQL 2 us a row, where
 * finding each item by itself takes 4.
 */
export async function readItems(database: Database, lane: string, ahead: readonly Ahead[]): Promise<Row[]> {
  const ranges: [number, number][] = []
  for (const { seq } of ahead) {
    const last = ranges.at(-1)
    if (last && last[1] === seq - 1) last[1] = seq
    else ranges.push([seq, seq])
  }
  const items = new Map((await database.read(op(selectRanges, ranges))).map((item) => [item.seq, item]))
  return ahead.flatMap(({ due_at, seq, attempt }) => {
    const item = items.get(seq)
    return item ? [toRow(lane, { ...item, due_at, attempt })] : []
  })
}

const selectBehind = statement<Place>({
  name: 'read_behind',
  rank: 43,
  columns: { lane: 'text', after: 'bigint', until: 'bigint', many: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq from waiting w
    where w.lane = (select r.lane from ${rows} r) and w.due_at = 0
      and w.seq > (select r.after from ${rows} r) and w.seq <= (select r.until from ${rows} r)
    order by w.seq limit (select r.many from ${rows} r)`,
})

const selectDue = statement<Ahead>({
  name: 'read_due',
  rank: 43,
  columns: { lane: 'text', due_at: 'bigint', seq: 'bigint', now: 'bigint', many: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq, w.attempt from waiting w
    where w.lane = (select r.lane from ${rows} r) and w.due_at <= (select r.now from ${rows} r)
      and (w.due_at, w.seq) > ((select r.due_at from ${rows} r), (select r.seq from ${rows} r))
    order by w.due_at, w.seq limit (select r.many from ${rows} r)`,
})

const selectPlaces = statement<Read>({
  name: 'read_places',
  rank: 43,
  columns: { lane: 'text', due_at: 'bigint', seq: 'bigint' },
  text: (rows) => `
    select ${columns} from ${rows} r
    join waiting w on w.lane = r.lane and w.due_at = r.due_at and w.seq = r.seq join items i on i.seq = w.seq`,
})

/** Where the next rows are that were put off or replayed, and are due now: by the time when they were due. */
export function findDue(
  database: Database,
  lane: string,
  after: Place,
  now: number,
  many: number,
): Promise<readonly Ahead[]> {
  return database.read(op(selectDue, [[lane, after.due_at, after.seq, now, many]]))
}

/**
 * Where rows are that became visible behind the reader's back, between `after` and `until`: their putter committed later than
 * one with a higher number (PostgreSQL gives numbers before the commit).
 */
export function findBehind(
  database: Database,
  lane: string,
  after: number,
  until: number,
  many: number,
): Promise<readonly Place[]> {
  return database.read(op(selectBehind, [[lane, after, until, many]]))
}

/** The rows at these places, in that order. One that was settled meanwhile is not found again. */
export async function readPlaces(database: Database, lane: string, places: readonly Place[]): Promise<Row[]> {
  if (places.length === 0) return []
  const rows = places.map(({ due_at, seq }) => [lane, due_at, seq])
  const read = await database.read(op(selectPlaces, rows))
  return read.map((each) => toRow(lane, each)).sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq)
}

function toRow(lane: string, read: Read): Row {
  const { seq, due_at, attempt, key, text, put_at, traceparent } = read
  const row: Row = {
    seq,
    lane,
    key,
    text,
    attempt: attempt + 1,
    putAt: put_at,
    dueAt: due_at,
    since: put_at,
    bytes: Buffer.byteLength(text),
    doubtedAt: attempt > 0 ? 0 : undefined,
    uncounted: 0,
    id: undefined,
  }
  return traceparent === null ? row : { ...row, traceparent }
}
