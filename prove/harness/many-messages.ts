// The stores of a platform and of an operator as they are after many messages: their rows are written directly, in sets.

import { DatabaseSync } from 'node:sqlite'
import type { Migration } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { platformStores } from '../../src/sides/platform/stores.ts'
import { query } from '../../test/support/services/postgres.ts'

/** The lane of all messages. */
export const lane = '1/push'
/** Each user has this many messages, spread over the whole time. */
export const messagesPerUser = 10
/** One message of this many failed. */
export const messagesPerFailure = 100
const messagesPerRequest = 100
const chunk = 100_000

/** The user of the message with this number. @example userOf(1, 20_000) // 'u1920' */
export const userOf = (n: number, size: number): string => `u${((n * 7919) % (size / messagesPerUser)) + 1}`

/** The identifier that the operator answered for the message with this number. @param at of fillOperator() */
export const refOf = (n: number, at: number): string => {
  const time = (at + n).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}

/** A platform that sent these messages in lane 1/push. */
export async function fillPlatform(url: string, size: number, signal: AbortSignal): Promise<void> {
  const [configured] = platformStores({ store: url })
  const { run, series, user } = await open(url, configured?.migrations ?? [], size)
  const at = Date.now() - size
  const key = keyOf(user)
  const text = `'{"activity":{"id":' || n || ',"brand_id":1,"user_id":"' || ${user} || '","activity_id":7,"action_id":9,"trigger_hash":"h"},"title":"The offer of this week","body":"It ends on Sunday: come and see"}'`
  await inChunks(size, signal, async (from, to) => {
    await run(`insert into items (lane, key, text, enqueued_at, token, user_id)
      select '${lane}', ${key}, ${text}, ${at} + n, 0, ${user} from ${series(from, to)}`)
    const done = '{"attempt":1,"rule":"accepted"}'
    const failed = '{"attempt":1,"rule":"§7.1 422","reason":"rejected","error":"the user has no inbox"}'
    const last = messagesPerFailure - 1
    await run(`insert into settled (lane, first, last, state, at, detail)
      select '${lane}', n, n + ${last - 1}, 1, ${at} + n, '${done}' from ${series(from, to, messagesPerFailure)}`)
    const failures = series(from + last, to, messagesPerFailure)
    await run(`insert into settled (lane, first, last, state, at, detail)
      select '${lane}', n, n, 2, ${at} + n, '${failed}' from ${failures}`)
    await run(`insert into failed (seq, lane, key, activity, action, user_id, reason, error, rule, attempts, at, state)
      select n, '${lane}', ${key}, '7', '9', ${user}, 'rejected', 'the user has no inbox', '§7.1 422', 1, ${at} + n, 0 from ${failures}`)
  })
  await run('analyze')
}

/** An operator that sent these messages as pushes of brand 1, each to one device. @returns the time of the first message */
export async function fillOperator(url: string, size: number, signal: AbortSignal): Promise<number> {
  const { run, series, user, isPostgres } = await open(url, operatorMigrations, size)
  const now = Date.now()
  const at = now - size
  const key = keyOf(user)
  const hex = (ms: string): string => (isPostgres ? `lpad(to_hex(${ms}), 12, '0')` : `printf('%012x', ${ms})`)
  const padded = (n: string): string => (isPostgres ? `lpad((${n})::text, 12, '0')` : `printf('%012d', ${n})`)
  const uuid = (ms: string, n: string): string =>
    `substr(${hex(ms)}, 1, 8) || '-' || substr(${hex(ms)}, 9) || '-7000-8000-' || ${padded(n)}`
  const ref = uuid(`${at} + n`, 'n')
  // Its partition is that of today.
  const request = uuid(`${now}`, `n / ${messagesPerRequest}`)
  const text = `{"activity":{"id":7000001,"brand_id":1,"user_id":"u1","activity_id":7,"action_id":9,"trigger_hash":"h"},"title":"The offer of this week","body":"It ends on Sunday: come and see"}`
  const failed = `n % ${messagesPerFailure} = 0`
  await run(`insert into permissions (id, basis)
    values (1, '{"decided":"nothing forbids it","fields":{"blocked":false,"consent_push_notification":true},"exempt":false,"source":"postgres"}')`)
  await inChunks(size, signal, async (from, to) => {
    await run(`insert into requests (id, text)
      select ${request}, '${text.repeat(messagesPerRequest)}' from ${series(from + messagesPerRequest - 1, to, messagesPerRequest)}`)
    await run(`insert into messages (brand, key, ref, user_id, state, attempt, uncertain, owner, request, start_at, length, updated_at,
        rule, error, chunk, permission, permission_read_at)
      select '1', ${key}, ${ref}, ${user}, case when ${failed} then 'failed' else 'successful' end, 1, 0, '1@proof', ${request},
        (n % ${messagesPerRequest}) * ${text.length}, ${text.length}, ${at} + n, 'accepted', case when ${failed} then 'the token is gone' end,
        n / 10000, 1, ${at} + n from ${series(from, to)}`)
    await run(`insert into device_sends (brand, ref, attempt, device, service, category, rule, provider_id, uncertain, at)
      select '1', ${ref}, 1, ${user}, 'fcm', 'successful', 'accepted', 'projects/proof/messages/' || n, 0, ${now} from ${series(from, to)}`)
  })
  await run(`insert into devices (brand, device, link_at, user_id, token, kind, app, environment, channel, origin)
    select '1', 'd' || n, '2026-01-01T00:00:00', 'u' || n, 'token-of-' || n, 'fcm_token', 'app', 'production', 'rest', 'app'
    from ${series(1, size / messagesPerUser)}`)
  await run('analyze')
  return at
}

const keyOf = (user: string): string => `'["push","' || n || '","' || ${user} || '","7","9","h"]'`

async function inChunks(
  size: number,
  signal: AbortSignal,
  write: (from: number, to: number) => Promise<void>,
): Promise<void> {
  for (let from = 1; from <= size; from += chunk) {
    signal.throwIfAborted()
    await write(from, Math.min(size, from + chunk - 1))
  }
}

async function open(url: string, migrations: readonly Migration[], size: number) {
  await (await openDatabase(url, { migrations })).close()
  const isPostgres = url.startsWith('postgres')
  /** A table of the numbers `n`. */
  const series = (from: number, to: number, step = 1): string =>
    isPostgres
      ? `(select n from generate_series(${from}::bigint, ${to}, ${step}) n) s`
      : `(with recursive s(n) as (values(${from}) union all select n + ${step} from s where n + ${step} <= ${to}) select n from s) s`
  return { isPostgres, series, user: `'u' || ((n * 7919) % ${size / messagesPerUser} + 1)`, run: runnerOf(url) }
}

function runnerOf(url: string): (text: string) => Promise<unknown> {
  if (!url.startsWith('sqlite:')) return (text) => query(url, text)
  const file = url.slice('sqlite:'.length)
  return async (text) => {
    const db = new DatabaseSync(file)
    db.exec(text)
    db.close()
  }
}
