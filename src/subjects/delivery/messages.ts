// One row for each message (row 29): the user, the identifier, the state, and the place of the text in its request.
// `select * from messages where brand = '1' and ref = '…'` shows the state of a message without another table.
//
// | state      | written                                      | after a crash in this state                                 |
// |------------|----------------------------------------------|-------------------------------------------------------------|
// | in_flight  | before the send (claim.ts)                   | it may have been sent: the next attempt counts as uncertain |
// | successful | before the caller is answered (settle.ts)    | final: every repetition gets the same identifier            |
// | failed     | likewise                                     | final for the platform; a replay, or a repetition because the answer was lost, is a new attempt |
// | fatal      | likewise                                     | the platform sends it again: a new attempt                  |

import type { Database, Migration } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { messageKeysOf } from '../../contract/message-key.ts'

export type MessageState = 'in_flight' | 'successful' | 'failed' | 'fatal'

export const messageMigrations: readonly Migration[] = [
  {
    name: 'messages/1',
    statements: ({ engine, key }) => [
      // The fill factor leaves room on each page for the settled versions of its rows: PostgreSQL then updates no index.
      `create table messages (
         brand ${key} not null,
         key ${key} not null,
         ref ${key} not null,
         user_id ${key} not null,
         state ${key} not null check (state in ('in_flight', 'successful', 'failed', 'fatal')),
         attempt integer not null,
         uncertain integer not null,
         owner ${key} not null,
         request ${key} not null,
         start_at integer not null,
         length integer not null,
         updated_at bigint not null,
         rule text,
         error text,
         call ${key},
         chunk bigint not null,
         permission bigint,
         permission_read_at bigint,
         permission_as_of bigint,
         primary key (brand, key))${engine === 'sqlite' ? '' : ' with (fillfactor = 60)'}`,
      // Identifiers are unique across all brands, because the operator makes them. If the brand came first, PostgreSQL without
      // statistics might choose another index for a range of identifiers.
      `create unique index messages_ref on messages (ref)`,
      // Users come in random order. With the chunk before the user, only the end of the index is written: see chunks.ts. The
      // brand is an expression, so that the planner uses this index for look-ups by user only.
      `create index messages_user on messages ((brand || ''), chunk, user_id)`,
    ],
    brandTables: [
      {
        table: 'messages',
        brand: 'brand',
        refersTo: { calls: 't.call', requests: 't.request', permissions: 't.permission' },
        inFlight: (row) => `${row}.state = 'in_flight'`,
      },
    ],
  },
]

/** Claims new messages. A message that was seen before has a row already, which stays as it is. */
export const claimMessages = statement<{ complete: number }>({
  name: 'claim_messages',
  columns: {
    brand: 'text',
    key: 'text',
    ref: 'text',
    user_id: 'text',
    owner: 'text',
    request: 'text',
    start_at: 'bigint',
    length: 'bigint',
    updated_at: 'bigint',
    chunk: 'bigint',
  },
  complete: true,
  text: (rows) => `
    insert into messages (brand, key, ref, user_id, state, attempt, uncertain, owner, request, start_at, length, updated_at, chunk)
    select r.brand, r.key, r.ref, r.user_id, 'in_flight', 1, 0, r.owner, r.request, r.start_at, r.length, r.updated_at, r.chunk
    from ${rows} r where true
    on conflict (brand, key) do nothing`,
})

export interface ClaimedBefore {
  readonly brand: string
  readonly key: string
  readonly ref: string
  readonly state: MessageState
  readonly attempt: number
  readonly owner: string
  readonly request: string
  /** The place of the message's text in its request, in UTF-16 units. */
  readonly start_at: number
  readonly length: number
}

/** The rows of these keys. */
export const selectMessages = statement<ClaimedBefore>('select_messages', { brand: 'text', key: 'text' })`
  select m.brand, m.key, m.ref, m.state, m.attempt, m.owner, m.request, m.start_at, m.length
  from ${rows} r join messages m on m.brand = r.brand and m.key = r.key`

/**
 * Begins another attempt of a message that ended failed or fatal, or whose owner died. It takes effect only if the row has not
 * changed since it was read: two processes cannot take over the same message.
 */
export const takeOverMessages = statement<{ ref: string; attempt: number }>({
  name: 'take_over',
  columns: {
    ref: 'text',
    state: 'text',
    attempt: 'bigint',
    owner: 'text',
    request: 'text',
    start_at: 'bigint',
    length: 'bigint',
    uncertain: 'bigint',
    updated_at: 'bigint',
  },
  route: 'ref',
  text: (rows) => `
    update messages set state = 'in_flight', attempt = messages.attempt + 1, uncertain = messages.uncertain + r.uncertain,
      owner = r.owner, request = r.request, start_at = r.start_at, length = r.length, updated_at = r.updated_at,
      rule = null, error = null, call = null
    from ${rows} r
    where messages.ref = r.ref and messages.state = r.state and messages.attempt = r.attempt
    returning messages.ref as ref, messages.attempt as attempt`,
})

/** An attempt that ended before the check keeps the check of the attempt before. */
const newPermission = `permission = coalesce(r.permission, messages.permission),
      permission_read_at = coalesce(r.permission_read_at, messages.permission_read_at),
      permission_as_of = case when r.permission is null then messages.permission_as_of else r.permission_as_of end`

/**
 * Settles runs of messages: consecutive identifiers with the same outcome are one input row. It takes effect only if the owner
 * and the attempt have not changed since the claim.
 */
export const settleMessages = statement('settle_messages', {
  first: 'text',
  last: 'text',
  owner: 'text',
  attempt: 'bigint',
  state: 'text',
  rule: 'text',
  error: 'text',
  call: 'text',
  uncertain: 'bigint',
  updated_at: 'bigint',
  permission: 'bigint',
  permission_read_at: 'bigint',
  permission_as_of: 'bigint',
})`
  update messages set state = r.state, rule = r.rule, error = r.error, call = r.call,
    uncertain = messages.uncertain + r.uncertain, updated_at = r.updated_at, ${newPermission}
  from ${rows} r
  where messages.ref between r.first and r.last
    and messages.owner = r.owner and messages.attempt = r.attempt and messages.state = 'in_flight'`

/** A success replaces any other state: the message was delivered, even if another process has taken it over meanwhile. */
export const settleLateSuccesses = statement('settle_late_successes', {
  ref: 'text',
  rule: 'text',
  call: 'text',
  updated_at: 'bigint',
  permission: 'bigint',
  permission_read_at: 'bigint',
  permission_as_of: 'bigint',
})`
  update messages set state = 'successful', rule = r.rule, error = null, call = r.call, updated_at = r.updated_at, ${newPermission}
  from ${rows} r
  where messages.ref = r.ref and messages.state <> 'successful'`

/** Changes nothing. While the brand of a message is moved, the store refuses this, and with it the commit. */
export const touchMessages = statement('touch_messages', { ref: 'text' })`
  update messages set updated_at = messages.updated_at from ${rows} r where messages.ref = r.ref`

/**
 * Replaces key and user by digests, unless the message has changed since it was read. The key still prevents that a repetition is
 * sent again.
 */
export const eraseMessages = statement<{ ref: string }>({
  name: 'erase_messages',
  columns: { ref: 'text', state: 'text', attempt: 'bigint', key: 'text', user_id: 'text' },
  route: 'ref',
  text: (rows) => `
    update messages set key = r.key, user_id = r.user_id, error = null from ${rows} r
    where messages.ref = r.ref and messages.state = r.state and messages.attempt = r.attempt
    returning messages.ref as ref`,
})

/** A row of the table. Times are epoch milliseconds. */
export interface MessageRow extends ClaimedBefore {
  readonly user_id: string
  readonly uncertain: number
  readonly rule: string | null
  readonly error: string | null
  /** The call to the provider that led to the outcome: providers/calls.ts. */
  readonly call: string | null
  readonly updated_at: number
  /** The check that decided (permission.ts). Null: no check took place. */
  readonly permission: number | null
  readonly permission_read_at: number | null
  readonly permission_as_of: number | null
}

const columns = `m.brand, m.key, m.ref, m.user_id, m.state, m.attempt, m.uncertain, m.owner, m.rule, m.error, m.call,
  m.updated_at, m.request, m.start_at, m.length, m.permission, m.permission_read_at, m.permission_as_of`

const selectByRef = statement<MessageRow>('find_messages_by_ref', { brand: 'text', ref: 'text' })`
  select ${columns} from ${rows} r join messages m on m.ref = r.ref and m.brand || '' = r.brand`

/** The message with this push_id or site_notification_id, of one of these brands. */
export async function findByRef(
  database: Database,
  brands: readonly string[],
  ref: string,
): Promise<MessageRow | undefined> {
  return (await findByRefs(database, brands, [ref]))[0]
}

/** The messages with these identifiers, of these brands. Unknown identifiers are left out. */
export async function findByRefs(
  database: Database,
  brands: readonly string[],
  refs: readonly string[],
): Promise<readonly MessageRow[]> {
  const rows = brands.flatMap((brand) => refs.map((ref) => [brand, ref]))
  return database.read(op(selectByRef, rows))
}

// One range of the primary key for each channel: see messageKeysOf(). No "order by m.ref": with it, PostgreSQL reads all messages
// in that order, 7 s for ten million.
const selectById = statement<MessageRow>('find_messages_by_id', { brand: 'text', first: 'text', after: 'text' })`
  select ${columns} from ${rows} r join messages m on m.brand = r.brand and m.key >= r.first and m.key < r.after`

/** All messages with this activity.id, of these brands and both channels, in the order of their identifiers. */
export async function findById(
  database: Database,
  brands: readonly string[],
  id: string,
): Promise<readonly MessageRow[]> {
  const ranges = messageKeysOf(id)
  const rows = brands.flatMap((brand) => ranges.map(({ first, after }) => [brand, first, after]))
  const found = await database.read(op(selectById, rows))
  return [...found].sort((a, b) => (a.ref < b.ref ? -1 : 1))
}

// One search of the index `messages_user` for each chunk. For SQLite, which would prefer another index: `cross join` fixes the
// order of the tables, and `|| ''` excludes messages_ref. For PostgreSQL the chunks carry the user: with another table in the
// join, it reads the index of the whole brand.
const selectByUser = statement<MessageRow>({
  name: 'find_messages_by_user',
  columns: { brand: 'text', user_id: 'text', before: 'text', most: 'bigint' },
  text: (rows) => `
    with recursive chunks (brand, user_id, before, chunk) as (
      select r.brand || '', r.user_id, r.before, (select min(m.chunk) from messages m where m.brand || '' = r.brand || '') from ${rows} r
      union all
      select c.brand, c.user_id, c.before, (select min(m.chunk) from messages m where m.brand || '' = c.brand and m.chunk > c.chunk)
      from chunks c where c.chunk is not null)
    select ${columns} from chunks c cross join messages m
    where m.brand || '' = c.brand and m.chunk = c.chunk and m.user_id = c.user_id and m.ref || '' < c.before
    order by m.ref desc limit (select r.most from ${rows} r)`,
})

/** The latest messages of a user, newest first. `before` is the last identifier of the previous page. */
export function findByUser(
  database: Database,
  brand: string,
  userId: string,
  { before = '~', most = 100 }: { readonly before?: string; readonly most?: number } = {},
): Promise<readonly MessageRow[]> {
  return database.read(op(selectByUser, [[brand, userId, before, most]]))
}
