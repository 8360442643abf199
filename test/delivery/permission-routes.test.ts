// The regulator's file, and the check against a list of exclusions, on running sides.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { AttributeSource } from '../../src/subjects/attributes/attribute-source.ts'
import { run } from '../cli/bellwire.ts'
import { adminKey, element, get, post, startOperator, startPlatform, temporary, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

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

const permission = (t: TestContext, url: string, args: readonly string[]) =>
  run(t, ['permission', ...args, '--url', url], { BELLWIRE_KEY: adminKey.key })

const day = ['--from', '2000-01-01', '--to', '2100-01-01']

test("the regulator's file has each message of the brand, sent or refused, with what was known when it was decided", async (t) => {
  const { url } = await startOperator(t, { attributes: sourceOf(new Set(['1002'])) })
  const from = Date.now()
  for (const user of ['1001', '1002']) await post(`${url}/channels/push/single`, element({ user_id: user }))
  await post(`${url}/channels/push/single`, element({ user_id: '1002', brand_id: 2 }))
  const out = join(await temporary(t), 'permission.csv')
  const ended = await permission(t, url, ['export', '--brand', '1', ...day, '--out', out])
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
  const later = await permission(t, url, ['export', '--brand', '1', '--from', '2100-01-01', '--to', '2100-01-02'])
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
  await until(async () => (await get(`${url}/admin/summary`)).body.waiting === 0, { awaited: 'it is settled' })
  const own = await permission(t, url, ['export', '--brand', '1', ...day])
  assert.match(own.out, /^1001,7,.*,consent_push_notification,the CRM's users$/m)
  const others = await permission(t, url, ['export', '--brand', '2', ...day])
  assert.equal(others.code, 2)
  assert.match(others.err, /this side delivers no messages of it/)
})
