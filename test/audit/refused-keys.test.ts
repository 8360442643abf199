// Refused keys are counted in the audit trail, and what strangers can add to it is bounded.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { createRefusedKeys } from '../../src/subjects/audit/refused-keys.ts'
import type { NewAuditEntry } from '../../src/subjects/audit/table.ts'
import { adminKey, element, get, keys, post, startOperator, temporary } from '../support/sides.ts'

/** Ends a minute when it is called. */
function stopMinutes(t: TestContext): () => void {
  let end = (): void => {}
  t.mock.method(clock, 'setTimeout', (run: () => void) => {
    end = run
    return { unref: () => ({}) }
  })
  t.mock.method(clock, 'clearTimeout', () => {})
  return () => end()
}

test('refused keys of many addresses are at most 21 entries a minute, and none is lost while the store is away', async (t) => {
  const endMinute = stopMinutes(t)
  const stored: NewAuditEntry[][] = []
  let isAway = false
  const refused = createRefusedKeys(async (entries) => {
    if (isAway) throw new Error('away')
    stored.push([...entries])
  })
  const sum = (entries: readonly NewAuditEntry[] = []): number => entries.reduce((all, { count = 0 }) => all + count, 0)
  for (let n = 0; n < 100_000; n++) refused.countUnknown(`192.0.2.${n % 250}`)
  endMinute()
  await Promise.resolve()
  assert.deepEqual([stored[0]?.length, sum(stored[0])], [21, 100_000])
  assert.deepEqual(stored[0]?.[0], {
    act: 'keys.refuse',
    by: '',
    address: '192.0.2.0',
    reason: 'unknown key',
    count: 400,
  })
  assert.equal(stored[0]?.at(-1)?.address, 'others')
  isAway = true
  refused.countUnknown('192.0.2.1')
  endMinute()
  await new Promise(setImmediate)
  isAway = false
  refused.countUnknown('192.0.2.1')
  await refused.stop()
  assert.deepEqual(
    stored[1]?.map(({ address, count }) => [address, count]),
    [['192.0.2.1', 2]],
  )
})

test('unknown keys of all routes and keys without the scope are counted when the operator stops', async (t) => {
  const store = `sqlite:${await temporary(t)}/operator.db`
  const weak = { name: 'dashboard', key: 'the-key-of-the-dashboard', scopes: ['counts'] } as const
  const first = await startOperator(t, { store, adminKeys: [adminKey, weak] })
  for (let i = 0; i < 3; i++) await post(`${first.url}/channels/push/single`, element(), 'a wrong key')
  await get(`${first.url}/admin/messages?id=1`, 'another wrong key')
  await get(`${first.url}/admin/messages?id=1`, weak.key)
  await get(`${first.url}/admin/summary`, weak.key)
  assert.equal((await post(`${first.url}/channels/push/single`, element(), keys.one.key)).status, 200)
  await first.stop()
  const { url } = await startOperator(t, { store })
  const { entries } = (await get(`${url}/admin/audit?act=keys.refuse`)).body
  assert.deepEqual(
    entries.map(({ by, address, reason, count }: NewAuditEntry) => [by, address, reason, count]),
    [
      ['dashboard', '127.0.0.1', 'the key lacks the scope read', 1],
      ['', '127.0.0.1', 'unknown key', 4],
    ],
  )
})

test('what cannot be entered in the audit trail is not shown', async (t) => {
  const path = `${await temporary(t)}/operator.db`
  const { url } = await startOperator(t, { store: `sqlite:${path}` })
  const { push_id: ref } = (await post(`${url}/channels/push/single`, element(), keys.one.key)).body
  const { DatabaseSync } = await import('node:sqlite')
  const prepare = DatabaseSync.prototype.prepare
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: InstanceType<typeof DatabaseSync>, text: string) {
    if (text.includes('insert into audit')) throw new Error('the disk is full')
    return prepare.call(this, text)
  })
  const refused = await get(`${url}/admin/messages/${ref}`)
  assert.deepEqual([refused.status, refused.text.includes('Hello')], [503, false], refused.text)
  const file = await fetch(`${url}/admin/failed.csv`, { headers: { 'x-api-key': adminKey.key } })
  assert.deepEqual([file.status, /seq,lane/.test(await file.text())], [503, false])
  assert.equal((await get(`${url}/admin/summary`)).status, 200, 'counts are shown')
})
