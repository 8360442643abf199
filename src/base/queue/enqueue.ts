// Enqueues items. A lane stores each key once, however often it is enqueued.

import { clock } from '../runtime/clock.ts'
import { random } from '../runtime/random.ts'
import type { Database, Op, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { readUserId } from './item-keys.ts'
import type { EnqueuedItem, NewItem } from './queue.ts'
import { newItemsDueAt } from './tables.ts'

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
  },
  route: 'token',
  text: (rows) => `
    insert into items (lane, key, text, enqueued_at, token, traceparent, user_id, expires_at, transactional)
    select r.lane, r.key, r.text, r.enqueued_at, r.token, r.traceparent, r.user_id, r.expires_at, r.transactional from ${rows} r where true order by r.token
    on conflict (lane, key) do nothing
    returning seq, token`,
})

const insertWaiting = statement({
  name: 'enqueue_waiting',
  columns: { lane: 'text', key: 'text', token: 'bigint', due_at: 'bigint' },
  text: (rows) => `
    insert into waiting (lane, due_at, seq, attempt)
    select i.lane, r.due_at, i.seq, 0 from ${rows} r join items i on i.lane = r.lane and i.key = r.key and i.token = r.token`,
})

const selectSeqs = statement<{ key: string; seq: number }>({
  name: 'select_seqs',
  columns: { lane: 'text', key: 'text' },
  text: (rows) => `select i.key, i.seq from ${rows} r join items i on i.lane = r.lane and i.key = r.key`,
})

/** The two operations that enqueue items: into `items` and, if they are new there, into `waiting`. */
export function enqueueOps(
  lane: string,
  items: readonly NewItem[],
  now: number,
): [Op<{ seq: number; token: number }>, Op] {
  const rows: Value[][] = []
  const waiting: Value[][] = []
  for (const { key, text, traceparent, expiresAt, transactional } of items) {
    const token = nextToken++
    const last = [traceparent ?? null, readUserId(key), expiresAt ?? null, transactional ? 1 : null]
    rows.push([lane, key, text, now, token, ...last])
    waiting.push([lane, key, token, transactional ? newItemsDueAt.transactional : newItemsDueAt.others])
  }
  return [op(insertItems, rows), op(insertWaiting, waiting)]
}

/** Enqueues items in one commit with `wakeOps`. The result has the order of `items`. */
export async function enqueueItems(
  database: Database,
  lane: string,
  items: readonly NewItem[],
  wakeOps: readonly Op[],
): Promise<readonly EnqueuedItem[]> {
  if (items.length === 0) return []
  const [insert, wait] = enqueueOps(lane, items, clock.now())
  const [inserted] = await database.commit([insert, wait, ...wakeOps])
  const firstToken = insert.rows[0]?.[4] as number
  const newSeqs: (number | undefined)[] = new Array(items.length)
  for (const { seq, token } of inserted) newSeqs[token - firstToken] = seq
  const repeated = items.filter((_, i) => newSeqs[i] === undefined)
  const earlierSeqs = await findSeqs(database, lane, repeated)
  return items.map(({ key }, i) => {
    const newSeq = newSeqs[i]
    if (newSeq !== undefined) return { seq: newSeq, isNew: true }
    const seq = earlierSeqs.get(key)
    if (seq === undefined)
      throw new Error(`Lane ${lane}: an item was forgotten while it was enqueued again; enqueue it once more`)
    return { seq, isNew: false }
  })
}

/** The numbers of these items by key. */
async function findSeqs(
  database: Database,
  lane: string,
  items: readonly NewItem[],
): Promise<ReadonlyMap<string, number>> {
  if (items.length === 0) return new Map()
  const keys = new Set(items.map(({ key }) => key))
  const found = await database.read(
    op(
      selectSeqs,
      [...keys].map((key) => [lane, key]),
    ),
  )
  return new Map(found.map(({ key, seq }) => [key, seq]))
}
