// Finds failed items by filter. A filter may match few of millions of items, so each statement reads a bounded number of rows.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { toRanges } from '../../runtime/ranges.ts'
import type { Database } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import type { FailedFilter, FailedGroup } from '../queue.ts'
import { failedState } from './failed-state.ts'

/** The number of rows that one statement reads. */
const rowsOfStatement = 5_000
/** The most rows that one call of matchFailed() reads. */
export const rowsOfCall = 200_000

export type MatchedItem = Pick<FailedGroup, 'lane' | 'activity' | 'action' | 'reason'> & { readonly seq: number }

export interface Matched {
  readonly items: readonly MatchedItem[]
  /** The last number that was read, if there may be more items. */
  readonly next?: number
}

/** Finds the next matching items after a number, at most `limit`, sorted by number. There may be fewer items before the end. */
export async function matchFailed(
  database: Database,
  filter: FailedFilter,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<Matched> {
  if (filter.seqs) return matchSelection(database, filter, filter.seqs, { after, limit })
  const items: MatchedItem[] = []
  let last = after
  for (let read = 0; read < rowsOfCall; ) {
    const page = await readEnd(database, filter, last)
    if (page.last === null) return { items }
    const ranges: Range[] = [[last + 1, page.last]]
    const found = await readMatches(database, filter, ranges)
    items.push(...found.slice(0, limit - items.length))
    if (items.length === limit) return { items, next: items.at(-1)?.seq as number }
    if (page.n < rowsOfStatement) return { items }
    last = page.last
    read += page.n
    // A read on SQLite does not end the turn of the event loop.
    await nextTurn()
  }
  return { items, next: last }
}

async function matchSelection(
  database: Database,
  filter: FailedFilter,
  seqs: readonly number[],
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<Matched> {
  const rest = [...new Set(seqs)].filter((seq) => seq > after).sort((a, b) => a - b)
  const page = rest.slice(0, limit)
  if (page.length === 0) return { items: [] }
  // For a list of numbers PostgreSQL would scan the whole table.
  const items = await readMatches(database, filter, toRanges(page))
  return page.length === rest.length ? { items } : { items, next: page.at(-1) as number }
}

type Range = readonly [first: number, last: number]

// Without a lane, both statements read a range of the primary key, otherwise of the index `failed_lane`. On PostgreSQL pairs of
// columns are compared, because only that index has their order: it might read the primary key past the items of other lanes.
// SQLite does not use a pair of values that are not constants.
type Scope = 'all' | Database['engine']

const scopeOf = ({ engine }: Database, { lane }: FailedFilter): Scope => (lane === undefined ? 'all' : engine)

interface PageEnd {
  readonly last: number | null
  /** The number of rows of the page. */
  readonly n: number
}

const selectEnd = (rowsAfter: (lane: string, after: string) => string) =>
  statement<PageEnd>({
    name: 'end_of_failed_page',
    columns: { lane: 'text', after: 'bigint' },
    text: (rows) => {
      const [lane, after] = [`(select r.lane from ${rows} r)`, `(select r.after from ${rows} r)`]
      return `
        select max(p.seq) as last, count(*) as n
        from (select f.lane, f.seq from failed f where ${rowsAfter(lane, after)} limit ${rowsOfStatement}) p
        where ${lane} is null or p.lane = ${lane}`
    },
  })
const selectEndIn = {
  all: selectEnd((_lane, after) => `f.seq > ${after} order by f.seq`),
  sqlite: selectEnd((lane, after) => `f.lane = ${lane} and f.seq > ${after} order by f.seq`),
  postgres: selectEnd((lane, after) => `(f.lane, f.seq) > (${lane}, ${after}) order by f.lane, f.seq`),
}

async function readEnd(database: Database, filter: FailedFilter, after: number): Promise<PageEnd> {
  const [end] = await database.read(op(selectEndIn[scopeOf(database, filter)], [[filter.lane ?? null, after]]))
  return end ?? { last: null, n: 0 }
}

const equal = ['activity', 'action', 'user_id', 'reason', 'state'] as const
// Null: the filter does not restrict the column. `replace` finds the text literally; in `like`, % and _ would have a meaning.
const isMatch = [
  ...equal.map((column) => `(r.${column} is null or f.${column} = r.${column})`),
  '(r.since is null or f.at >= r.since)',
  '(r.until is null or f.at < r.until)',
  `(r.contains is null or replace(f.error, r.contains, '') <> f.error)`,
].join(' and ')

const selectMatches = (isInRange: string) =>
  statement<MatchedItem>('match_failed', {
    first: 'bigint',
    last: 'bigint',
    lane: 'text',
    activity: 'text',
    action: 'text',
    user_id: 'text',
    reason: 'text',
    state: 'bigint',
    since: 'bigint',
    until: 'bigint',
    contains: 'text',
  })`
    select f.seq, f.lane, f.activity, f.action, f.reason from ${rows} r cross join failed f
    where ${isInRange} and ${isMatch}`
const selectMatchesIn = {
  all: selectMatches('f.seq between r.first and r.last'),
  sqlite: selectMatches('f.lane = r.lane and f.seq between r.first and r.last'),
  postgres: selectMatches('(f.lane, f.seq) >= (r.lane, r.first) and (f.lane, f.seq) <= (r.lane, r.last)'),
}

/** Reads the matching items of these ranges, sorted by number. */
async function readMatches(
  database: Database,
  filter: FailedFilter,
  ranges: readonly Range[],
): Promise<readonly MatchedItem[]> {
  const { lane, activity, action, user, reason, state, since, until, contains } = filter
  const values = [lane, activity, action, user, reason, state && failedState[state], since, until, contains]
  const rows = ranges.map((range) => [...range, ...values.map((value) => value ?? null)])
  // With "order by", PostgreSQL would read the whole index in that order.
  const found = await database.read(op(selectMatchesIn[scopeOf(database, filter)], rows))
  return [...found].sort((a, b) => a.seq - b.seq)
}
