// Who boarded a flight: one row that lists its messages by their seats. What a message is called, and where it stands in the
// request that brought it, is read here; its own row has no more than its seat. By it a message is found by its identifier, and
// the oldest are found to be forgotten. Its only owner.

import type { Flight, Message, Request } from '../providers/provider.ts'
import { firstUuidv7, timeOfUuidv7 } from '../runtime/ids.ts'
import type { Database, Migration, Op } from '../store/database.ts'
import { insertNew } from '../store/insert-new.ts'
import { op, statement } from '../store/statement.ts'

const refLength = 36
const between = '\n'

/** With the tables of before: a row of `messages` said it all, and lists had keys only. */
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
  {
    name: 'manifests/2',
    statements: ({ engine, key }) => [
      // What was under way: keys instead of identifiers. Messages have no index of flights, so they are read once.
      `create table under_way as
         select m.flight, m.ref, m.key from messages m join flights f on f.id = m.flight where f.state < 2`,
      `create index under_way_flight on under_way (flight)`,
      ...[
        ['flights', 'held', 'id'],
        ['departures', 'refs', 'flight'],
        ['arrivals', 'refs', 'flight'],
      ].map(
        ([table, list, flight]) => `update ${table} set ${list} = coalesce((
           select string_agg(m.key, '${between}') from under_way m
           where m.flight = ${table}.${flight} and ${table}.${list} like '%' || m.ref || '%'), '')
         where ${list} <> '' and ${flight} in (select m.flight from under_way m)`,
      ),
      `drop table under_way`,
      `alter table departures rename column refs to keys`,
      `alter table arrivals rename column refs to keys`,
      `drop table manifests`,
      `create table manifests (
         brand ${key} not null, flight ${key} not null, refs text not null, keys text not null, parts text not null,
         primary key (brand, flight))${engine === 'sqlite' ? ' without rowid' : ''}`,
      // Identifiers do not compress: PostgreSQL would try, and take a fifth of the time of a batch for it.
      ...(engine === 'sqlite'
        ? []
        : ['refs', 'keys', 'parts'].map((list) => `alter table manifests alter column ${list} set storage external`)),
      `insert into manifests (brand, flight, refs, keys, parts)
         select brand, flight, string_agg(ref, '' order by ref), '[' || string_agg(key, ',' order by ref) || ']',
           string_agg(request || ' ' || start_at || ' ' || length, '${between}' order by ref)
         from messages group by brand, flight`,
      // A message that was tried again is older than its flight.
      `insert into manifests (brand, flight, refs, keys, parts)
         select brand, ref, ref, '[' || key || ']', '' from messages where attempt > 1`,
      `alter table messages rename to messages_1`,
      `create table messages (
         brand ${key} not null, key ${key} not null, flight ${key} not null, seat integer not null, ref ${key},
         attempt integer not null, state integer not null, uncertain integer not null, call ${key} not null, rule text not null,
         primary key (brand, key))${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 90)'}`,
      `insert into messages (brand, key, flight, seat, ref, attempt, state, uncertain, call, rule)
         select brand, key, flight, row_number() over (partition by brand, flight order by ref) - 1, ref,
           attempt, state, uncertain, call, rule
         from messages_1`,
      `drop table messages_1`,
    ],
  },
]

const insertManifests = insertNew({
  name: 'insert_manifests',
  rank: 8,
  table: 'manifests',
  key: 'brand, flight',
  columns: { brand: 'text', flight: 'text', refs: 'text', keys: 'text', parts: 'text' },
})

/**
 * Before the claims of its messages, which are of one brand: their seats are their places in the flight. It may name more than
 * the flight gets.
 */
export function listFlight({ id, messages }: Flight): Op {
  const refs = messages.map((m) => m.ref).join('')
  // Each key is JSON, and so is their list.
  const keys = `[${messages.map((m) => m.key).join(',')}]`
  return op(insertManifests, [[messages[0]?.brand ?? '', id, refs, keys, partsOf(messages)]])
}

/** A line for each request: its identifier, then start and length of each of its messages. */
function partsOf(messages: readonly Message[]): string {
  let text = ''
  let of: Request | undefined
  for (const { part, text: own } of messages) {
    if (text === '' || part?.of !== of) text += `${text && between}${part?.of.id ?? ''}`
    text += ` ${part?.start ?? 0} ${own.length}`
    of = part?.of
  }
  return text
}

/** Where a message stands: in the body of this request, in characters. */
export interface Place {
  readonly request: string
  readonly start: number
  readonly length: number
}

/** The place of who has this seat. */
export function placeOf(parts: string, seat: number): Place {
  let before = 0
  for (const line of parts.split(between)) {
    const [request = '', ...places] = line.split(' ')
    const at = 2 * (seat - before)
    if (at < places.length) return { request, start: Number(places[at]), length: Number(places[at + 1]) }
    before += places.length / 2
  }
  return { request: '', start: 0, length: 0 }
}

const selectRefs = statement<{ flight: string; refs: string }>({
  name: 'select_manifests',
  rank: 91,
  columns: { brand: 'text', flight: 'text' },
  text: (rows) =>
    `select l.flight, l.refs from ${rows} r join manifests l on l.brand = r.brand and l.flight = r.flight`,
})

/** What a row of `messages` says of its identifier: null is as its seat says. */
export interface Seated {
  readonly brand: string
  readonly flight: string
  readonly seat: number
  readonly ref: string | null
}

/** The same rows with their identifiers. */
export async function withRefs<Row extends Seated>(
  database: Database,
  rows: readonly Row[],
): Promise<(Row & { readonly ref: string })[]> {
  const flights = new Map(rows.filter(({ ref }) => ref === null).map(({ brand, flight }) => [flight, brand]))
  const wanted = [...flights].map(([flight, brand]) => [brand, flight])
  const lists = wanted.length === 0 ? [] : await database.read(op(selectRefs, wanted))
  const refs = new Map(lists.map((list) => [list.flight, list.refs]))
  return rows.map((row) => {
    const at = row.seat * refLength
    return { ...row, ref: row.ref ?? refs.get(row.flight)?.slice(at, at + refLength) ?? '' }
  })
}

const selectBoarding = statement<{ brand: string; refs: string; keys: string }>({
  name: 'find_boarding',
  rank: 91,
  columns: { brand: 'text', ref: 'text', until: 'text' },
  text: (rows) => `
    select l.brand, l.refs, l.keys from ${rows} r join manifests l
      on l.brand = r.brand and l.flight between r.ref and r.until and l.refs like '%' || r.ref || '%'
    order by l.flight limit 1`,
})

/** A flight is made after the identifiers of its messages, and in no more than a few turns of the event loop. */
const longestTurnMs = 60_000

/** The brand and key of the message that has this identifier, or was to have it: another attempt keeps the first. */
export async function findKey(
  database: Database,
  brands: readonly string[],
  ref: string,
): Promise<{ readonly brand: string; readonly key: string } | undefined> {
  const at = timeOfUuidv7(ref)
  if (at === undefined || ref.length !== refLength || brands.length === 0) return undefined
  const until = firstUuidv7(at + longestTurnMs)
  const [list] = await database.read(
    op(
      selectBoarding,
      brands.map((brand) => [brand, ref, until]),
    ),
  )
  const key = list && keysOf(list.keys)[list.refs.indexOf(ref) / refLength]
  return key === undefined ? undefined : { brand: list?.brand as string, key }
}

const keysOf = (keys: string): string[] => (JSON.parse(keys) as unknown[]).map((key) => JSON.stringify(key))

const selectOld = statement<{ flight: string; keys: string }>({
  name: 'old_manifests',
  rank: 60,
  columns: { brand: 'text', before: 'text', most: 'bigint' },
  text: (rows) => `
    select l.flight, l.keys from manifests l
    where l.brand = (select r.brand from ${rows} r) and l.flight < (select r.before from ${rows} r)
    order by l.flight limit (select r.most from ${rows} r)`,
})

const deleteManifests = statement({
  name: 'forget_manifests',
  rank: 61,
  columns: { brand: 'text', flight: 'text' },
  text: (rows) => `delete from manifests where (brand, flight) in (select r.brand, r.flight from ${rows} r)`,
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
    keys: [...new Set(lists.flatMap(({ keys }) => keysOf(keys)))],
    forget: op(
      deleteManifests,
      lists.map(({ flight }) => [brand, flight]),
    ),
  }
}
