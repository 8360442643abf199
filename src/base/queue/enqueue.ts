// Enqueues items. A lane stores each key once, however often it is enqueued.

import type { ErasedPeople } from '../people/erasures.ts'
import { clock } from '../runtime/clock.ts'
import { random } from '../runtime/random.ts'
import type { Database, Op, Value } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { erasedKey, readUserId } from './item-keys.ts'
import { brandOf } from './lane-name.ts'
import type { EnqueuedItem, NewItem } from './queue.ts'
import { newItemsDueAt } from './tables.ts'

// `erased_as`: the key under which an erased item stays. Its repetition is not stored. A count, because PostgreSQL could answer
// `not exists` by a hash of the whole table.
//
// Each row gets a token that shows which call inserted it, in the same commit and after it. The tokens start at random, so that
// two processes do not use equal tokens for the same key.
let nextToken = random.integer(2 ** 47)

const insertItems = statement<{ seq: number; token: number }>({
  name: 'enqueue_items',
  columns: {
    lane: 'text',
    key: 'text',
    text: 'text',
    enqueued_at: 'bigint',
    token: 'bigint',
    traceparent: 'text',
    user_id: 'text',
    expires_at: 'bigint',
    transactional: 'bigint',
    erased_as: 'text',
  },
  route: 'token',
  text: (rows) => `
    insert into items (lane, key, text, enqueued_at, token, traceparent, user_id, expires_at, transactional)
    select r.lane, r.key, r.text, r.enqueued_at, r.token, r.traceparent, r.user_id, r.expires_at, r.transactional from ${rows} r
    where r.erased_as is null or 0 = (select count(*) from items e where e.lane = r.lane and e.key = r.erased_as)
    order by r.token
    on conflict (lane, key) do nothing
    returning seq, token`,
})

const insertWaiting = statement('enqueue_waiting', { lane: 'text', key: 'text', token: 'bigint', due_at: 'bigint' })`
  insert into waiting (lane, due_at, seq, attempt)
  select i.lane, r.due_at, i.seq, 0 from ${rows} r join items i on i.lane = r.lane and i.key = r.key and i.token = r.token`

const selectSeqs = statement<{ key: string; seq: number }>('select_seqs', { lane: 'text', key: 'text' })`
  select i.key, i.seq from ${rows} r join items i on i.lane = r.lane and i.key = r.key`

/** The two operations that enqueue items: into `items` and, if they are new there, into `waiting`. */
export function enqueueOps(
  lane: string,
  items: readonly NewItem[],
  now: number,
  erased: Pick<ErasedPeople, 'find'>,
): [Op<{ seq: number; token: number }>, Op] {
  const rows: Value[][] = []
  const waiting: Value[][] = []
  for (const { key, text, userId = readUserId(key), traceparent, expiresAt, transactional } of items) {
    const token = nextToken++
    const last = [traceparent ?? null, userId, expiresAt ?? null, transactional ? 1 : null]
    rows.push([lane, key, text, now, token, ...last, erasedAs(lane, key, userId, erased)])
    waiting.push([lane, key, token, transactional ? newItemsDueAt.transactional : newItemsDueAt.others])
  }
  return [op(insertItems, rows), op(insertWaiting, waiting)]
}

/** The key of the item if it was erased before; null: its user was not erased. */
function erasedAs(lane: string, key: string, userId: string | null, erased: Pick<ErasedPeople, 'find'>): string | null {
  const person = userId === null ? undefined : erased.find(brandOf(lane), userId)
  return person ? erasedKey(key, person) : null
}

/** Enqueues items in one commit with `wakeOps`. The result has the order of `items`. */
export async function enqueueItems(
  database: Database,
  lane: string,
  items: readonly NewItem[],
  wakeOps: readonly Op[],
  erased: Pick<ErasedPeople, 'find'>,
): Promise<readonly EnqueuedItem[]> {
  if (items.length === 0) return []
  const [insert, wait] = enqueueOps(lane, items, clock.now(), erased)
  const [inserted] = await database.commit([insert, wait, ...wakeOps])
  const firstToken = insert.rows[0]?.[4] as number
  const newSeqs: (number | undefined)[] = new Array(items.length)
  for (const { seq, token } of inserted) newSeqs[token - firstToken] = seq
  const erasedKeys = insert.rows.map((row) => row.at(-1) as string | null)
  const keysOf = (i: number) => [items[i]?.key, erasedKeys[i]].filter((key) => typeof key === 'string')
  const earlierSeqs = await findSeqs(
    database,
    lane,
    items.flatMap((_, i) => (newSeqs[i] === undefined ? keysOf(i) : [])),
  )
  return items.map(({ key }, i) => {
    const newSeq = newSeqs[i]
    if (newSeq !== undefined) return { seq: newSeq, isNew: true }
    const seq = earlierSeqs.get(key) ?? earlierSeqs.get(erasedKeys[i] ?? '')
    if (seq === undefined)
      throw new Error(`Lane ${lane}: an item was forgotten while it was enqueued again; enqueue it once more`)
    return { seq, isNew: false }
  })
}

/** The numbers of these items by key. */
async function findSeqs(
  database: Database,
  lane: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (keys.length === 0) return new Map()
  const found = await database.read(op(selectSeqs, [...new Set(keys)], (key) => [lane, key]))
  return new Map(found.map(({ key, seq }) => [key, seq]))
}
