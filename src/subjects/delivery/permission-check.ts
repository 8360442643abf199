// Who got something after the time of an exclusion. One pass over the users of all messages of a brand, in the order of their index:
// only the messages of excluded users are read.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { timeOfUuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { op, statement } from '../../base/store/statement.ts'
import type { MessageRow } from './messages.ts'
import { isAllowed, readBases } from './permission.ts'

/** A time during which a user must not get messages. Epoch milliseconds. */
export interface Exclusion {
  readonly from: number
  /** The readmission. Null: there was none. */
  readonly to: number | null
}

/** The exclusions of each user. */
export type Exclusions = ReadonlyMap<string, readonly Exclusion[]>

export interface LateMessage {
  readonly user_id: string
  readonly ref: string
  readonly excluded_at: number
  /** The time of its outcome. */
  readonly sent_at: number
  /** False: it was under way at the time of the exclusion or of the readmission, or it is unknown whether it arrived. */
  readonly certain: boolean
}

export interface LateMessages {
  /** All messages of the brand. */
  readonly messages: number
  readonly certain: number
  readonly unclear: number
  /** The longest time from an exclusion to a certain message, in milliseconds. */
  readonly longest_ms: number
  /** The first of both kinds. */
  readonly found: readonly LateMessage[]
}

type Row = Pick<MessageRow, 'user_id' | 'ref' | 'state' | 'uncertain' | 'updated_at' | 'permission'> & {
  readonly permission_read_at: number | null
}

/** Between two user ids. An id that contains it cannot be checked. */
export const separator = '\u001f'

// The users of the next chunk (chunks.ts) as one text: ten thousand rows would take five times as long to pass.
const selectUsers = statement<{ chunk: number; users: string }>({
  name: 'list_users_of_chunk',
  columns: { brand: 'text', after: 'bigint' },
  text: (rows) => `
    select c.chunk, (
      select string_agg(m.user_id, '${separator}') from messages m
      where m.brand || '' = (select r.brand from ${rows} r) and m.chunk = c.chunk) as users
    from (
      select m.chunk from messages m
      where m.brand || '' = (select r.brand from ${rows} r) and m.chunk > (select r.after from ${rows} r)
      order by m.chunk limit 1) c`,
})

const selectMessages = statement<Row>({
  name: 'list_messages_of_users',
  columns: { brand: 'text', chunk: 'bigint', user_id: 'text' },
  text: (rows) => `
    select m.user_id, m.ref, m.state, m.uncertain, m.updated_at, m.permission, m.permission_read_at
    from ${rows} r cross join messages m
    where m.brand || '' = r.brand || '' and m.chunk = r.chunk and m.user_id = r.user_id
      and (m.state in ('successful', 'in_flight') or m.uncertain > 0)`,
})

/** A chunk may begin this long before its number, because clocks of processes differ. */
const clockMs = 60_000

/** @param most the most entries of each kind in `found` */
export async function findLateMessages(
  database: Database,
  brand: string,
  exclusions: Exclusions,
  most: number,
): Promise<LateMessages> {
  const found: Record<'certain' | 'unclear', LateMessage[]> = { certain: [], unclear: [] }
  const counts = { messages: 0, certain: 0, unclear: 0, longest_ms: 0 }
  const allowing = new Map<number, boolean>()
  for (let after = -1; ; ) {
    const [next] = await database.read(op(selectUsers, [[brand, after]]))
    if (!next) return { ...counts, found: [...found.certain, ...found.unclear] }
    after = next.chunk
    const users = next.users.split(separator)
    counts.messages += users.length
    const excluded = findExcluded(users, exclusions, after - clockMs)
    const rows =
      excluded.length === 0
        ? []
        : await database.read(
            op(
              selectMessages,
              excluded.map((user) => [brand, next.chunk, user]),
            ),
          )
    await learnBases(rows, allowing)
    for (const row of rows) {
      const late = judge(row, exclusions.get(row.user_id) ?? [], allowing)
      if (!late) continue
      const kind = late.certain ? 'certain' : 'unclear'
      counts[kind]++
      if (late.certain) counts.longest_ms = Math.max(counts.longest_ms, late.sent_at - late.excluded_at)
      if (found[kind].length < most) found[kind].push(late)
    }
    await nextTurn()
  }

  async function learnBases(rows: readonly Row[], known: Map<number, boolean>): Promise<void> {
    const ids = rows.flatMap(({ permission }) => (permission === null || known.has(permission) ? [] : [permission]))
    for (const [id, basis] of await readBases(database, ids)) known.set(id, isAllowed(basis))
  }
}

/** @param users in the order of the index: equal ones are neighbours. @param since messages of the chunk are not older */
function findExcluded(users: readonly string[], exclusions: Exclusions, since: number): string[] {
  const found: string[] = []
  let last: string | undefined
  for (const user of users) {
    if (user === last) continue
    last = user
    if (exclusions.get(user)?.some(({ to }) => to === null || to > since)) found.push(user)
  }
  return found
}

/** The exclusion that a message broke, or may have broken. */
function judge(
  row: Row,
  exclusions: readonly Exclusion[],
  allowing: ReadonlyMap<number, boolean>,
): LateMessage | undefined {
  const { state, permission, permission_read_at: readAt, updated_at: sentAt } = row
  // Another attempt may have been refused since: then it is unknown when the first one was sent.
  const wasAllowed = permission === null || allowing.get(permission) === true
  if (state !== 'successful' && state !== 'in_flight' && !wasAllowed) return undefined
  const checkedAt = readAt ?? timeOfUuidv7(row.ref) ?? sentAt
  let unclear: LateMessage | undefined
  for (const { from, to } of exclusions) {
    // It was sent after its check and before its outcome was stored.
    if (sentAt <= from || (to !== null && (readAt ?? sentAt) >= to)) continue
    const certain = state !== 'in_flight' && checkedAt > from && (to === null || sentAt < to)
    const late = { user_id: row.user_id, ref: row.ref, excluded_at: from, sent_at: sentAt, certain }
    if (certain) return late
    unclear ??= late
  }
  return unclear
}
