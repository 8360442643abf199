// Each administrative act and each look at a person's data leaves an entry: who, from where, what, about whom.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { allScopes } from '../../src/base/http/access.ts'
import { operatorRoutes, platformRoutes } from '../../src/sides/admin/routes.ts'
import { createChainCheck } from '../../src/subjects/audit/chain.ts'
import { importLines, ndjson, runReconciliation } from '../reconcile/platform.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { collectRoutes } from '../support/routes.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const skip = await withoutPostgres()
const office = {
  ...adminKey,
  name: 'office',
  key: 'the-key-of-the-office',
  scopes: allScopes,
}
const secrets = ['a-secret-of-more-than-32-characters-1']

/** A call, and the members of the entry that it leaves. */
type Row = readonly [call: string, body: unknown, entry: Readonly<Record<string, unknown>>, type?: string]

// biome-ignore lint/suspicious/noExplicitAny: a test reads any member
type Entry = any

const entriesOf = async (url: string, query = ''): Promise<Entry[]> =>
  (await get(`${url}/admin/audit?limit=1000${query}`, office.key)).body.entries.toReversed()

/** Makes each call, and compares the entry that it added. */
async function checkRows(url: string, rows: readonly Row[]): Promise<void> {
  for (const [call, body, entry, type] of rows) {
    const [method, path] = call.split(' ') as [string, string]
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-api-key': office.key, 'content-type': type ?? 'application/json' },
      ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.equal(answer.status, 200, `${call}: ${text}`)
    const found = (await entriesOf(url)).filter(({ act }) => act !== 'audit.list').at(-1)
    const { by, address } = found
    const expected = { by: 'office', address: '127.0.0.1', ...entry }
    const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, found[name]]))
    assert.deepEqual({ ...shown, by, address }, expected, call)
  }
}

const parts = { people: {}, app: true, removals: {}, storedLanes: {}, configuration: {} } as never
const withAct = [...operatorRoutes(parts), ...platformRoutes(parts)].filter(({ act }) => act !== null)
const routesWithAct = new Set(withAct.map(({ method, url }) => `${method} ${url}`))

/** Fails if a route with an act was not called. */
function demandAll(routes: ReadonlySet<string>, rows: readonly Row[], elsewhere: readonly string[]): void {
  const called = rows.map(([call]) => call.split('?', 1)[0] as string)
  const missing = [...routes]
    .map((route) => route.replaceAll(/\{(\w+)\}/g, ':$1'))
    .filter((route) => routesWithAct.has(route))
    .filter((route) => !called.some((call) => new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`).test(call)))
  assert.deepEqual(missing.toSorted(), elsewhere.toSorted())
}

async function verify(url: string): Promise<void> {
  const answer = await fetch(`${url}/admin/audit.ndjson`, { headers: { 'x-api-key': office.key } })
  const check = createChainCheck()
  for (const line of (await answer.text()).split('\n').filter(Boolean)) check.add(line)
  const { chains, problems } = check.end()
  assert.deepEqual(problems, [])
  assert.ok(chains.length > 0)
}

test('each act at an operator leaves its entry', async (t) => {
  const routes = collectRoutes(t)
  const { url } = await startOperator(t, {
    adminKeys: [office],
    app: { secrets, origins: [] },
    status: { webhooks: [] },
    publish: [],
  })
  const { body } = await post(`${url}/channels/push/single`, element({ user_id: '7' }), keys.one.key)
  const record = { brand: '1', user_id: '7', tokens: [{ token: 'a'.repeat(64), channel: 'ios', provider: 'apns' }] }
  const rows: Row[] = [
    ['GET /admin/messages?brand=1&user_id=7', '', { act: 'messages.find', brand: '1', user: '7' }],
    [`GET /admin/messages/${body.push_id}`, '', { act: 'messages.show', brand: '1', user: '7' }],
    [`GET /admin/messages?ref=${body.push_id}`, '', { act: 'messages.find', brand: '1', user: '7' }],
    // The erasure may have emptied the user of its own entry already.
    ['POST /admin/people/erase', { brand: 1, user_id: '8' }, { act: 'people.erase', brand: '1' }],
    [
      'POST /admin/subscriber-tokens',
      { brand: 1, user_id: '7', ttl_seconds: 60 },
      { act: 'tokens.create', brand: '1', user: '7', given: { ttl_seconds: 60 } },
    ],
    [
      'POST /admin/subscriber-tokens/revoke',
      { brand: 1, user_id: '7' },
      { act: 'tokens.revoke', brand: '1', user: '7' },
    ],
    ['POST /admin/devices/link', record, { act: 'devices.link', brand: '1', user: '7', count: 1 }],
    ['GET /admin/devices?brand=1&user_id=7', '', { act: 'devices.list', brand: '1', user: '7' }],
    ['POST /admin/devices/unlink', record, { act: 'devices.unlink', brand: '1', user: '7', count: 1 }],
    ['GET /admin/devices/removed?brand=1&why=x', '', { act: 'devices.list-removed', brand: '1', given: { why: 'x' } }],
    [
      'POST /admin/devices/restore',
      { brand: '1', user_id: '7' },
      { act: 'devices.restore', brand: '1', user: '7', count: undefined },
    ],
    ['GET /admin/failed?state=pending', '', { act: 'failed.list', given: { state: 'pending' } }],
    ['GET /admin/failed.csv', '', { act: 'failed.export' }],
    ['POST /admin/failed/dismiss', { all: true }, { act: 'failed.dismiss', given: { all: true } }],
    ['POST /admin/failed/replay', { all: true }, { act: 'failed.replay', given: { all: true } }],
    ['GET /admin/people/1/7', '', { act: 'people.export', brand: '1', user: '7' }],
    ['GET /admin/people/erasures', '', { act: 'people.list-erasures' }],
    ['GET /admin/permission.csv?brand=1&from=2026-01-01&to=2026-02-01', '', { act: 'permission.export', brand: '1' }],
    [
      'POST /admin/permission/check?brand=1',
      'user_id,excluded_at\n7,2026-01-01T00:00:00Z\n',
      { act: 'permission.check', brand: '1' },
      'text/csv',
    ],
    ['GET /admin/audit.ndjson', '', { act: 'audit.export' }],
    ['GET /admin/audit/verify', '', { act: 'audit.verify' }],
    ['GET /admin/backup', '', { act: 'backup' }],
    [
      'POST /admin/keys',
      { name: 'crm', scopes: ['counts'], reason: 'new' },
      { act: 'keys.add', reason: 'new', given: { name: 'crm', scopes: ['counts'] } },
    ],
    ['POST /admin/keys/revoke', { name: 'crm' }, { act: 'keys.revoke', given: { name: 'crm' } }],
  ]
  await checkRows(url, rows)
  demandAll(routes, rows, [
    // At a platform, below: the same handlers.
    'GET /admin/failed/:seq',
    'POST /admin/lanes/cancel',
    'POST /admin/lanes/pause',
    'POST /admin/lanes/resume',
    'POST /admin/lanes/settings',
    'POST /admin/lanes/settings/reset',
    'GET /admin/audit',
    // Without a source that lists users: the same act as POST.
    'GET /admin/permission/check',
  ])
  await verify(url)
})

const stored = { name: '9/push', brand: '9', shown: { max: '5' } }

async function checkPlatform(t: TestContext, store?: string): Promise<void> {
  const routes = collectRoutes(t)
  const operator = await startListOperator(t, (response) => void response.end(listOf(['7', '8'])))
  const { url } = await startPlatform(t, {
    ...(store !== undefined && { store }),
    keys: [office, adminKey],
    storedLanes: {
      read: async (settings) => settings.map(() => ({ ...stored, options: undefined as never })),
      apply: async () => {},
    },
    own: { app: { secrets, origins: [] }, site: 'inbox', suppression: 'none' },
    lanes: [
      {
        brand: '1',
        channel: 'push',
        mode: 'single',
        spanMs: 5,
        provider: witness(() => ({ category: 'failed', reason: 'rejected', error: 'no', rule: 'test' })),
      },
      { brand: '1', channel: 'site', mode: 'single', provider: 'own' },
    ],
    reconciliation: [{ brand: '1', url: operator.url, apiKey: 'the-key-of-brand-1', fields: ['blocked'] }],
  })
  await post(`${url}/admin/activities/push`, [element({ user_id: '7' }), element({ user_id: '7' })], office.key)
  await until(async () => (await get(`${url}/admin/summary`)).body.failed === 2, { awaited: 'both failed' })
  await importLines(url, '1', [{ user_id: '7', blocked: false }])
  const { run } = await runReconciliation(url, '1', 'blocked')
  const lane = { lane: '1/push', reason: 'the campaign is wrong' }
  const told = { lane: '1/push', brand: '1', reason: 'the campaign is wrong' }
  const user = { brand: '1', user: '7' }
  const rows: Row[] = [
    ['GET /admin/messages?brand=1&user_id=7', '', { act: 'messages.find', ...user }],
    ['GET /admin/messages/1', '', { act: 'messages.show', ...user, lane: '1/push' }],
    ['GET /admin/failed/1', '', { act: 'failed.show', ...user, given: { seq: 1 } }],
    ['GET /admin/failed?lane=1/push', '', { act: 'failed.list', brand: '1', lane: '1/push' }],
    ['GET /admin/failed.csv?user=7', '', { act: 'failed.export', user: '7' }],
    ['POST /admin/failed/dismiss', { seqs: [1] }, { act: 'failed.dismiss', count: 1, given: { seqs: [1] } }],
    ['POST /admin/failed/replay', { seqs: [2] }, { act: 'failed.replay', count: 1, given: { seqs: [2] } }],
    ['POST /admin/lanes/pause', { ...lane, activity: '7' }, { act: 'lanes.pause', ...told, given: { activity: '7' } }],
    ['POST /admin/lanes/resume', { lane: '1/push', activity: '7' }, { act: 'lanes.resume', lane: '1/push' }],
    [
      'POST /admin/lanes/settings',
      { ...lane, settings: { concurrency: 3 } },
      { act: 'lanes.change', ...told, given: { settings: { concurrency: 3 } } },
    ],
    ['POST /admin/lanes/settings/reset', { lane: '1/push' }, { act: 'lanes.reset', lane: '1/push' }],
    ['POST /admin/lanes/cancel', { ...lane, user: '7' }, { act: 'lanes.cancel', ...told, user: '7' }],
    ['GET /admin/conversions.csv', '', { act: 'conversions.export-counts' }],
    ['GET /admin/conversions/messages', '', { act: 'conversions.list' }],
    ['GET /admin/conversions/messages.csv?brand=1', '', { act: 'conversions.export', brand: '1' }],
    [
      'POST /admin/subscriber-tokens',
      { brand: 1, user_id: '7', ttl_seconds: 60 },
      { act: 'tokens.create', ...user, given: { ttl_seconds: 60 } },
    ],
    ['POST /admin/subscriber-tokens/revoke', { brand: 1, user_id: '7' }, { act: 'tokens.revoke', ...user }],
    ['GET /admin/devices?brand=1&user_id=7', '', { act: 'devices.list', ...user }],
    ['GET /admin/devices/removed?brand=1', '', { act: 'devices.list-removed', brand: '1' }],
    [
      `GET /admin/reconciliations/${run}/discrepancies`,
      '',
      { act: 'reconciliations.list-users', brand: '1', given: { run } },
    ],
    [`GET /admin/reconciliations/${run}/export`, '', { act: 'reconciliations.export', brand: '1', given: { run } }],
    [`POST /admin/reconciliations/${run}/acknowledge`, {}, { act: 'reconciliations.acknowledge', brand: '1' }],
    [`POST /admin/reconciliations/${run}/correct`, {}, { act: 'reconciliations.correct', brand: '1', count: 2 }],
    ['POST /admin/reconciliations', { brand: 1, field: 'blocked' }, { act: 'reconciliations.start', brand: '1' }],
    ['GET /admin/attributes/1/7', '', { act: 'attributes.show', ...user }],
    [
      'POST /admin/attributes/1/7',
      { excluded: true },
      { act: 'attributes.change', ...user, old: {}, new: { excluded: true } },
    ],
    [
      'POST /admin/attributes/1',
      '{"user_id":"9","blocked":true}\n',
      { act: 'attributes.import', brand: '1', count: 1 },
      ndjson['content-type'],
    ],
    ['POST /admin/people/erase', { brand: 1, user_id: '8' }, { act: 'people.erase', brand: '1' }],
    ['GET /admin/people/1/7', '', { act: 'people.export', ...user }],
    ['GET /admin/permission.csv?brand=1&from=2026-01-01&to=2026-02-01', '', { act: 'permission.export', brand: '1' }],
    [
      'POST /admin/permission/check?brand=1',
      'user_id,excluded_at\n7,2026-01-01T00:00:00Z\n',
      { act: 'permission.check', brand: '1' },
      'text/csv',
    ],
    [
      'POST /admin/lanes/add',
      { settings: { api_key: 'the-secret' }, reason: 'a new operator' },
      { act: 'lanes.add', lane: '9/push', brand: '9', given: { settings: { max: '5' } }, reason: 'a new operator' },
    ],
    [
      'POST /admin/lanes/change',
      { lane: '9/push', settings: { api_key: 'the-secret' } },
      { act: 'lanes.change-stored', lane: '9/push', brand: '9', given: { settings: { max: '5' } } },
    ],
    ['POST /admin/lanes/remove', { lane: '9/push' }, { act: 'lanes.remove', lane: '9/push', brand: '9', count: 0 }],
    ['GET /admin/audit.ndjson', '', { act: 'audit.export' }],
    ['GET /admin/audit/verify', '', { act: 'audit.verify' }],
    ['GET /admin/audit', '', { act: 'audit.verify' }],
  ]
  await checkRows(url, rows)
  // At an operator, above: the same handlers.
  demandAll(routes, rows, [
    'GET /admin/backup',
    'GET /admin/people/erasures',
    'GET /admin/permission/check',
    'POST /admin/keys',
    'POST /admin/keys/revoke',
  ])
  await verify(url)
  const [looked] = (await entriesOf(url)).filter(({ act }) => act === 'audit.list')
  assert.equal(looked.by, 'office', 'who read the audit trail')
  assert.ok((await entriesOf(url, '&user=7')).every((entry) => entry.user === '7'))
}

test('each act at a platform leaves its entry', (t) => checkPlatform(t))
test('each act at a platform leaves its entry (postgres)', { skip }, async (t) => checkPlatform(t, await freshSchema()))

test('a link of devices of two brands leaves an entry for each brand', async (t) => {
  const { url } = await startOperator(t, { adminKeys: [office], publish: [] })
  const tokens = [{ token: 'c'.repeat(64), channel: 'ios', provider: 'apns' }]
  const records = ['7', '8'].map((user_id) => ({ brand: 1, user_id, tokens }))
  await post(`${url}/admin/devices/link`, [...records, { brand: 2, user_id: '7', tokens }], office.key)
  for (const [brand, user, count] of [
    ['1', undefined, 2],
    ['2', '7', 1],
  ] as const)
    assert.deepEqual(
      (await entriesOf(url, `&brand=${brand}&act=devices.link`)).map((entry) => [entry.user, entry.count]),
      [[user, count]],
    )
})

test('a member that a route ignores names no other brand or user in the entry; a key of one brand need not name it', async (t) => {
  const ofBrand1 = { ...office, name: 'of brand 1', key: 'the-key-of-one-brand', brands: ['1'] }
  const { url } = await startOperator(t, { adminKeys: [office, ofBrand1], app: { secrets, origins: [] }, publish: [] })
  const record = { user_id: '7', tokens: [{ token: 'b'.repeat(64), channel: 'ios', provider: 'apns' }] }
  const elsewhere = 'brand=2&user=8&lane=2/push'
  const subscriber = { brand: '1', user_id: '7', user: '8', lane: '2/push', of: 'x' }
  for (const [path, body] of [
    [`/admin/devices/link?${elsewhere}`, record],
    [`/admin/devices/unlink?${elsewhere}`, [record, { ...record, user_id: '9' }]],
    [`/admin/devices/restore?${elsewhere}`, { all: true }],
    [`/admin/subscriber-tokens?${elsewhere}`, subscriber],
    [`/admin/people/erase/preview?${elsewhere}`, { brand: '1', user_id: '7' }],
    [`/admin/keys?${elsewhere}`, { name: 'crm', scopes: ['counts'] }],
  ] as const)
    assert.equal((await post(`${url}${path}`, body, ofBrand1.key)).status, 200, path)
  for (const path of ['/admin/messages?id=5', '/admin/devices/removed'])
    assert.equal((await get(`${url}${path}`, ofBrand1.key)).status, 200, path)
  const entries = (await entriesOf(url)).filter(({ act }) => act !== 'audit.list')
  assert.deepEqual(
    entries.map(({ act, brand, user, lane, given }) => [act, brand, user, lane, given]),
    [
      ['devices.link', '1', '7', undefined, undefined],
      ['devices.unlink', '1', undefined, undefined, undefined],
      ['devices.restore', '1', undefined, undefined, { all: true }],
      ['tokens.create', '1', '7', undefined, undefined],
      ['keys.add', '1', undefined, undefined, { name: 'crm', scopes: ['counts'] }],
      ['messages.find', '1', undefined, undefined, { id: '5' }],
      ['devices.list-removed', '1', undefined, undefined, undefined],
    ],
  )
})
