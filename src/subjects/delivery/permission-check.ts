// Who got something after the time of an exclusion. One pass over the index of the users of all messages of a brand, joined with the
// excluded users: only the messages of these are read.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { erasedPerson } from '../../base/people/digest.ts'
import { listErasures } from '../../base/people/erasures.ts'
import { timeOfUuidv7 } from '../../base/runtime/ids.ts'
import { isStorable } from '../../base/runtime/unstorable.ts'
import type { Database } from '../../base/store/database.ts'
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

const columns = ['user_id', 'ref', 'state', 'uncertain', 'updated_at', 'permission', 'permission_read_at'] as const

type Row = Pick<MessageRow, (typeof columns)[number]>

/** A chunk may begin this long before its number, because clocks of processes differ. */
const clockMs = 60_000

/** The chunks that one statement reads (chunks.ts): on SQLite it holds the event loop. */
const chunksPerStep = { sqlite: 1, postgres: 50 } as const

/** @param most the most entries of each kind in `found` */
export async function findLateMessages(
  database: Database,
  brand: string,
  listed: Exclusions,
  most: number,
): Promise<LateMessages> {
  const { exclusions, userOf } = await withErased(database, brand, listed)
  const found: Record<'certain' | 'unclear', LateMessage[]> = { certain: [], unclear: [] }
  const counts = { messages: 0, certain: 0, unclear: 0, longest_ms: 0 }
  const allowing = new Map<number, boolean>()
  const excluded = await database.scratchTable({ user_id: 'text', since: 'bigint', until: 'bigint' })
  try {
    await excluded.fill(spansOf(exclusions))
    const select = selectLate(database.engine, excluded.name)
    for (let after = -1; ; ) {
      const [next] = await excluded.run<Chunks>(findChunks, [brand, after, chunksPerStep[database.engine]])
      if (!next || next.last === null) return { ...counts, found: [...found.certain, ...found.unclear] }
      const [step] = await excluded.run<Step>(select, [brand, after, next.last, next.first - clockMs])
      after = next.last
      counts.messages += step?.messages ?? 0
      const rows = readRows(step?.late ?? '[]')
      await learnBases(rows)
      for (const row of rows) {
        const late = judge(row, exclusions.get(row.user_id) ?? [], allowing)
        if (late) note({ ...late, user_id: userOf.get(late.user_id) ?? late.user_id })
      }
      await nextTurn()
    }
  } finally {
    await excluded.close()
  }

  async function learnBases(rows: readonly Row[]): Promise<void> {
    const ids = rows.flatMap(({ permission: id }) => (id === null || allowing.has(id) ? [] : [id]))
    for (const [id, basis] of await readBases(database, ids)) allowing.set(id, isAllowed(basis))
  }

  function note(late: LateMessage): void {
    const kind = late.certain ? 'certain' : 'unclear'
    counts[kind]++
    if (late.certain) counts.longest_ms = Math.max(counts.longest_ms, late.sent_at - late.excluded_at)
    if (found[kind].length < most) found[kind].push(late)
  }
}

/** Messages of an erased user have a digest in place of the user: the exclusions also by these digests, and the user of each digest. */
async function withErased(database: Database, brand: string, listed: Exclusions) {
  const erasures = (await listErasures(database)).filter((each) => each.brand === brand)
  const digests = new Set(erasures.map(({ digest }) => digest))
  const exclusions = new Map(listed)
  const userOf = new Map<string, string>()
  let users = 0
  for (const [userId, times] of digests.size > 0 ? listed : []) {
    if (++users % usersPerTurn === 0) await nextTurn()
    const { userDigest } = erasedPerson({ brand, userId }, erasures[0]?.secret ?? '', 0)
    if (!digests.has(userDigest)) continue
    exclusions.set(userDigest, times)
    userOf.set(userDigest, userId)
  }
  return { exclusions, userOf }
}
const usersPerTurn = 1_000

type Chunks = { readonly first: number; readonly last: number | null }

// One search of the index for each chunk.
const findChunks = `
  with recursive chunks (chunk, n) as (
    select (select min(m.chunk) from messages m where m.brand || '' = $1 and m.chunk > $2), 1
    union all
    select (select min(m.chunk) from messages m where m.brand || '' = $1 and m.chunk > c.chunk), c.n + 1
    from chunks c where c.chunk is not null and c.n < $3)
  select min(c.chunk) as first, max(c.chunk) as last from chunks c`

/** `late`: JSON with a row for each message of an excluded user that may be late. */
type Step = { readonly messages: number; readonly late: string | null }

/**
 * The users of the messages are read from the index, and looked up in the table of excluded users. SQLite would read each message
 * before it looks the user up: so the messages of excluded users are a join of their own.
 */
function selectLate(engine: Database['engine'], excluded: string): string {
  const [row, list, array] =
    engine === 'sqlite' ? ['x', 'json_group_array', 'json_array'] : ['m', 'json_agg', 'json_build_array']
  const join = `left join messages x on x.rowid = case when e.user_id is not null then m.rowid end`
  return `
    select count(*) as messages, cast(${list}(${array}(${columns.map((name) => `${row}.${name}`).join()})) filter (
      where e.user_id is not null and ${row}.updated_at > e.since
        and coalesce(${row}.permission_read_at, ${row}.updated_at) < e.until
        and (${row}.state in ('successful', 'in_flight') or ${row}.uncertain > 0)) as text) as late
    from messages m left join ${excluded} e on e.user_id = m.user_id and e.until > $4 ${engine === 'sqlite' ? join : ''}
    where m.brand || '' = $1 and m.chunk > $2 and m.chunk <= $3`
}

const readRows = (json: string): Row[] =>
  (JSON.parse(json) as unknown[][]).map(
    (values) => Object.fromEntries(columns.map((name, i) => [name, values[i]])) as unknown as Row,
  )

/** Each user with the time of the first exclusion and of the last readmission. */
function* spansOf(exclusions: Exclusions): Generator<readonly [user: string, since: number, until: number]> {
  for (const [user, times] of exclusions) {
    const since = Math.min(...times.map(({ from }) => from))
    const until = Math.max(...times.map(({ to }) => to ?? Number.MAX_SAFE_INTEGER))
    // No message has a user id that cannot be stored.
    if (isStorable(user)) yield [user, since, until]
  }
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
