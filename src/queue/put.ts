// Putting items into a lane: once each, however often they come.

import { clock } from '../runtime/clock.ts'
import { random } from '../runtime/random.ts'
import type { Database, Op, Value } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { userOf } from './parts.ts'
import type { NewItem, Put } from './queue.ts'

// Tells which of the rows a commit has put itself, within the commit and afterwards: a number of its own for each row of
// each put. It starts anywhere, so that two processes' numbers are not equal for the same key.
let nextToken = random.integer(2 ** 47)

const insertItems = statement<{ seq: number; token: number }>({
  name: 'put_items',
  rank: 40,
  columns: {
    lane: 'text',
    key: 'text',
    text: 'text',
    put_at: 'bigint',
    token: 'bigint',
    traceparent: 'text',
    user_id: 'text',
  },
  route: 'token',
  text: (rows) => `
    insert into items (lane, key, text, put_at, token, traceparent, user_id)
    select r.lane, r.key, r.text, r.put_at, r.token, r.traceparent, r.user_id from ${rows} r where true order by r.token
    on conflict (lane, key) do nothing
    returning seq, token`,
})

const insertWaiting = statement({
  name: 'put_waiting',
  rank: 41,
  columns: { lane: 'text', key: 'text', token: 'bigint' },
  text: (rows) => `
    insert into waiting (lane, due_at, seq, attempt)
    select i.lane, 0, i.seq, 0 from ${rows} r join items i on i.lane = r.lane and i.key = r.key and i.token = r.token`,
})

const selectSeqs = statement<{ key: string; seq: number }>({
  name: 'select_seqs',
  rank: 42,
  columns: { lane: 'text', key: 'text' },
  text: (rows) => `select i.key, i.seq from ${rows} r join items i on i.lane = r.lane and i.key = r.key`,
})

/** The two ops that put items: into `items` what is new by its key, into `waiting` what was new. */
export function putOps(lane: string, items: readonly NewItem[], now: number): [Op<{ seq: number; token: number }>, Op] {
  const rows: Value[][] = []
  const waiting: Value[][] = []
  for (const { key, text, traceparent } of items) {
    const token = nextToken++
    rows.push([lane, key, text, now, token, traceparent ?? null, userOf(key)])
    waiting.push([lane, key, token])
  }
  return [op(insertItems, rows), op(insertWaiting, waiting)]
}

/** Puts items and says which number each has, in their order; `wake` goes with the commit. */
export async function enqueue(
  database: Database,
  lane: string,
  items: readonly NewItem[],
  wake: readonly Op[],
): Promise<readonly Put[]> {
  if (items.length === 0) return []
  const [insert, wait] = putOps(lane, items, clock.now())
  const [inserted] = await database.commit([insert, wait, ...wake])
  const first = insert.rows[0]?.[4] as number
  const puts = new Array<Put | undefined>(items.length)
  for (const { seq, token } of inserted) puts[token - first] = { seq, fresh: true }
  if (inserted.length < items.length) await findRepeated(database, lane, items, puts)
  return puts as Put[]
}

async function findRepeated(
  database: Database,
  lane: string,
  items: readonly NewItem[],
  puts: (Put | undefined)[],
): Promise<void> {
  const keys = new Set<string>()
  for (let i = 0; i < items.length; i++) if (!puts[i]) keys.add((items[i] as NewItem).key)
  const found = await database.read(
    op(
      selectSeqs,
      [...keys].map((key) => [lane, key]),
    ),
  )
  const seqs = new Map(found.map(({ key, seq }) => [key, seq]))
  for (let i = 0; i < items.length; i++) {
    const seq = seqs.get((items[i] as NewItem).key)
    if (puts[i]) continue
    if (seq === undefined)
      throw new Error(`Lane ${lane}: an item was forgotten while it was put again; put it once more`)
    puts[i] = { seq, fresh: false }
  }
}
