// Keys for /admin in the store: added and revoked by calls, accepted by all processes.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createAcceptedKeys } from '../../src/base/http/accepted-keys.ts'
import { type AccessKey, allScopes } from '../../src/base/http/access.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { createStoredKeys, keyMigrations } from '../../src/sides/admin/stored-keys.ts'
import { openStoredLanes, storedLaneMigrations } from '../../src/sides/admin/stored-lanes.ts'
import { auditMigrations, auditOps, readAudit } from '../../src/subjects/audit/table.ts'
import { onEachEngine, onPostgres } from '../support/engines.ts'
import { openSession } from '../support/services/postgres.ts'
import { get, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const office = { name: 'office', key: 'the-key-of-the-office', scopes: allScopes }
const lanes = [{ brand: '1', channel: 'push' as const, mode: 'single' as const, provider: witness() }]

const addKey = (url: string, body: object, key = office.key) => post(`${url}/admin/keys`, body, key)
const revokeKey = (url: string, name: string, key = office.key) => post(`${url}/admin/keys/revoke`, { name }, key)

const selectAll = statement<{ digest: string }>('select_access_keys', {})`select k.* from access_keys k`

onEachEngine('a key that is added by a call is accepted and revoked in all processes', async (t, store) => {
  const options = { store, keys: [office], lanes }
  const first = await startPlatform(t, options)
  // A SQLite file has one process.
  const second = store.startsWith('postgres') ? await startPlatform(t, options) : first

  const { status, body } = await addKey(first.url, {
    name: 'crm',
    scopes: ['counts'],
    brands: [1],
    reason: 'the new CRM',
  })
  assert.equal(status, 200, JSON.stringify(body))
  const key = body.key as string
  const summary = (url: string) => get(`${url}/admin/summary`, key)
  assert.equal((await summary(first.url)).status, 200)
  await until(async () => (await summary(second.url)).status === 200, { awaited: 'the other process knows the key' })
  assert.equal((await get(`${second.url}/admin/failed`, key)).status, 403, 'its scopes')

  const listed = (await get(`${first.url}/admin/keys`, office.key)).body.keys
  const found = listed.find(({ name }: { name: string }) => name === 'crm')
  assert.partialDeepStrictEqual(found, {
    setting: 'store',
    fingerprint: body.fingerprint,
    scopes: ['counts'],
    brands: ['1'],
    added_by: 'office',
  })
  assert.equal(typeof found.last_used_at, 'number')
  const trail = await get(`${first.url}/admin/audit`, office.key)
  assert.ok(!JSON.stringify([listed, trail.body]).includes(key), 'the text is shown once')
  assert.partialDeepStrictEqual(
    trail.body.entries.find(({ act }: { act: string }) => act === 'keys.add'),
    { by: 'office', reason: 'the new CRM', given: { name: 'crm', scopes: ['counts'], brands: [1] } },
  )

  assert.deepEqual(await revokeKey(second.url, 'crm').then(({ status, body }) => [status, body]), [
    200,
    { revoked: true },
  ])
  assert.equal((await summary(second.url)).status, 401)
  await until(async () => (await summary(first.url)).status === 401, { awaited: 'the other process refuses the key' })
  assert.equal((await revokeKey(first.url, 'crm')).status, 404)
  const ofDevices = await addKey(first.url, { name: 'links', scopes: ['devices'] })
  assert.deepEqual([ofDevices.status, /exactly one brand/.test(ofDevices.body.error)], [400, true])

  const kept = (await addKey(first.url, { name: 'kept', scopes: ['counts'] })).body.key as string
  await Promise.all([first.stop(), second.stop()])
  const database = await openDatabase(store, { migrations: [] })
  assert.ok(!JSON.stringify(await database.read(op(selectAll, [[]]))).includes(kept), 'the store has no text of a key')
  await database.close()
  const restarted = await startPlatform(t, options)
  assert.equal((await get(`${restarted.url}/admin/summary`, kept)).status, 200, 'after a restart')
})

onEachEngine('a change that the store refuses leaves no entry in the audit trail', async (t, store) => {
  const { database, keys, stored } = await openRows(t, store)
  const lane = { lane: '7/push', settings: '{}' }
  const addKey = () =>
    keys
      .add({ name: 'crm', scopes: ['counts'] }, 'office', () => audit('key added'))
      .then(
        () => true,
        () => false,
      )
  const results = [
    await Promise.all([addKey(), addKey()]),
    await Promise.all([stored.add(lane, 'a', audit('lane added')), stored.add(lane, 'b', audit('lane added'))]),
    [await stored.remove('7/push', audit('lane removed')), await stored.change(lane, 'a', audit('lane changed'))],
    [await stored.remove('7/push', audit('lane removed')), await keys.revoke('nobody', () => audit('key revoked'))],
    await Promise.all([1, 2].map(() => keys.revoke('crm', () => audit('key revoked')))),
    [await stored.add(lane, 'a', audit('lane added')), false],
    await Promise.all([1, 2].map(() => stored.remove('7/push', audit('lane removed')))),
  ]
  assert.deepEqual(
    results.map((each) => each.toSorted()),
    [
      [false, true],
      [false, true],
      [false, true],
      [false, false],
      [false, true],
      [false, true],
      [false, true],
    ],
  )
  const acts: string[] = []
  for await (const page of readAudit(database)) acts.push(...page.map(({ act }) => act))
  const later = ['key revoked', 'lane added', 'lane removed']
  assert.deepEqual(acts, ['key added', 'lane added', 'lane removed', ...later])
})

onPostgres('of two processes that remove a row at the same moment, one has removed it', async (t, store) => {
  const { database, keys, stored } = await openRows(t, store)
  await keys.add({ name: 'crm', scopes: ['counts'] }, 'office', () => audit('key added'))
  await stored.add({ lane: '7/push', settings: '{}' }, 'a', audit('lane added'))

  const { client, untilBlocking } = await openSession(store)
  for (const [table, remove] of [
    ['access_keys', () => keys.revoke('crm', () => audit('key revoked'))],
    ['stored_lanes', () => stored.remove('7/push', audit('lane removed'))],
  ] as const) {
    await client.query(`begin; delete from ${table}`)
    const removed = remove()
    await untilBlocking()
    await client.query('commit')
    assert.equal(await removed, false, table)
  }
  const acts: string[] = []
  for await (const page of readAudit(database)) acts.push(...page.map(({ act }) => act))
  assert.deepEqual(acts, ['key added', 'lane added'])
})

test('a key cannot add a key with more than it has: scopes, brands, addresses and expiry', async (t) => {
  const expires_at = '2099-01-01T00:00:00Z'
  const limited = {
    name: 'limited',
    key: 'the-key-that-is-limited',
    scopes: ['keys', 'audit', 'counts'] as const,
    brands: ['1'],
    from: ['127.0.0.0/8'],
    expiresAt: expires_at,
  }
  const { url } = await startOperator(t, { adminKeys: [office, limited] })
  const add = (body: object) => addKey(url, { name: 'new', scopes: ['counts'], ...body }, limited.key)
  for (const [body, lacking] of [
    [{ scopes: ['counts', 'read', 'people'] }, 'the scope read, the scope people'],
    [{ brands: ['1', '2'] }, 'brand 2'],
    [{ from: ['0.0.0.0/0'] }, 'the address 0.0.0.0/0'],
    [{ expires_at: '2099-01-01T00:00:01Z' }, 'a time after 2099-01-01T00:00:00Z'],
  ] as const) {
    const { status, body: answer } = await add(body)
    assert.equal(status, 403, JSON.stringify(answer))
    assert.ok(answer.error.endsWith(`it lacks ${lacking}`), answer.error)
  }
  for (const [body, named] of [
    [{ scopes: ['everything'] }, 'scopes'],
    [{ scopes: [] }, 'scopes'],
    [{ from: ['10.0.0.0/99'] }, 'from'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ admin: true }, 'admin'],
  ] as const) {
    const { status, body: answer } = await add(body)
    assert.equal(status, 400, JSON.stringify(answer))
    assert.ok(answer.error.includes(named), answer.error)
  }
  assert.equal((await add({})).status, 200)
  const { keys } = (await get(`${url}/admin/keys`, limited.key)).body
  assert.partialDeepStrictEqual(
    keys.find(({ name }: { name: string }) => name === 'new'),
    { scopes: ['counts'], brands: ['1'], from: ['127.0.0.0/8'], expires_at, added_by: 'limited' },
    'what is not given is that of the key that adds it',
  )
  assert.equal((await addKey(url, { name: 'of all brands', scopes: ['counts'] })).status, 200)
  assert.equal((await revokeKey(url, 'of all brands', limited.key)).status, 404, 'a key of other brands')
  assert.equal(
    (await revokeKey(url, office.name, limited.key)).status,
    404,
    'a key of the configuration, of other brands',
  )
  assert.equal((await revokeKey(url, 'new', limited.key)).status, 200)
})

/** The keys and lanes of a store, without a side. */
async function openRows(t: TestContext, store: string) {
  const database = await openDatabase(store, {
    migrations: [...keyMigrations, ...storedLaneMigrations, ...auditMigrations],
  })
  t.after(() => database.close())
  const keys = createStoredKeys(database, 'platform', createAcceptedKeys<AccessKey>([]), new Map())
  const { stored, stop } = await openStoredLanes(database, { read: async () => [], apply: async () => {} })
  t.after(() => Promise.all([keys.stop(), stop()]))
  return { database, keys, stored }
}

function audit(act: string) {
  return auditOps([{ act, by: 'office' }])
}
