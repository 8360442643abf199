// Who boarded a flight: the keys of its messages, as one row. By it a message is found by its identifier, and the oldest are
// found to be forgotten; an index of identifiers would cost each message more than all of its list. Its only owner.

import type { Flight } from '../providers/provider.ts'
import { firstUuidv7, timeOfUuidv7 } from '../runtime/ids.ts'
import type { Database, Migration, Op } from '../store/database.ts'
import { insertNew } from '../store/insert-new.ts'
import { op, statement } from '../store/statement.ts'

export const manifestMigrations: readonly Migration[] = [
  {
    name: 'manifests/1',
    statements: ({ engine, key }) => [
      `create table manifests (
         brand ${key} not null, first ${key} not null, last ${key} not null, keys text not null,
         primary key (brand, first))${engine === 'sqlite' ? ' without rowid' : ''}`,
      `insert into manifests (brand, first, last, keys) select brand, ref, ref, key from messages`,
      `drop index messages_ref`,
    ],
  },
]

// A key is JSON on one line.
const between = '\n'

const insertManifests = insertNew({
  name: 'insert_manifests',
  rank: 8,
  table: 'manifests',
  key: 'brand, first',
  columns: { brand: 'text', first: 'text', last: 'text', keys: 'text' },
})

/** With the claims of its messages, which are of one brand. It may name more than the flight gets. */
export function listFlight({ messages }: Flight): Op {
  let [first, last] = ['', '']
  for (const { ref } of messages) {
    if (first === '' || ref < first) first = ref
    if (ref > last) last = ref
  }
  return op(insertManifests, [[messages[0]?.brand ?? '', first, last, messages.map((m) => m.key).join(between)]])
}

const selectManifests = statement<{ brand: string; keys: string }>({
  name: 'select_manifests',
  rank: 91,
  columns: { brand: 'text', ref: 'text', since: 'text' },
  text: (rows) => `
    select m.brand, m.keys from ${rows} r join manifests m
      on m.brand = r.brand and m.first between r.since and r.ref and m.last >= r.ref`,
})

/** The identifiers of a flight are made in one turn of the event loop: none lasts so long. */
const longestTurnMs = 60_000

/** The brand and key of each message that may have this identifier, among these brands. */
export async function whoMayBe(
  database: Database,
  brands: readonly string[],
  ref: string,
): Promise<(readonly [brand: string, key: string])[]> {
  const at = timeOfUuidv7(ref)
  if (at === undefined || brands.length === 0) return []
  const since = firstUuidv7(at - longestTurnMs)
  const lists = await database.read(
    op(
      selectManifests,
      brands.map((brand) => [brand, ref, since]),
    ),
  )
  return lists.flatMap(({ brand, keys }) => keys.split(between).map((key) => [brand, key] as const))
}

const selectOld = statement<{ first: string; keys: string }>({
  name: 'old_manifests',
  rank: 60,
  columns: { brand: 'text', before: 'text', most: 'bigint' },
  text: (rows) => `
    select m.first, m.keys from manifests m
    where m.brand = (select r.brand from ${rows} r) and m.first < (select r.before from ${rows} r)
    order by m.first limit (select r.most from ${rows} r)`,
})

const deleteManifests = statement({
  name: 'forget_manifests',
  rank: 61,
  columns: { brand: 'text', first: 'text' },
  text: (rows) => `delete from manifests where (brand, first) in (select r.brand, r.first from ${rows} r)`,
})

/** The oldest lists of a brand from before `before`, so many at most: their keys, and what forgets the lists themselves. */
export async function oldest(
  database: Database,
  brand: string,
  before: string,
  most: number,
): Promise<{ readonly keys: readonly string[]; readonly forget: Op } | undefined> {
  const lists = await database.read(op(selectOld, [[brand, before, most]]))
  if (lists.length === 0) return undefined
  return {
    keys: [...new Set(lists.flatMap(({ keys }) => keys.split(between)))],
    forget: op(
      deleteManifests,
      lists.map(({ first }) => [brand, first]),
    ),
  }
}
