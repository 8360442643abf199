// A person's items in the lanes of a brand: messages, events of devices, statuses, and parked records.

import type { Person } from '../people/digest.ts'
import type { PersonPart, PersonTable } from '../people/person-data.ts'
import type { Database } from '../store/database.ts'
import { op, rows, statement } from '../store/statement.ts'
import { cancelUnserved } from './controls/cancel-unserved.ts'
import { eraseItems, type ItemParts } from './erase.ts'
import { readItemsOfUser } from './find-items.ts'
import { readIdentifiers } from './identifiers.ts'
import { readAttempts } from './lane/attempts.ts'

const itemTables: readonly PersonTable[] = [
  {
    table: 'items',
    digest: ['key'],
    emptied: ['text', 'traceparent', 'user_id'],
    impersonal: ['seq', 'lane', 'enqueued_at', 'token', 'expires_at', 'transactional'],
  },
  { table: 'failed', deleted: true },
  { table: 'attempts', deleted: true },
  {
    table: 'identifiers',
    kept: { ref: 'a late status must find that its message was erased' },
    impersonal: ['seq', 'lane', 'replayed_at'],
  },
  // A failed item has a run of its own; the error of a run may quote the text.
  { table: 'settled', emptied: ['detail'], impersonal: ['lane', 'first', 'last', 'state', 'at'] },
]

interface ItemRow {
  readonly seq: number
  readonly text: string
  readonly traceparent: string | null
  readonly expires_at: number | null
  readonly transactional: number | null
  readonly failed_state: number | null
  readonly decision: string | null
  readonly decided_by: string | null
  readonly decided_at: number | null
}

const selectContents = statement<ItemRow>('select_items_of_person', { seq: 'bigint' })`
  select i.seq, i.text, i.traceparent, i.expires_at, i.transactional, f.state as failed_state, f.decision, f.decided_by, f.decided_at
  from ${rows} r cross join items i left join failed f on f.seq = i.seq where i.seq = r.seq`

const selectLanes = statement<{ lane: string }>('lanes_of_brand', { brand: 'text' })`
  select distinct c.scope as lane from ${rows} r join lane_counts c on c.scope >= r.brand || '/' and c.scope < r.brand || '0'
  order by c.scope`

/** All lanes of the brand that ever had an item: also those of links, of statuses and of parked records. */
export const readLanesOf = async (database: Database, { brand }: Pick<Person, 'brand'>): Promise<readonly string[]> =>
  (await database.read(op(selectLanes, [[brand]]))).map(({ lane }) => lane)

const pageItems = 200

/** @param parts what belongs to the items */
export const queuePersonParts = (parts: ItemParts = {}, unfound?: PersonPart['unfound']): readonly PersonPart[] => [
  {
    name: 'items',
    tables: [...itemTables, ...identifiedParts(parts).flatMap(({ tables }) => tables)],
    ...(unfound && { unfound }),
    read: readItems(parts),
    async erase(database, person) {
      return eraseItems(database, await readLanesOf(database, person), person, parts)
    },
  },
  {
    name: 'cancellations',
    tables: [
      {
        table: 'cancellations',
        digest: ['user_id'],
        impersonal: [
          'id',
          'lane',
          'activity',
          'action',
          'enqueued_after',
          'enqueued_before',
          'last_seq',
          'cancelled_by',
        ].concat(['reason', 'at', 'cancelled', 'done_at']),
      },
    ],
    async *read(database, { brand, userId }) {
      yield await database.read(op(selectCancellations, [[brand, userId]]))
    },
    async erase(database, { brand, userId, userDigest }) {
      const readOpen = () => database.read(op(selectOpenCancellations, [[brand, userId]]))
      const lanes = new Set((await readOpen()).map(({ lane }) => lane))
      if (lanes.size > 0) await cancelUnserved(database, [...lanes])
      const [changed] = await database.commit([op(eraseCancellations, [[brand, userId, userDigest]])])
      return { erased: changed.length, waiting: (await readOpen()).length }
    },
  },
]

const identifiedParts = ({ byRef = [], byCall = [] }: ItemParts) => [...byRef, ...byCall]

const readItems = ({ byRef = [], byCall = [] }: ItemParts): PersonPart['read'] =>
  async function* (database, person) {
    const lanes = await readLanesOf(database, person)
    for await (const found of readItemsOfUser(database, lanes, person.userId, pageItems)) {
      const seqs = found.map(({ seq }) => seq)
      const [contents, attempts, identifiers] = await Promise.all([
        database.read(op(selectContents, seqs, (seq) => [seq])),
        readAttempts(database, seqs),
        readIdentifiers(database, seqs),
      ])
      const contentOf = new Map(contents.map((row) => [row.seq, row]))
      const pages: object[] = []
      for (const { earlierRefs: _, history: __, ...item } of found) {
        const refs = identifiers.get(item.seq) ?? []
        const ids = refs.map(({ ref }) => ({ lane: item.lane, ref }))
        const calls = [item, ...(attempts.get(item.seq) ?? [])].flatMap(({ call }) => call ?? [])
        const identified = await Promise.all([
          ...byRef.map(async (each) => [each.name, await each.read(database, ids)]),
          ...byCall.map(async (each) => [each.name, await each.read(database, calls)]),
        ])
        pages.push({
          ...item,
          ...contentOf.get(item.seq),
          identifiers: refs,
          attempts: attempts.get(item.seq) ?? [],
          ...Object.fromEntries(identified),
        })
      }
      yield pages
    }
  }

// Few rows: people write them.
const selectCancellations = statement<{ id: string; lane: string; at: number; cancelled_by: string; reason: string }>({
  name: 'cancellations_of_person',
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `
    select c.id, c.lane, c.user_id, c.activity, c.action, c.at, c.cancelled_by, c.reason from ${rows} r
    join cancellations c on c.lane >= r.brand || '/' and c.lane < r.brand || '0' and c.user_id = r.user_id
    order by c.at, c.id, c.lane`,
})

const selectOpenCancellations = statement<{ lane: string }>({
  name: 'open_cancellations_of_person',
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `
    select c.lane from ${rows} r
    join cancellations c on c.lane >= r.brand || '/' and c.lane < r.brand || '0' and c.user_id = r.user_id and c.done_at is null`,
})

/** An open cancellation still needs its user. */
const eraseCancellations = statement<{ id: string }>({
  name: 'erase_cancellations',
  columns: { brand: 'text', user_id: 'text', digest: 'text' },
  text: (rows) => `
    update cancellations set user_id = r.digest from ${rows} r
    where cancellations.lane >= r.brand || '/' and cancellations.lane < r.brand || '0' and cancellations.user_id = r.user_id
      and cancellations.done_at is not null
    returning cancellations.id as id`,
})
