// The operator's tables: what was asked for, what became of it, and the evidence. Their only owner.
//
// messages   one small row per message (row 29): claimed before anything has an effect. A message that is successful needs no
//            second write of its own: its state stays 0, "as its flight says" (flights.ts). What ends otherwise says so itself.
// refusals   one row per attempt that did not end successful.

import { timeOfUuidv7 } from '../runtime/ids.ts'
import type { Database, Migration } from '../store/database.ts'
import { insertNew } from '../store/insert-new.ts'
import { op, statement } from '../store/statement.ts'
import { arrivedOf, departedOf, selectRequest } from './flights.ts'
import { findKey, placeOf, type Seated, withRefs } from './manifests.ts'

/** inFlight: as its flight says, which may have landed: then it was successful. */
export const state = { inFlight: 0, successful: 1, failed: 2, fatal: 3 } as const

export const messageMigrations: readonly Migration[] = [
  {
    name: 'delivery/1',
    statements: ({ engine, key }) => [
      `create table messages (
         brand ${key} not null, key ${key} not null, ref ${key} not null, flight ${key} not null, request ${key} not null,
         start_at bigint not null, length bigint not null, claimed_at bigint not null, attempt bigint not null,
         state bigint not null, uncertain bigint not null, call ${key} not null, rule text not null,
         primary key (brand, key))${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 90)'}`,
      `create unique index messages_ref on messages (brand, ref)`,
      `create table refusals (
         brand ${key} not null, ref ${key} not null, attempt bigint not null, at bigint not null, category text not null,
         reason text not null, error text not null, rule text not null, answer text, call ${key}, uncertain bigint not null,
         primary key (brand, ref, attempt))`,
    ],
  },
]

/**
 * Claims the messages of a flight that were never seen before, as its list has them; returns how many those are. Run from the
 * list: to bind the values of each message costs more than to write its row.
 */
export const insertMessages = statement<{ flight: string; written: number }>({
  name: 'insert_messages',
  rank: 10,
  columns: { brand: 'text', flight: 'text' },
  route: 'flight',
  text: (rows) => `
    with boarded as (
      ${boarding('e.value::text, l.flight, e.place - 1')}
      from ${rows} r join manifests l on l.brand = r.brand and l.flight = r.flight,
        json_array_elements(l.keys::json) with ordinality e (value, place)
      on conflict (brand, key) do nothing returning flight)
    select b.flight, count(*) as written from boarded b group by b.flight`,
  each: (values) => `
    ${boarding('e.value, l.flight, e.key')} from manifests l, json_each(l.keys) e where (l.brand, l.flight) = (${values})
    on conflict (brand, key) do nothing`,
})

function boarding(seated: string): string {
  return `insert into messages (brand, key, flight, seat, attempt, state, uncertain, call, rule)
      select l.brand, ${seated}, 1, 0, 0, '', ''`
}

export interface Existing extends Seated {
  readonly key: string
  readonly state: number
  readonly attempt: number
  /** Attempts that may have arrived without an answer. */
  readonly uncertain: number
  /** Who claimed its flight. */
  readonly owner: string
}

/** The state of a message as it is now. A flight that is gone was forgotten, long after it landed. */
const now = (m: string, f: string): string =>
  `case when ${m}.state = 0 and (coalesce(${f}.state, 2) = 2 or ${arrivedOf(m)}) then 1 else ${m}.state end`

export const selectMessages = statement<Existing>({
  name: 'select_messages',
  rank: 11,
  columns: { brand: 'text', key: 'text' },
  text: (rows) => `
    select m.brand, m.key, m.flight, m.seat, m.ref, ${now('m', 'f')} as state, m.attempt, m.uncertain,
      coalesce(f.owner, '') as owner
    from ${rows} r join messages m on m.brand = r.brand and m.key = r.key left join flights f on f.id = m.flight`,
})

/**
 * Begins another attempt, in a flight of ours, of a message that ended failed or fatal, or whose owner is gone; taken only if
 * the row is still the one that was read, and neither has its flight landed since nor it alone: takeFlights() comes before it in
 * the commit and waits for whoever is settling. A claim left in flight counts as uncertain if it had departed.
 */
export const takeOver = statement<{ ref: string; attempt: number; uncertain: number }>({
  name: 'take_over',
  rank: 13,
  columns: {
    brand: 'text',
    key: 'text',
    ref: 'text',
    state: 'bigint',
    old: 'text',
    flight: 'text',
    seat: 'bigint',
  },
  route: 'ref',
  text: (rows) => `
    update messages set state = 0, attempt = messages.attempt + 1, flight = r.flight, seat = r.seat, ref = r.ref, call = '', rule = '',
      uncertain = messages.uncertain + case when messages.state = 0 then ${departedOf('messages')} else 0 end
    from ${rows} r
    where messages.brand = r.brand and messages.key = r.key and messages.flight = r.old and messages.state = r.state
      and (messages.state <> 0 or (not ${arrivedOf('messages')}
        and exists (select 1 from flights f where f.id = messages.flight and f.state < 2)))
    returning messages.ref as ref, messages.attempt as attempt, messages.uncertain as uncertain`,
})

/**
 * What ended otherwise than its flight. Success always wins; failed and fatal are taken from the current flight only: a
 * process that slept cannot overwrite.
 */
export const settleMessages = statement({
  name: 'settle_messages',
  rank: 30,
  columns: {
    brand: 'text',
    key: 'text',
    flight: 'text',
    state: 'bigint',
    rule: 'text',
    call: 'text',
    uncertain: 'bigint',
  },
  text: (rows) => `
    update messages set state = r.state, rule = r.rule, call = r.call,
      uncertain = messages.uncertain + r.uncertain
    from ${rows} r
    where messages.brand = r.brand and messages.key = r.key
      and (r.state = 1 or (messages.flight = r.flight and messages.state = 0))`,
})

export const insertRefusals = insertNew({
  name: 'insert_refusals',
  rank: 31,
  table: 'refusals',
  key: 'brand, ref, attempt',
  columns: {
    brand: 'text',
    ref: 'text',
    attempt: 'bigint',
    at: 'bigint',
    category: 'text',
    reason: 'text',
    error: 'text',
    rule: 'text',
    answer: 'text',
    call: 'text',
    uncertain: 'bigint',
  },
})

/** How many messages of each state there are, and how many attempts may have arrived without our having their answer. */
export const countMessages = statement<{
  brand: string
  state: number
  messages: number
  uncertain: number
  repeated: number
}>({
  name: 'count_messages',
  rank: 90,
  columns: {},
  text: () => `
    select m.brand, ${now('m', 'f')} as state, count(*) as messages, sum(m.uncertain) as uncertain,
      sum(m.attempt - 1) as repeated
    from messages m left join flights f on f.id = m.flight group by 1, 2 order by 1, 2`,
})

export interface Found {
  readonly brand: string
  readonly key: string
  readonly state: number
  readonly attempt: number
  readonly uncertain: number
  readonly rule: string
  /** The call that decided; empty while it is in flight. */
  readonly call: string
  readonly claimedAt: number
  /** Its own text, cut from the request that brought it last; undefined: it has not departed yet. */
  readonly request: string | undefined
  readonly tracking: string | undefined
}

const selectFound = statement<
  Seated & Omit<Found, 'claimedAt' | 'request' | 'tracking'> & { readonly parts: string | null }
>({
  name: 'find_message',
  rank: 91,
  columns: { brand: 'text', key: 'text' },
  text: (rows) => `
    select m.brand, m.key, m.flight, m.seat, m.ref, ${now('m', 'f')} as state, m.attempt, m.uncertain, l.parts,
      case when m.rule = '' then coalesce(f.rule, '') else m.rule end as rule,
      case when m.rule = '' then coalesce(f.call, '') else m.call end as call
    from ${rows} r join messages m on m.brand = r.brand and m.key = r.key
      left join flights f on f.id = m.flight left join manifests l on l.brand = m.brand and l.flight = m.flight`,
})

/** One message by its push_id or site_notification_id, looked for in these brands. */
export async function findMessage(
  database: Database,
  brands: readonly string[],
  ref: string,
): Promise<Found | undefined> {
  const who = await findKey(database, brands, ref)
  if (!who) return undefined
  const [found] = await withRefs(database, await database.read(op(selectFound, [[who.brand, who.key]])))
  if (found?.ref !== ref) return undefined
  const { parts, seat, flight, ...story } = found
  const { request: id, start, length } = placeOf(parts ?? '', seat)
  const [request] = await database.read(op(selectRequest, [[id]]))
  return {
    ...story,
    claimedAt: timeOfUuidv7(flight) ?? 0,
    request: request?.text.slice(start, start + length),
    tracking: request?.tracking ?? undefined,
  }
}

export interface Refusal {
  readonly attempt: number
  readonly at: number
  readonly category: string
  readonly reason: string
  readonly error: string
  readonly rule: string
  readonly answer: string | null
  readonly call: string | null
  readonly uncertain: number
}

export const listRefusals = statement<Refusal>({
  name: 'list_refusals',
  rank: 92,
  columns: { brand: 'text', ref: 'text' },
  text: (rows) => `
    select f.attempt, f.at, f.category, f.reason, f.error, f.rule, f.answer, f.call, f.uncertain
    from ${rows} r join refusals f on f.brand = r.brand and f.ref = r.ref order by f.attempt`,
})
