// Finds messages by the operator's identifier, by activity.id and by user. Each look-up is a range of an index.

import { messageKeysOf } from '../../contract/message-key.ts'
import { readPages } from '../runtime/read-pages.ts'
import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { readIdentifiers } from './identifiers.ts'
import { readAttempts } from './lane/attempts.ts'
import type { FoundItem, ItemSearch } from './queue.ts'
import { type FindWaitReason, readOutcomes } from './read-outcomes.ts'
import { itemsOfChunk } from './tables.ts'

interface FoundRow {
  readonly seq: number
  readonly key: string
  readonly enqueued_at: number
  readonly erased: number
}
const columns = `i.seq, i.key, i.enqueued_at, case when i.text = '' then 1 else 0 end as erased`

// No "order by i.seq": with it, PostgreSQL reads all items in that order, and SQLite starts with `items`. findItems() sorts.
const selectByRef = statement<FoundRow>('find_items_by_ref', { lane: 'text', ref: 'text' })`
  select ${columns} from ${rows} r cross join identifiers d cross join items i
  where d.lane = r.lane and d.ref = r.ref and i.seq = d.seq`

const selectById = statement<FoundRow>('find_items_by_id', { lane: 'text', first: 'text', after: 'text' })`
  select ${columns} from ${rows} r cross join items i where i.lane = r.lane and i.key >= r.first and i.key < r.after`

/** PostgreSQL reads a row of the table to find the next chunk, so it finds only the first of this many consecutive ones. */
const chunksAtOnce = 32

// One look-up in the index `items_user` for each chunk. Both sides are expressions: SQLite does not use the index to compare a
// column with an expression. `cross join` fixes SQLite's order of the tables, and `+ 0` excludes its other indexes.
const chunk = `(i.seq / ${itemsOfChunk})`
const selectByUser = statement<FoundRow>({
  name: 'find_items_by_user',
  columns: { lane: 'text', user_id: 'text', before: 'bigint', most: 'bigint' },
  text: (rows) => `
    with recursive steps (step) as (select 0 union all select step + 1 from steps where step < ${chunksAtOnce - 1}),
    chunks (lane, user_id, before, chunk) as (
      select r.lane || '', r.user_id, r.before, (select min(${chunk}) from items i where i.lane || '' = r.lane || '') from ${rows} r
      union all
      select c.lane, c.user_id, c.before,
        (select min(${chunk}) from items i where i.lane || '' = c.lane and ${chunk} >= c.chunk + ${chunksAtOnce})
      from chunks c where c.chunk is not null)
    select ${columns} from chunks c cross join steps s cross join items i
    where i.lane || '' = c.lane and ${chunk} = c.chunk + s.step and i.user_id = c.user_id and i.seq + 0 < c.before
    order by i.seq desc limit (select max(r.most) from ${rows} r)`,
})

const selectReplays = statement<{ seq: number; replays: number }>('select_replays', { seq: 'bigint' })`
  select f.seq, f.replays from ${rows} r cross join failed f where f.seq = r.seq and f.replays > 0`

/** An operator may answer the same identifier for many messages: only the first items have their attempts. */
const maxWithAttempts = 100

/**
 * Finds items of these lanes by identifier or activity.id, sorted by number, or by user, newest first. By identifier or
 * activity.id, the first items have their unsuccessful attempts.
 */
export async function findItems(
  database: Database,
  search: ItemSearch,
  findWaitReason: FindWaitReason = () => undefined,
): Promise<readonly FoundItem[]> {
  const rows = await database.read(searchOp(search))
  // A repeated commit may have inserted an identifier twice.
  const found = [...new Map(rows.map((row) => [row.seq, row])).values()]
  if (!('userId' in search)) found.sort((a, b) => a.seq - b.seq)
  const seqs = found.map(({ seq }) => seq)
  const [outcomes, attempts, replayed] = await Promise.all([
    readOutcomes(database, seqs, findWaitReason),
    'userId' in search ? undefined : readAttempts(database, seqs.slice(0, maxWithAttempts)),
    readReplays(database, seqs),
  ])
  const outcomeOf = new Map(outcomes.map((each) => [each.seq, each]))
  return found.flatMap(({ seq, key, enqueued_at: enqueuedAt, erased }) => {
    const outcome = outcomeOf.get(seq)
    const history = attempts?.get(seq)
    if (!outcome) return []
    const more = { ...replayed.get(seq), ...(history && { history }), ...(erased === 1 && { erased: true as const }) }
    return [{ ...outcome, ...more, key, enqueuedAt }]
  })
}

/** All items of a user in these lanes, the newest first, page by page. A page may be short before the last one. */
export const readItemsOfUser = (database: Database, lanes: readonly string[], userId: string, limit: number) =>
  readPages('seq', Number.MAX_SAFE_INTEGER, 1, (before) => findItems(database, { lanes, userId, before, limit }))

/** How often these items were replayed, and their identifiers before the replays. */
async function readReplays(
  database: Database,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, Pick<FoundItem, 'replays' | 'earlierRefs'>>> {
  const rows = await database.read(op(selectReplays, seqs, (seq) => [seq]))
  if (rows.length === 0) return new Map()
  const identifiers = await readIdentifiers(
    database,
    rows.map(({ seq }) => seq),
  )
  return new Map(
    rows.map(({ seq, replays }) => {
      const earlier = (identifiers.get(seq) ?? []).filter(({ replayedAt }) => replayedAt !== null)
      return [seq, { replays, ...(earlier.length > 0 && { earlierRefs: [...new Set(earlier.map(({ ref }) => ref))] }) }]
    }),
  )
}

function searchOp(search: ItemSearch) {
  const { lanes } = search
  if ('ref' in search) return op(selectByRef, lanes, (lane) => [lane, search.ref])
  if ('id' in search) {
    const ranges = messageKeysOf(search.id)
    return op(
      selectById,
      lanes.flatMap((lane) => ranges.map(({ first, after }) => [lane, first, after])),
    )
  }
  const { userId, before = Number.MAX_SAFE_INTEGER, limit = 100 } = search
  return op(selectByUser, lanes, (lane) => [lane, userId, before, limit])
}
