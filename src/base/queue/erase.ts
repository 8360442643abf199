// Erases the texts of a user's settled items. The items stay: their keys prevent that a repetition is sent again.

import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { findItems } from './find-items.ts'
import type { ErasedItems } from './queue.ts'
import { deleteFailed, deleteRange } from './retention.ts'

// A range of one number: for a list of numbers PostgreSQL scans the whole table.
const eraseTexts = statement<{ seq: number }>({
  name: 'erase_texts',
  columns: { lane: 'text', first: 'bigint', last: 'bigint' },
  text: (rows) => `
    update items set text = '' from ${rows} r
    where items.seq between r.first and r.last and exists (
      select 1 from settled s
      where s.lane = r.lane and s.last >= items.seq
        and s.first = (select max(t.first) from settled t where t.lane = r.lane and t.first <= items.seq))
    returning items.seq as seq`,
})

// The answers of the operator may quote the text.
const deleteAttempts = deleteRange('erase_attempts', 'attempts')

const pageItems = 500

/**
 * Overwrites the texts of the user's settled items, and deletes their Failed Actions and attempts, so that no replay can send an empty text.
 * Waiting items do not change. Each page is one commit: a call that is interrupted can be repeated.
 */
export async function eraseItems(database: Database, lanes: readonly string[], userId: string): Promise<ErasedItems> {
  const { engine } = database
  const erased = { messages: 0, failed: 0, waiting: 0 }
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await findItems(database, { lanes, userId, before, limit: pageItems })
    const last = page.at(-1)
    if (!last) return erased
    before = last.seq
    const settled = page.filter(({ category }) => category !== 'waiting')
    const rows = settled.map(({ lane, seq }) => [lane, seq, seq])
    // Ranks order the statements: `failed` first, because a replay locks its row there. If the replay was first, the item is
    // then unsettled and keeps its text.
    const [changed] = await database.commit([
      op(eraseTexts, rows),
      op(deleteFailed[engine], rows),
      op(deleteAttempts[engine], rows),
    ])
    const seqs = new Set(changed.map(({ seq }) => seq))
    erased.messages += seqs.size
    erased.failed += settled.filter(({ category, seq }) => category === 'failed' && seqs.has(seq)).length
    erased.waiting += page.length - seqs.size
  }
}
