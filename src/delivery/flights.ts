// A flight: the messages that one process claimed in one go and hands to the provider in one go. What is the same for all of
// them is written once. Its only owner.
//
// flights    claimed with its messages; departed when they are handed to the provider; landed when they are settled. The
//            messages of a landed flight were successful, unless their own row says otherwise. `held`: those that stayed
//            behind when the others departed. `taken`: some were taken over, since its process seemed dead.
// departures the keys of those that left by themselves, where a provider keeps messages waiting and takes them piece by piece;
//            gone when the flight has landed.
// arrivals   likewise, of those that were successful as their flight says, and settled before it landed.
// requests   the body of a request as it came, written when the first of its messages departs or is settled.

import type { Flight, Message, Request } from '../providers/provider.ts'
import { firstUuidv7 } from '../runtime/ids.ts'
import type { Database, Migration, Op, Value } from '../store/database.ts'
import { insertNew } from '../store/insert-new.ts'
import { op, statement } from '../store/statement.ts'

export const flightState = { claimed: 0, departed: 1, landed: 2 } as const

export const flightMigrations: readonly Migration[] = [
  {
    name: 'flights/1',
    statements: ({ engine, key }) => [
      `create table flights (
         id ${key} primary key, owner ${key} not null, state bigint not null, taken bigint not null, held text not null,
         call ${key} not null, rule text not null)${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 50)'}`,
      `create table requests (id ${key} primary key, text text not null, tracking text)`,
    ],
  },
  {
    name: 'flights/2',
    statements: ({ engine, key }) => [
      `create table departures (
         flight ${key} not null, first ${key} not null, refs text not null,
         primary key (flight, first))${engine === 'sqlite' ? ' without rowid' : ''}`,
    ],
  },
  {
    name: 'flights/3',
    statements: ({ engine, key }) => [
      `create table arrivals (
         flight ${key} not null, first ${key} not null, refs text not null,
         primary key (flight, first))${engine === 'sqlite' ? ' without rowid' : ''}`,
    ],
  },
]

const insertFlights = insertNew({
  name: 'insert_flights',
  rank: 9,
  table: 'flights',
  key: 'id',
  columns: { id: 'text', owner: 'text' },
  also: { state: '0', taken: '0', held: "''", call: "''", rule: "''" },
})

/** With the claims of its messages. */
export const claimFlight = ({ id, owner }: Flight): Op => op(insertFlights, [[id, owner]])

const markTaken = statement({
  name: 'take_flights',
  rank: 12,
  columns: { id: 'text' },
  text: (rows) => `update flights set taken = 1 from ${rows} r where flights.id = r.id and flights.state < 2`,
})

/** With the taking over of some of their messages: whoever lands such a flight learns of it. */
export const takeFlights = (ids: readonly string[]): Op =>
  op(
    markTaken,
    [...new Set(ids)].map((id) => [id]),
  )

const markDeparted = statement({
  name: 'depart_flights',
  rank: 20,
  columns: { id: 'text', held: 'text' },
  text: (rows) =>
    `update flights set state = 1, held = r.held from ${rows} r where flights.id = r.id and flights.state = 0`,
})

/** Before the provider is called with `leaving`, which are all of the flight's messages, or some. */
export function departFlight({ id, messages }: Flight, leaving: readonly Message[]): Op {
  const left = new Set(leaving.length === messages.length ? [] : leaving.map((m) => m.ref))
  const held = left.size === 0 ? [] : messages.filter((m) => !left.has(m.ref))
  return op(markDeparted, [[id, listed(held)]])
}

const insertPieces = (table: 'departures' | 'arrivals', rank: number) =>
  insertNew({
    name: `insert_${table}`,
    rank,
    table,
    key: 'flight, first',
    columns: { flight: 'text', first: 'text', keys: 'text' },
  })
const insertDepartures = insertPieces('departures', 19)
export const insertArrivals = insertPieces('arrivals', 30)

const pieceOf = ({ id }: Flight, messages: readonly Message[]): Value[] => [
  id,
  messages[0]?.ref as string,
  listed(messages),
]

const listed = (messages: readonly Message[]): string => messages.map((m) => m.key).join('\n')

/** SQL: whether such keys name a message. None is a part of another: its bare quotes stand nowhere within a text. */
const names = (keys: string, m: string): string => `replace(${keys}, ${m}.key, '') <> ${keys}`

/** Before the provider is called with `leaving`, where others of the flight may follow. */
export function departPiece(flight: Flight, leaving: readonly Message[]): Op {
  if (leaving.length === flight.messages.length) return departFlight(flight, leaving)
  return op(insertDepartures, [pieceOf(flight, leaving)])
}

/** SQL: 1 if a message in flight has departed and so may have arrived, else 0. Given the message's row. */
export const departedOf = (m: string): string => `(
  (select count(*) from flights f
    where f.id = ${m}.flight and f.state = 1 and not (${names('f.held', m)})) +
  (select count(*) from departures d where d.flight = ${m}.flight and ${names('d.keys', m)}))`

/** SQL: whether a message in flight was settled as successful, though its flight has not landed. Given the message's row. */
export const arrivedOf = (m: string): string =>
  `exists (select 1 from arrivals a where a.flight = ${m}.flight and ${names('a.keys', m)})`

// An update that changes nothing: it waits for whoever is taking messages of this flight over, and makes the next wait for us.
const touchFlights = statement<{ id: string; taken: number }>({
  name: 'touch_flights',
  rank: 29,
  columns: { id: 'text' },
  route: 'id',
  text: (rows) => `
    update flights set taken = flights.taken from ${rows} r where flights.id = r.id
    returning flights.id as id, flights.taken as taken`,
})

/** With the settle of some of a flight's messages. Returns whether some of them were taken over. */
export const touchFlight = ({ id }: Flight): Op<{ id: string; taken: number }> => op(touchFlights, [[id]])

/** With that: those which were successful as the flight will say. */
export const arrivePiece = (flight: Flight, arrived: readonly Message[]): Op =>
  op(insertArrivals, arrived.length === 0 ? [] : [pieceOf(flight, arrived)])

const markLanded = statement<{ id: string; taken: number }>({
  name: 'land_flights',
  rank: 29,
  columns: { id: 'text', call: 'text', rule: 'text' },
  route: 'id',
  text: (rows) => `
    update flights set state = 2, call = r.call, rule = r.rule from ${rows} r where flights.id = r.id
    returning flights.id as id, flights.taken as taken`,
})

/** With the settle: how it ended for its messages, but for those that say otherwise. Returns whether some were taken over. */
export const landFlight = ({ id }: Flight, call: string, rule: string): Op<{ id: string; taken: number }> =>
  op(markLanded, [[id, call, rule]])

const deletePieces = (table: 'departures' | 'arrivals', rank: number) =>
  statement({
    name: `delete_${table}`,
    rank,
    columns: { flight: 'text' },
    text: (rows) => `delete from ${table} where flight in (select r.flight from ${rows} r)`,
  })
const dropDepartures = deletePieces('departures', 33)
const dropArrivals = deletePieces('arrivals', 34)

/** With the landing: nobody asks any more who had departed or arrived before. A flight of one message has no pieces. */
export const dropPieces = ({ id, messages }: Flight): readonly Op[] =>
  messages.length === 1 ? [] : [op(dropDepartures, [[id]]), op(dropArrivals, [[id]])]

const insertRequests = insertNew({
  name: 'insert_requests',
  rank: 21,
  table: 'requests',
  key: 'id',
  columns: { id: 'text', text: 'text', tracking: 'text' },
})

/** The body of a request by its identifier, and its tracking headers as JSON. */
export const selectRequest = statement<{ text: string; tracking: string | null }>({
  name: 'find_request',
  rank: 92,
  columns: { id: 'text' },
  text: (rows) => `select q.text, q.tracking from ${rows} r join requests q on q.id = r.id`,
})

/** The bodies of these messages' requests that are not written yet; `lost()` when the commit was. */
export function keepRequests(messages: readonly Message[]): { readonly ops: readonly Op[]; lost(): void } {
  const rows: (string | null)[][] = []
  const kept: Request[] = []
  for (const { part, context } of messages) {
    if (!part || part.of.kept) continue
    part.of.kept = true
    kept.push(part.of)
    rows.push([part.of.id, part.of.text, context.tracking ? JSON.stringify(context.tracking) : null])
  }
  return {
    ops: rows.length === 0 ? [] : [op(insertRequests, rows)],
    lost() {
      for (const request of kept) request.kept = false
    },
  }
}

const forget = (table: 'flights' | 'requests' | 'departures' | 'arrivals', id: string, rank: number) =>
  statement<object>({
    name: `forget_${table}`,
    rank,
    columns: { before: 'text', most: 'bigint' },
    text: (rows) => `
      delete from ${table} where ${id} in (
        select f.${id} from ${table} f where f.${id} < (select r.before from ${rows} r) order by f.${id}
        limit (select r.most from ${rows} r))
      returning 1 as gone`,
  })
const deleteFlights = forget('flights', 'id', 64)
const deleteRequests = forget('requests', 'id', 65)
const deleteDepartures = forget('departures', 'flight', 66)
const deleteArrivals = forget('arrivals', 'flight', 67)

const step = 1_000
/** A flight outlives its messages: one whose flight is forgotten counts as delivered. */
const longerMs = 86_400_000

/**
 * Forgets a bounded number of flights, with their departures and arrivals, and of requests from before `before` (epoch ms). Call it again until
 * it answers 0.
 */
export async function forgetFlights(database: Database, before: number): Promise<number> {
  const row = [firstUuidv7(Math.max(0, before - longerMs)), step]
  const statements = [deleteFlights, deleteRequests, deleteDepartures, deleteArrivals]
  const gone = await database.commit(statements.map((each) => op(each, [row])))
  return Math.max(...gone.map(({ length }) => length))
}
