// Erases a user's items. Settled items stay under digests of their keys, which prevent that a repetition is sent again. Waiting items
// are cancelled first.

import type { ErasedPerson } from '../people/digest.ts'
import type { ErasedRows, IdentifiedPart } from '../people/person-data.ts'
import { uuidv7 } from '../runtime/ids.ts'
import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { cancelWaiting, readOpenCancellations } from './controls/cancellations.ts'
import { readItemsOfUser } from './find-items.ts'
import type { LaneRef } from './find-refs.ts'
import { readIdentifiers } from './identifiers.ts'
import { erasedKey } from './item-keys.ts'
import { readAttempts } from './lane/attempts.ts'
import type { FoundItem } from './queue.ts'
import { deleteFailed, deleteRange } from './retention.ts'
import { settledState } from './tables.ts'

// A range of one number: for a list of numbers PostgreSQL scans the whole table.
const eraseContents = statement<{ seq: number }>({
  name: 'erase_items',
  columns: { lane: 'text', first: 'bigint', last: 'bigint', key: 'text', user_id: 'text' },
  text: (rows) => `
    update items set text = '', traceparent = null, key = r.key, user_id = r.user_id from ${rows} r
    where items.seq between r.first and r.last and exists (
      select 1 from settled s
      where s.lane = r.lane and s.last >= items.seq
        and s.first = (select max(t.first) from settled t where t.lane = r.lane and t.first <= items.seq))
    returning items.seq as seq`,
})

// The answers of the operator may quote the text.
const deleteAttempts = deleteRange('erase_attempts', 'attempts')

/** A failed item has a run of its own. */
const eraseDetails = statement('erase_settled', { lane: 'text', seq: 'bigint', detail: 'text' })`
  update settled set detail = r.detail from ${rows} r
  where settled.lane = r.lane and settled.first = r.seq and settled.last = r.seq and settled.state = ${settledState.failed}`

const pageItems = 500

/** What belongs to the items of a person. */
export interface ItemParts {
  readonly byRef?: readonly IdentifiedPart<LaneRef>[]
  readonly byCall?: readonly IdentifiedPart<string>[]
}

/** Each page is one commit. */
export async function eraseItems(
  database: Database,
  lanes: readonly string[],
  person: ErasedPerson,
  parts: ItemParts = {},
): Promise<ErasedRows> {
  const { userId, at } = person
  let erased = 0
  const waiting: FoundItem[] = []
  for await (const page of readItemsOfUser(database, lanes, userId, pageItems)) {
    const old = page.filter(({ enqueuedAt }) => enqueuedAt <= at)
    const settled = old.filter(({ category }) => category !== 'waiting')
    const changed = settled.length > 0 ? await erasePage(database, settled, person, parts) : new Set()
    erased += changed.size
    waiting.push(...old.filter(({ seq }) => !changed.has(seq)))
  }
  await cancelAll(database, new Set(waiting.map(({ lane }) => lane)), person)
  return { erased, waiting: waiting.length }
}

async function erasePage(
  database: Database,
  settled: readonly FoundItem[],
  person: ErasedPerson,
  { byRef = [], byCall = [] }: ItemParts,
): Promise<ReadonlySet<number>> {
  const { engine } = database
  const seqs = settled.map(({ seq }) => seq)
  const [identifiers, attempts] = await Promise.all([readIdentifiers(database, seqs), readAttempts(database, seqs)])
  const refs = settled.flatMap(({ lane, seq }) => (identifiers.get(seq) ?? []).map(({ ref }) => ({ lane, ref })))
  const calls = [...settled, ...[...attempts.values()].flat()].flatMap(({ call }) => call ?? [])
  const ranges = settled.map(({ lane, seq }) => [lane, seq, seq])
  // Ranks order the statements: `failed` first, because a replay locks its row there. If the replay was first, the item is
  // then unsettled and keeps its text.
  const [changed] = await database.commit([
    op(eraseContents, settled, ({ lane, seq, key }) => [lane, seq, seq, erasedKey(key, person), person.userDigest]),
    op(deleteFailed[engine], ranges),
    op(deleteAttempts[engine], ranges),
    op(eraseDetails, settled, (item) => [item.lane, item.seq, erasedDetail(item)]),
    ...byRef.flatMap((each) => each.eraseOps(refs, person)),
    ...byCall.flatMap((each) => each.eraseOps(calls, person)),
  ])
  return new Set(changed.map(({ seq }) => seq))
}

const erasedDetail = ({ attempts, rule, reason }: FoundItem): string =>
  JSON.stringify({ attempt: attempts ?? 0, rule, reason, error: 'erased' })

/** The owners of the lanes cancel what waits. */
async function cancelAll(database: Database, lanes: ReadonlySet<string>, { userId, at }: ErasedPerson): Promise<void> {
  for (const lane of lanes) {
    const open = await readOpenCancellations(database, lane)
    if (open.some(({ user, by }) => user === userId && by === canceller)) continue
    const cancellation = { id: uuidv7(), lane, user: userId, enqueuedBefore: at + 1 }
    await cancelWaiting(database, [{ ...cancellation, by: canceller, reason: 'the data of the user is erased' }])
  }
}
const canceller = 'erasure'
