// Reads all waiting items of a lane in pages, without their texts: also postponed items, and items that a pause holds back.

import type { Database } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import type { WaitingKey } from '../lane/read-waiting.ts'
import { isSelected } from './cancellations.ts'
import type { WaitingCount, WaitingSelection } from './waiting-selection.ts'

export interface WaitingItem extends WaitingKey {
  readonly attempt: number
  readonly key: string
  readonly enqueued_at: number
}

/** The key before the first row of a lane. */
export const beforeAll: WaitingKey = { due_at: Number.MIN_SAFE_INTEGER, seq: 0 }
export const waitingPageRows = 2_000

const selectPage = statement<WaitingItem>({
  name: 'read_all_waiting',
  columns: { lane: 'text', due_at: 'bigint', seq: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    select w.due_at, w.seq, w.attempt, i.key, i.enqueued_at from waiting w join items i on i.seq = w.seq
    where w.lane = (select r.lane from ${rows} r)
      and (w.due_at, w.seq) > ((select r.due_at from ${rows} r), (select r.seq from ${rows} r))
    order by w.due_at, w.seq limit (select r.max_rows from ${rows} r)`,
})

/** Reads the next page after this key. A page with fewer rows than `waitingPageRows` is the last one. */
export function readWaitingPage(database: Database, lane: string, after: WaitingKey): Promise<readonly WaitingItem[]> {
  return database.read(op(selectPage, [[lane, after.due_at, after.seq, waitingPageRows]]))
}

const selectWaiting = statement<{ seq: number }>('still_waiting', { lane: 'text', due_at: 'bigint', seq: 'bigint' })`
  select w.seq from ${rows} r join waiting w on w.lane = r.lane and w.due_at = r.due_at and w.seq = r.seq`

/** The numbers of the rows with these keys that exist. */
export async function findWaiting(
  database: Database,
  lane: string,
  keys: readonly WaitingKey[],
): Promise<ReadonlySet<number>> {
  if (keys.length === 0) return new Set()
  const rows = keys.map(({ due_at, seq }) => [lane, due_at, seq])
  return new Set((await database.read(op(selectWaiting, rows))).map(({ seq }) => seq))
}

/** The most pages that one request of a count reads. */
const pagesOfCount = 10

/** Counts the selected items among the next 20,000 waiting items of the lane after this key. */
export async function countSelected(
  database: Database,
  lane: string,
  selection: WaitingSelection,
  after?: string,
): Promise<WaitingCount> {
  let count = 0
  let last = after === undefined ? beforeAll : readCursor(after)
  for (let page = 0; page < pagesOfCount; page++) {
    const rows = await readWaitingPage(database, lane, last)
    count += rows.filter(({ key, enqueued_at: enqueuedAt }) => isSelected(selection, { key, enqueuedAt })).length
    if (rows.length < waitingPageRows) return { count }
    const { due_at, seq } = rows.at(-1) as WaitingItem
    last = { due_at, seq }
  }
  return { count, next: `${last.due_at}.${last.seq}` }
}

/** @throws RangeError for a text that is not a `next` */
function readCursor(text: string): WaitingKey {
  const [, dueAt, seq] = /^(-?\d{1,16})\.(\d{1,16})$/.exec(text) ?? []
  if (dueAt === undefined || seq === undefined)
    throw new RangeError(`${JSON.stringify(text)} is not the \`next\` of a count`)
  return { due_at: Number(dueAt), seq: Number(seq) }
}
