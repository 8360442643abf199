// Reads the ids of a query as JSON pages. SQLite builds the JSON itself, at a tenth of the cost of reading row by row in
// JavaScript (5 million ids: 3.8 s).

import type { DatabaseSync, StatementSync } from 'node:sqlite'

export interface Page {
  /** `["1001","1002"]` */
  readonly array: Uint8Array
  readonly count: number
  /** How many of the ids were NULL. */
  readonly nulls: number
}

const pageSize = 2_048
const counted = 'cast(json_group_array(cast(id as text)) as blob), count(*), count(*) - count(id)'

/** Yields all ids of a query, read in the open transaction. Commits as soon as the query's tables are no longer needed. */
export function* pages(db: DatabaseSync, query: string): Generator<Page> {
  const ranges = prepareRanges(db, query)
  if (!ranges) return yield* readFromCopy(db, query)
  yield* readByRowid(ranges)
  db.exec('commit')
}

/**
 * For any query: copies the ids to a temporary table on disk first, which can then be read by ranges. The copy takes two thirds
 * of the time.
 */
function* readFromCopy(db: DatabaseSync, query: string): Generator<Page> {
  db.exec(`create temp table ids as with q(id) as (${query}\n) select cast(id as text) as id from q; commit`)
  const range = prepare(db, `select ${counted} from ids where rowid >= ? and rowid < ?`)
  for (let from = 1n; ; from += BigInt(pageSize)) {
    const { page } = range(from, from + BigInt(pageSize))
    if (page.count === 0) return
    yield page
  }
}

interface Ranges {
  /** The ids of the rows in a range of keys. */
  readonly dense: ReadPage
  /** The ids of the next rows, and the key of the last one. */
  readonly sparse: ReadPage
}

/**
 * A query that only filters one table needs no copy: its rows are read in ranges of the table's rowid. Returns undefined if that
 * is impossible. The query plan decides, not the text of the query: it must be a single step along the rowid.
 */
function prepareRanges(db: DatabaseSync, query: string): Ranges | undefined {
  const [, id, rest] =
    /^\s*select\s+([\w."]+)(\s+from\s+[\w."]+(?:\s+(?:as\s+)?\w+)?(?:\s+where\s.*)?)$/is.exec(query) ?? []
  if (id === undefined) return undefined
  const keyed = `with q(id, n) as (select ${id}, rowid ${rest}\n)`
  const dense = `${keyed} select ${counted} from q where n >= ? and n < ?`
  const sparse = `${keyed} select ${counted}, max(n) from (select id, n from q where n >= ? order by n limit ${pageSize})`
  try {
    // If the query itself filters by rowid, each page would be read from the start of the query's range.
    if (planOf(db, query).some((step) => step.includes('rowid'))) return undefined
    const steps = planOf(db, dense)
    if (steps.length !== 1 || !/^SEARCH .*rowid>\? AND rowid<\?\)$/.test(steps[0] ?? '')) return undefined
    if (planOf(db, sparse).some((step) => /TEMP B-TREE|^SCAN (?!\(subquery)/.test(step))) return undefined
    return { dense: prepare(db, dense), sparse: prepare(db, sparse) }
  } catch {
    return undefined // a view, or a table without a rowid
  }
}

const minRowid = -(2n ** 63n)
const maxRowid = 2n ** 63n - 1n

function* readByRowid({ dense, sparse }: Ranges): Generator<Page> {
  const width = BigInt(pageSize)
  let from = minRowid
  for (;;) {
    const { page, last } = sparse(from)
    if (page.count > 0) yield page
    if (page.count < pageSize || last === undefined || last === maxRowid) return
    // Where the query returns most rows of a range, reading the range costs half as much. (Not near maxRowid: it would overflow.)
    const isDense = last - from < 2n * width && last < maxRowid / 2n
    for (from = last + 1n; isDense; from += width) {
      const { page } = dense(from, from + width)
      if (page.count > 0) yield page
      if (2 * page.count < pageSize) {
        from += width
        break
      }
    }
  }
}

type ReadPage = (...from: readonly bigint[]) => { readonly page: Page; readonly last: bigint | undefined }

function prepare(db: DatabaseSync, text: string): ReadPage {
  const statement: StatementSync = db.prepare(text)
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  return (...from) => {
    const [array, count, nulls, last] = statement.get(...from) as unknown as [Uint8Array, bigint, bigint, bigint?]
    return { page: { array, count: Number(count), nulls: Number(nulls) }, last: last ?? undefined }
  }
}

const planOf = (db: DatabaseSync, text: string): readonly string[] =>
  db
    .prepare(`explain query plan ${text}`)
    .all()
    .map(({ detail }) => String(detail))
