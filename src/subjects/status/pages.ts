// Polling: the statuses in the order of their numbers, page by page.
//
// A status gets its number after it was committed, so a number that a reader sees has all smaller numbers before it, however many
// writers commit at the same time and in whatever order. The row of the counter is locked while numbers are assigned, so two
// processes never assign at the same time; a poll assigns them, and nothing else needs them.
//
// A cursor is a number and the tag of its assignment. A database that was restored from a backup assigns the same numbers again,
// but with other tags.

import { clock } from '../../base/runtime/clock.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { MessageStatus } from '../../contract/status.ts'
import { mostStatusBytes, statusRecordJson } from '../../contract/status-record.ts'
import { placeOf } from './tables.ts'

export interface StatusPages {
  /**
   * Reads a page of the statuses of these brands.
   *
   * @param after the cursor of the previous page; undefined: from the oldest status
   * @returns the JSON texts of the records, and the cursor of the next page; or the cursor to go on with, if `after` is of another
   * database or was forgotten
   */
  read(brands: readonly string[], after: string | undefined, limit: number): Promise<StatusPageRead>
}

export type StatusPageRead =
  | { readonly records: readonly string[]; readonly next: string; readonly restart?: never }
  | { readonly restart: string }

/** The cursor before the first status. */
export const firstCursor = '0.0'
/** A poll assigns numbers until its page is full, at most for this time. */
const assigningMs = 2_000
/** Statuses that get their numbers in one commit. With SQLite, other requests wait for it. */
const numbersPerCommit = 2_000

/** @example const page = await createStatusPages(database).read(['1'], undefined, 1_000) */
export function createStatusPages(database: Pick<Database, 'read' | 'commit'>): StatusPages {
  return {
    async read(brands, after = firstCursor, limit) {
      const from = await checkCursor(after)
      if (from === undefined) return { restart: firstCursor }
      const { rows, end } = await readRows(brands, from, limit)
      const records: string[] = []
      let last = from
      let bytes = 0
      for (const row of rows) {
        bytes += row.meta?.length ?? 0
        if (bytes > mostStatusBytes && records.length > 0) return { records, next: await cursorOf(last) }
        last = row.number
        const record = recordOf(row)
        if (record !== undefined) records.push(record)
      }
      // Without further rows, the cursor passes over the statuses of other brands: retention forgets cursors that stay behind.
      return { records, next: await cursorOf(rows.length < limit ? Math.max(last, end) : last) }
    },
  }

  /**
   * The next rows of these brands. Numbers are assigned while there are fewer rows than the limit.
   *
   * @returns `end`: there are no further rows of these brands up to this number, if there are fewer rows than the limit
   */
  async function readRows(
    brands: readonly string[],
    after: number,
    limit: number,
  ): Promise<{ readonly rows: readonly StatusRow[]; readonly end: number }> {
    const began = clock.monotonic()
    for (;;) {
      const [counter] = await database.read(op(selectCounter, [[]]))
      const inputs = brands.map((brand) => [brand, after, limit])
      const rows = await database.read(op(selectPage, inputs))
      const full = rows.length === limit || clock.monotonic() - began > assigningMs
      if (full || (await database.read(op(selectNew, [[]]))).length === 0) return { rows, end: counter?.last ?? 0 }
      await database.commit([
        op(lockCounter, [[0]]),
        op(insertBatch, [[uuidv7(), clock.now(), numbersPerCommit]]),
        op(assignNumbers, [[0]]),
        op(advanceCounter, [[0]]),
      ])
    }
  }

  /** @returns the number of the cursor; undefined if this database did not give it */
  async function checkCursor(cursor: string): Promise<number | undefined> {
    if (cursor === firstCursor) return 0
    const [, number, tag] = /^([1-9][0-9]{0,14})\.(.+)$/.exec(cursor) ?? []
    if (number === undefined) return undefined
    return (await tagOf(Number(number))) === tag ? Number(number) : undefined
  }

  async function cursorOf(number: number): Promise<string> {
    return number === 0 ? firstCursor : `${number}.${await tagOf(number)}`
  }

  async function tagOf(number: number): Promise<string | undefined> {
    const [batch] = await database.read(op(selectBatch, [[number]]))
    return batch?.tag
  }
}

interface StatusRow {
  readonly number: number
  readonly ref: string
  readonly status: MessageStatus
  readonly at: string
  /** null: the message was forgotten. */
  readonly channel: 'push' | 'site' | null
  readonly meta: string | null
}

function recordOf({ channel, ref, status, at, meta }: StatusRow): string | undefined {
  return channel === null ? undefined : statusRecordJson({ channel, ref, status, at, meta })
}

// The range of each brand ends at its last row that can be in the page, so that only index entries of these brands are read.
const selectPage = statement<StatusRow>('select_status_page', { brand: 'text', after: 'bigint', most: 'bigint' })`
  select s.number, s.ref, s.status, s.at, m.channel, m.meta
  from (
    select n.number, n.ref, n.status, n.at
    from (
      select r.brand, r.after, coalesce((
        select k.number from statuses k where k.brand = r.brand and k.number > r.after
        order by k.number limit 1 offset (select max(o.most) from ${rows} o) - 1), ${Number.MAX_SAFE_INTEGER}) as until
      from ${rows} r) b
    cross join statuses n
    where n.brand = b.brand and n.number > b.after and n.number <= b.until
    order by n.number limit (select max(r.most) from ${rows} r)) s
  left join status_messages m on m.ref = s.ref
  order by s.number`

const selectCounter = statement<{ last: number }>('select_status_counter', {})`
  select c.last from status_counter c`

const selectNew = statement<{ found: number }>('select_new_status', {})`
  select 1 as found from statuses s where s.number is null limit 1`

const selectBatch = statement<{ tag: string }>('select_status_batch', { number: 'bigint' })`
  select b.tag from status_batches b where b.last >= (select r.number from ${rows} r) order by b.last limit 1`

const lockCounter = statement('lock_status_counter', { none: 'bigint' })`
  update status_counter set last = last where exists (select 1 from ${rows} r)`

// Counts the statuses that get their numbers in this transaction.
const insertBatch = statement('insert_status_batch', { tag: 'text', at: 'bigint', most: 'bigint' })`
  insert into status_batches (last, tag, at)
  select c.last + n.found, r.tag, r.at
  from (select min(t.tag) as tag, min(t.at) as at from ${rows} t) r
  cross join status_counter c
  cross join (
    select count(*) as found
    from (select 1 from statuses p where p.number is null limit (select max(m.most) from ${rows} m)) q) n
  where n.found > 0`

// Each statement has a snapshot of its own, so this one sees the numbers of the process that held the lock before.
const assignNumbers = statement('assign_status_numbers', { none: 'bigint' })`
  update statuses set number = n.number
  from (
    select s.ref, s.status, c.last + row_number() over (order by s.recorded_at, s.ref, s.at, ${placeOf('s')}) as number
    from (
      select p.ref, p.status, p.recorded_at, p.at from statuses p where p.number is null
      order by p.recorded_at, p.ref
      limit coalesce(
        (select max(b.last) - min(l.last) from status_counter l join status_batches b on b.last > l.last), 0)) s
    cross join status_counter c) n
  where statuses.ref = n.ref and statuses.status = n.status and exists (select 1 from ${rows} r)`

const advanceCounter = statement('advance_status_counter', { none: 'bigint' })`
  update status_counter set last = coalesce((select max(b.last) from status_batches b), last)
  where exists (select 1 from ${rows} r)`
