// A block or an exclusion ends only with the scope `lift` and a reason, and the audit trail has both.

import assert from 'node:assert/strict'
import { allScopes } from '../../../src/base/http/access.ts'
import { crmStoreMigrations } from '../../../src/subjects/reconcile/crm/store.ts'
import { readCrmUser, upsertCrmUsers } from '../../../src/subjects/reconcile/crm/users.ts'
import { onEachEngine, onSqlite } from '../../support/engines.ts'
import { openTestDatabase } from '../../support/open-test-database.ts'
import { adminKey, get, post, startPlatform } from '../../support/sides.ts'
import { ndjson } from '../platform.ts'

const imports = {
  name: 'imports',
  key: 'the-key-of-the-imports',
  scopes: allScopes.filter((scope) => scope !== 'lift'),
} as const

onSqlite('an exclusion ends only for a key with the scope lift that gives a reason', async (t, store) => {
  const { url } = await startPlatform(t, { store, lanes: [], keys: [adminKey, imports] })
  const change = (body: object, { key }: { readonly key: string } = adminKey) =>
    post(`${url}/admin/attributes/1/pat`, body, key)
  const isExcluded = async (user = 'pat') =>
    (await get(`${url}/admin/attributes/1/${user}`)).body.attributes.excluded.value
  assert.equal((await change({ excluded: true }, imports)).status, 200, 'to exclude needs no reason')
  const refused = await change({ excluded: false, reason: 'by phone' }, imports)
  assert.deepEqual(
    [refused.status, refused.body.error],
    [403, 'this ends excluded of user "pat": the key imports lacks the scope lift: add it in the configuration'],
  )
  const unreasoned = await change({ excluded: false })
  assert.deepEqual(
    [unreasoned.status, unreasoned.body.error],
    [400, 'this ends excluded of user "pat": give the reason as `reason`'],
  )
  assert.equal(await isExcluded(), true)
  assert.equal((await change({ excluded: false, reason: 'by phone' })).body.changed, true)
  assert.equal(await isExcluded(), false)
  assert.equal((await change({ excluded: false }, imports)).status, 200, 'nothing ends')

  const send = (lines: readonly object[], query: string, { key }: { readonly key: string }) => {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return post(`${url}/admin/attributes/1${query}`, body, key, ndjson)
  }
  const free = { excluded: false, blocked: false }
  await send(
    [
      { user_id: 'a', ...free },
      { user_id: 'b', excluded: true },
      { user_id: 'c', blocked: true },
    ],
    '',
    imports,
  )
  const again = [
    { user_id: 'a', ...free },
    { user_id: 'b', ...free, consent_sms: true },
    { user_id: 'c', ...free, updated_at: '2020-01-01T00:00:00Z' },
    { user_id: 'd', excluded: true },
    { user_id: 'd', excluded: false },
  ]
  const partial = (await send(again, '?reason=new+season', imports)).body
  assert.deepEqual([partial.users, partial.refused_count], [3, 2], 'an older value ends nothing')
  assert.deepEqual(
    partial.refused.map(({ line, error }: { line: number; error: string }) => [line, error.split(':')[0]]),
    [
      [2, 'it ends excluded'],
      [5, 'it ends excluded'],
    ],
  )
  assert.deepEqual([await isExcluded('b'), await isExcluded('d')], [true, true])
  assert.equal((await send(again, '', adminKey)).body.refused_count, 2, 'without a reason')
  assert.equal((await send(again, '?reason=new+season', adminKey)).body.refused_count, 0)
  assert.deepEqual([await isExcluded('b'), await isExcluded('d')], [false, false])

  const { entries } = (await get(`${url}/admin/audit?user=b`)).body
  assert.partialDeepStrictEqual(entries, [
    { act: 'attributes.show' },
    { act: 'attributes.import', by: 'admin', old: { excluded: true }, new: { excluded: false }, reason: 'new season' },
    { act: 'attributes.show' },
  ])
  const [lifted] = (await get(`${url}/admin/audit?user=pat&act=attributes.change`)).body.entries.slice(1)
  const entry = { by: 'admin', old: { excluded: true }, new: { excluded: false }, reason: 'by phone' }
  assert.partialDeepStrictEqual(lifted, entry)
})

onEachEngine('an exclusion that is stored at the same time as a line that would end it remains', async (t, store) => {
  const database = await openTestDatabase(t, store, { migrations: crmStoreMigrations })
  const write = (excluded: boolean, at: number, mayLift?: boolean) =>
    upsertCrmUsers(database, '1', [{ userId: 'pat', at, values: { excluded, active: true } }], {
      mayLift: mayLift ?? false,
    })
  await write(true, 1)
  assert.equal(await write(false, 2), 0)
  assert.equal((await readCrmUser(database, '1', 'pat'))?.excluded?.value, true)
  assert.equal(await write(false, 3, true), 1)
  assert.equal((await readCrmUser(database, '1', 'pat'))?.excluded?.value, false)
})
