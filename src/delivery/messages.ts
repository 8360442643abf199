// The operator's tables: what was asked for, what became of it, and the evidence. Their only owner.
//
// messages   one small row per message (row 29): claimed before anything has an effect, settled before the answer. Its holder
//            is the process that is sending it, and once settled the call that decided: a row keeps its size, and so its
//            place on its page.
// bodies     the request element as it came, written when the message departs to its provider. `departed` is the last
//            attempt that was handed over: a claim whose owner died may have arrived only if its attempt departed.
// refusals   one row per attempt that did not end successful.

import type { Migration } from '../store/database.ts'
import { statement } from '../store/statement.ts'

export const state = { inFlight: 0, successful: 1, failed: 2, fatal: 3 } as const

export const messageMigrations: readonly Migration[] = [
  {
    name: 'delivery/1',
    statements: ({ engine, key }) => [
      `create table messages (
         brand ${key} not null, key ${key} not null, ref ${key} not null, state bigint not null, attempt bigint not null,
         holder ${key} not null, claimed_at bigint not null, uncertain bigint not null, rule text not null,
         primary key (brand, key))${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 50)'}`,
      `create table bodies (
         brand ${key} not null, ref ${key} not null, key ${key} not null, departed bigint not null, at bigint not null,
         text text not null, tracking text,
         primary key (brand, ref))`,
      `create table refusals (
         brand ${key} not null, ref ${key} not null, attempt bigint not null, at bigint not null, category text not null,
         reason text not null, error text not null, rule text not null, answer text, call ${key}, uncertain bigint not null,
         primary key (brand, ref, attempt))`,
    ],
  },
]

/** Claims messages never seen before; returns the refs of those, nothing for the others. */
export const insertMessages = statement<{ ref: string }>({
  name: 'insert_messages',
  rank: 10,
  columns: { brand: 'text', key: 'text', ref: 'text', owner: 'text', at: 'bigint' },
  route: 'ref',
  text: (rows) => `
    insert into messages (brand, key, ref, state, attempt, holder, claimed_at, uncertain, rule)
    select r.brand, r.key, r.ref, 0, 1, r.owner, r.at, 0, 'in flight' from ${rows} r where true
    on conflict (brand, key) do nothing
    returning ref`,
})

export interface Existing {
  readonly brand: string
  readonly key: string
  readonly ref: string
  readonly state: number
  readonly attempt: number
  readonly holder: string
}

export const selectMessages = statement<Existing>({
  name: 'select_messages',
  rank: 11,
  columns: { brand: 'text', key: 'text' },
  text: (rows) => `
    select m.brand, m.key, m.ref, m.state, m.attempt, m.holder
    from ${rows} r join messages m on m.brand = r.brand and m.key = r.key`,
})

/**
 * Begins another attempt of a message that ended failed or fatal, or whose owner is gone; taken only if the row is still
 * the one that was read. A claim left in flight counts as uncertain if that attempt had departed.
 */
export const takeOver = statement<{ ref: string; attempt: number; uncertain: number }>({
  name: 'take_over',
  rank: 12,
  columns: {
    brand: 'text',
    key: 'text',
    ref: 'text',
    attempt: 'bigint',
    state: 'bigint',
    old: 'text',
    owner: 'text',
    at: 'bigint',
  },
  route: 'ref',
  text: (rows) => `
    update messages set state = 0, attempt = messages.attempt + 1, holder = r.owner, claimed_at = r.at,
      uncertain = messages.uncertain + (select count(*) from bodies b where messages.state = 0
        and b.brand = messages.brand and b.ref = messages.ref and b.departed = messages.attempt)
    from ${rows} r
    where messages.brand = r.brand and messages.key = r.key
      and messages.attempt = r.attempt and messages.state = r.state and messages.holder = r.old
    returning messages.ref as ref, messages.attempt as attempt, messages.uncertain as uncertain`,
})

/** Written before the call to the provider (departed = the attempt), or with the settle of what never left (0). */
export const insertBodies = statement({
  name: 'insert_bodies',
  rank: 20,
  columns: {
    brand: 'text',
    ref: 'text',
    key: 'text',
    departed: 'bigint',
    at: 'bigint',
    text: 'text',
    tracking: 'text',
  },
  text: (rows) => `
    insert into bodies (brand, ref, key, departed, at, text, tracking)
    select r.brand, r.ref, r.key, r.departed, r.at, r.text, r.tracking from ${rows} r where true
    on conflict (brand, ref) do update set departed = excluded.departed where excluded.departed > bodies.departed`,
})

/** Success always wins; failed and fatal are taken from the current attempt only: a process that slept cannot overwrite. */
export const settleMessages = statement({
  name: 'settle_messages',
  rank: 30,
  columns: {
    brand: 'text',
    key: 'text',
    attempt: 'bigint',
    state: 'bigint',
    rule: 'text',
    call: 'text',
    uncertain: 'bigint',
  },
  text: (rows) => `
    update messages set state = r.state, rule = r.rule, holder = r.call,
      uncertain = messages.uncertain + r.uncertain
    from ${rows} r
    where messages.brand = r.brand and messages.key = r.key
      and (r.state = 1 or (messages.attempt = r.attempt and messages.state = 0))`,
})

export const insertRefusals = statement({
  name: 'insert_refusals',
  rank: 31,
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
  text: (rows) => `
    insert into refusals (brand, ref, attempt, at, category, reason, error, rule, answer, call, uncertain)
    select r.brand, r.ref, r.attempt, r.at, r.category, r.reason, r.error, r.rule, r.answer, r.call, r.uncertain
    from ${rows} r where true
    on conflict (brand, ref, attempt) do nothing`,
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
    select brand, state, count(*) as messages, sum(uncertain) as uncertain, sum(attempt - 1) as repeated
    from messages group by brand, state order by brand, state`,
})

export interface Found {
  readonly brand: string
  readonly key: string
  readonly state: number
  readonly attempt: number
  readonly uncertain: number
  readonly rule: string
  /** The call that decided, or while it is in flight the process that is sending it. */
  readonly holder: string
  readonly claimed_at: number
  readonly text: string
  readonly tracking: string | null
}

/** One message by its push_id or site_notification_id, looked for in each of these brands. */
export const findMessage = statement<Found>({
  name: 'find_message',
  rank: 91,
  columns: { brand: 'text', ref: 'text' },
  text: (rows) => `
    select b.brand, b.key, m.state, m.attempt, m.uncertain, m.rule, m.holder, m.claimed_at, b.text, b.tracking
    from ${rows} r join bodies b on b.brand = r.brand and b.ref = r.ref join messages m on m.brand = b.brand and m.key = b.key`,
})

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
