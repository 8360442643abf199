// The regulator's file, and the check against a list of exclusions, on running sides.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'csv-parse/sync'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { op } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { refuseFatal } from '../../src/contract/refusals.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import type { AttributeSource } from '../../src/subjects/attributes/attribute-source.ts'
import { chunksOf } from '../../src/subjects/attributes/id-chunks.ts'
import { claimMessages, findByUser } from '../../src/subjects/delivery/messages.ts'
import { findLateMessages } from '../../src/subjects/delivery/permission-check.ts'
import { createSuppression } from '../../src/subjects/delivery/suppress.ts'
import { message } from '../suites/provider.ts'
import { countTurns } from '../support/count-turns.ts'
import { onEachEngine } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { pathTo } from '../support/send-path.ts'
import {
  adminKey,
  element,
  get,
  post,
  startOperator,
  startPlatform,
  temporary,
  untilSettled,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run } from './bellwire.ts'

const dataAt = '2026-01-31T10:00:00.000Z'

/** The users of the set are excluded. */
const sourceOf = (excluded: ReadonlySet<string>): AttributeSource => ({
  name: 'players',
  fields: ['excluded'],
  async among(_brand, users, _fields, { noteAsOf }) {
    noteAsOf?.(Date.parse(dataAt))
    return new Map([['excluded', new Set(users.filter((user) => excluded.has(user)))]])
  },
})

const permission = (url: string, args: readonly string[]) =>
  run(['permission', ...args, '--url', url], { BELLWIRE_KEY: adminKey.key })

const day = ['--from', '2000-01-01', '--to', '2100-01-01']

test("the regulator's file has each message of the brand, sent or refused, with what was known when it was decided", async (t) => {
  const { url } = await startOperator(t, { attributes: sourceOf(new Set(['1002'])) })
  const from = Date.now()
  for (const user of ['1001', '1002']) await post(`${url}/channels/push/single`, element({ user_id: user }))
  await post(`${url}/channels/push/single`, element({ user_id: '1002', brand_id: 2 }))
  const out = join(await temporary(t), 'permission.csv')
  const ended = await permission(url, ['export', '--brand', '1', ...day, '--out', out])
  assert.equal(ended.code, 0, ended.err)
  const [sent, refused, ...more] = parse(await readFile(out, 'utf8'), { columns: true }) as Record<string, string>[]
  assert.deepEqual(more, [])
  const common = { activity: '7', channel: 'push', as_of: dataAt, source: 'players', service_message: 'no' }
  const unchecked = { blocked_at_send: '', consent_push_at_send: '' }
  assert.partialDeepStrictEqual(sent, {
    ...common,
    ...unchecked,
    user: '1001',
    outcome: 'successful',
    arrived: 'yes',
    excluded_at_send: 'no',
    rule: 'nothing forbids it',
  })
  assert.partialDeepStrictEqual(refused, {
    ...common,
    user: '1002',
    sent_at: '',
    outcome: 'failed',
    arrived: 'no',
    excluded_at_send: 'yes',
    rule: 'excluded',
  })
  for (const name of ['received_at', 'read_at', 'sent_at']) {
    const at = Date.parse(sent?.[name] ?? '')
    assert.ok(at >= from && at <= Date.now(), name)
  }
  const later = await permission(url, ['export', '--brand', '1', '--from', '2100-01-01', '--to', '2100-01-02'])
  assert.equal(later.out.trim().split('\n').length, 1, 'only the names of the columns')
})

test('a platform exports the messages that it delivers itself, and refuses a brand that an operator delivers', async (t) => {
  const lane = { channel: 'push', mode: 'batch', spanMs: 50 } as const
  const { url } = await startPlatform(t, {
    lanes: [
      { ...lane, brand: '1', provider: 'own' },
      { ...lane, brand: '2', provider: witness() },
    ],
    own: { push: witness() },
  })
  await post(`${url}/admin/activities/push`, [element()], adminKey.key)
  await untilSettled(url)
  const own = await permission(url, ['export', '--brand', '1', ...day])
  assert.match(own.out, /^1001,7,.*,consent_push_notification,the CRM's users$/m)
  const others = await permission(url, ['export', '--brand', '2', ...day])
  assert.equal(others.code, 2)
  assert.match(others.err, /this side delivers no messages of it/)
})

test('the check finds the messages after an exclusion, and no message before it, after a readmission or refused', async (t) => {
  const { url } = await startOperator(t, { attributes: sourceOf(new Set(['refused'])) })
  const send = async (user: string): Promise<string> => {
    const { body } = await post(`${url}/channels/push/single`, element({ user_id: user }))
    return body.push_id ?? ''
  }
  for (const user of ['before', 'readmitted', 'refused', 'other', 'twice']) await send(user)
  const file = join(await temporary(t), 'exclusions.csv')
  const check = async (lines: readonly string[]) => {
    await writeFile(file, ['user_id,excluded_at,readmitted_at', ...lines, ''].join('\n'))
    return permission(url, ['check', '--brand', '1', '--exclusions', file, '--json'])
  }
  const sent = Date.now()
  await until(() => Date.now() > sent, { awaited: 'a later millisecond' })
  const at = new Date().toISOString()
  const past = '2026-01-31T10:00:00Z'
  const innocent = [`before,${at},`, `readmitted,${past},2026-02-01T10:00:00Z`, `refused,${past},`, `nobody,${past},`]
  const clean = await check(innocent)
  assert.deepEqual([clean.code, JSON.parse(clean.out)], [0, { ...counts, users: 4, messages: 5 }], clean.err)
  const late = await send('before')
  const guilty = await check([...innocent, `twice,${past},2026-02-01T10:00:00Z`, `twice,2026-03-01,`])
  const found = JSON.parse(guilty.out)
  assert.deepEqual([guilty.code, found.users, found.messages, found.certain, found.unclear], [1, 5, 6, 2, 0])
  assert.deepEqual(found.found.map((each: { user_id: string }) => each.user_id).toSorted(), ['before', 'twice'])
  assert.partialDeepStrictEqual(
    found.found.find((each: { ref: string }) => each.ref === late),
    { excluded_at: at },
  )
  const text = await permission(url, ['check', '--brand', '1', '--exclusions', file])
  assert.match(
    text.out,
    /^Checked 6 messages against the exclusions of 5 users\.\nAfter the exclusion: 2 messages, the latest /,
  )
  // Their messages have digests now, and the list still has the users.
  for (const user of ['before', 'twice']) await erase(url, user)
  const erased = await permission(url, ['check', '--brand', '1', '--exclusions', file, '--json'])
  const byUser = (answer: { found: { user_id: string }[] }) => ({
    ...answer,
    found: answer.found.toSorted((a, b) => (a.user_id < b.user_id ? -1 : 1)),
  })
  assert.deepEqual(byUser(JSON.parse(erased.out)), byUser(found))
  const checkText = (list: string) =>
    post(`${url}/admin/permission/check?brand=1`, list, adminKey.key, { 'content-type': 'text/csv' })
  for (const [lines, error] of [
    ['before,yesterday,', /entry 1: "yesterday" is not a time/],
    ['before,2026-01-31 10:00:00,', /is not a time/],
    ['before,2026-01-31T10:00:00,', /is not a time/],
    ['before,2026-02-01,2026-01-31', /entry 1: readmitted_at is before excluded_at/],
    ['9.22337E+18,2026-02-01,', /entry 1: user_id is 9\.22337E\+18, shortened by a spreadsheet/],
    [',2026-02-01,', /entry 1: user_id is empty/],
    ['before,2026-02-01,,', /Record Length/],
    ['"before,2026-02-01,', /Quote Not Closed/],
    ['', /no entry/],
  ] as const) {
    const { status, body } = await checkText(`${columns}\r\n${lines}`)
    assert.deepEqual([status, error.test(body.error)], [400, true], `${lines}: ${body.error}`)
  }
  const semicolons = await checkText('\uFEFFuser_id;excluded_at\ntwice;2026-03-01')
  assert.match(semicolons.body.error, /does not name the column user_id, excluded_at/)
  const excel = `\uFEFF"user_id","excluded_at",\r\n"twice","2026-03-01",\r\n9223372036854775807,2026-03-01T10:00:00+02:00,\r\n`
  const { body } = await checkText(excel)
  assert.deepEqual([body.users, body.certain], [2, 1])
})

const columns = 'user_id,excluded_at,readmitted_at'

test('`source` checks the users whom the source of the side excludes now', async (t) => {
  const listing: AttributeSource = {
    ...sourceOf(new Set()),
    all: async () => ({ timestamp: dataAt, chunks: chunksOf(['1001']) }),
  }
  const check = async (url: string) => {
    const { code, out } = await permission(url, ['check', '--brand', '1', '--exclusions', 'source', '--json'])
    const { users, found } = JSON.parse(out)
    return { code, users, found: found.map((each: { excluded_at: string }) => each.excluded_at) }
  }
  const operator = await startOperator(t, { attributes: listing })
  for (const user of ['1001', '1002']) await post(`${operator.url}/channels/push/single`, element({ user_id: user }))
  assert.deepEqual(await check(operator.url), { code: 1, users: 1, found: [dataAt] })

  const platform = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', spanMs: 50, provider: 'own' }],
    own: { push: witness() },
  })
  const change = (attributes: object) =>
    post(`${platform.url}/admin/attributes/1/1001`, { ...attributes, updated_at: dataAt }, adminKey.key)
  await change({ consent_push_notification: true })
  await post(`${platform.url}/admin/activities/push`, [element()], adminKey.key)
  await untilSettled(platform.url)
  assert.deepEqual(await check(platform.url), { code: 0, users: 0, found: [] })
  await change({ excluded: true })
  assert.deepEqual(await check(platform.url), { code: 1, users: 1, found: [dataAt] })
  const unlisted = await startOperator(t, { attributes: sourceOf(new Set()) })
  const refused = await get(`${unlisted.url}/admin/permission/check?brand=1`)
  assert.deepEqual(
    [refused.status, refused.body.error],
    [501, 'the exclusions cannot be listed: players cannot list users'],
  )
})

const counts = { certain: 0, unclear: 0, longest_ms: 0, found: [] }

onEachEngine('a message that was under way at the exclusion, or may have arrived, is unclear', async (t, store) => {
  const database = await openTestDatabase(t, store, { migrations: operatorMigrations })
  const deadline = { deadline: Date.now() + 20_000 }
  const check = createSuppression(sourceOf(new Set()), new AbortController().signal).checkMessage
  const unknown = refuseFatal('timed_out', { by: 'fcm', error: 'no answer', uncertain: true })
  const provider = witness(({ userId, ref }) =>
    userId === 'unknown' ? unknown : { category: 'successful', ref, rule: 'accepted' },
  )
  const sent = ['sent', 'unknown'].map((userId, i) =>
    message(i, { userId, ref: uuidv7(), key: messageKey('push', { ...parts, id: String(i), userId }) }),
  )
  await pathTo(database, provider, check).send(sent, deadline)
  const [row] = await findByUser(database, '1', 'sent')
  const readAt = row?.permission_read_at as number
  const lateFor = async (from: number, to: number | null = null) => {
    const exclusions = new Map(sent.map(({ userId }) => [userId, [{ from, to }]]))
    const { certain, unclear } = await findLateMessages(database, '1', exclusions, 10)
    return { certain, unclear }
  }
  assert.deepEqual(await lateFor(readAt - 1), { certain: 2, unclear: 0 }, 'both were sent, whether they arrived or not')
  assert.deepEqual(await lateFor(Date.now() + 1), { certain: 0, unclear: 0 })
  assert.deepEqual(await lateFor(readAt - 10, readAt), { certain: 0, unclear: 0 }, 'readmitted in time')
  const settledAt = row?.updated_at as number
  if (settledAt > readAt)
    assert.equal((await lateFor(readAt - 10, settledAt)).unclear, 2, 'readmitted between check and outcome')
  if (settledAt > readAt) assert.equal((await lateFor(readAt)).unclear, 2, 'excluded between check and outcome')
})

onEachEngine('the check reads all chunks, and on SQLite it gives other work a turn after each', async (t, store) => {
  const database = await openTestDatabase(t, store, { migrations: operatorMigrations })
  const chunks = 60
  const rows = Array.from({ length: 2 * chunks }, (_, i) => {
    const chunk = 1_000_000 + Math.floor(i / 2)
    return ['1', `key ${i}`, uuidv7(), i % 2 === 0 ? 'excluded' : `other ${i}`, 'owner', 'request', 0, 0, chunk, chunk]
  })
  await database.commit([op(claimMessages, rows)])
  const turns = countTurns(t)
  const exclusions = new Map([['excluded', [{ from: 0, to: null }]]])
  const { messages, certain, unclear, found } = await findLateMessages(database, '1', exclusions, 10)
  assert.deepEqual([messages, certain, unclear, found.length], [2 * chunks, 0, chunks, 10])
  assert.ok(turns() >= (database.engine === 'sqlite' ? chunks : 1), `${turns()} turns`)
})

const parts = { activityId: '7', actionId: null, triggerHash: 'hash' }
