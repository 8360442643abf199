// A store whose disk is full is a store that is away, on both sides, until the disk has space again.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startLog } from '../../src/base/runtime/log.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { user, users } from '../suites/database.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { adminKey, element, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { event, until } from '../support/wait.ts'
import { addUsers, migrations } from './users.ts'

function smallDisk(t: TestContext): SmallDisk {
  const disk = mountSmallDisk(64)
  t.after(() => disk.remove())
  return disk
}

test('sqlite: a write that fails on a full disk begins an outage, which ends by itself when there is space', async (t) => {
  const disk = smallDisk(t)
  const database = await openTestDatabase(t, `sqlite:${join(disk.folder, 'a.db')}`, { migrations })
  assert.equal(database.outage, undefined)
  disk.fill()
  const lost = event('store.lost')
  await assert.rejects(database.commit([op(addUsers, [user('1', 'a'.repeat(100_000))])]), StoreUnavailable)
  assert.match((await lost).error, /disk is full/)
  assert.match(database.outage ?? '', /disk is full/)
  await assert.rejects(database.checkWrites(), StoreUnavailable)
  const back = event('store.back')
  disk.free()
  await back
  assert.equal(database.outage, undefined)
  await database.checkWrites()
  await database.commit([op(addUsers, [user('1', 'b')])])
  assert.equal((await users(database)).length, 1)
})

test('sqlite: a process that starts on a full disk begins with an outage, and goes on when there is space', async (t) => {
  const disk = smallDisk(t)
  const url = `sqlite:${join(disk.folder, 'a.db')}`
  await (await openDatabase(url, { migrations })).close()
  disk.fill()
  const database = await openTestDatabase(t, url, { migrations })
  assert.match(database.outage ?? '', /disk is full/)
  const back = event('store.back')
  disk.free()
  await back
})

test('a row that the store refuses begins no outage', async (t) => {
  const database = await openTestDatabase(t, 'sqlite::memory:', { migrations })
  await assert.rejects(database.commit([op(addUsers, [user('1', 'a', { born: -1 })])]))
  await database.checkWrites()
  assert.equal(database.outage, undefined)
})

for (const side of ['operator', 'platform'] as const)
  test(`${side}: with a full disk /readyz is 503, bellwire_store_up is 0, the log has one line for each file; all end by themselves`, async (t) => {
    const disk = smallDisk(t)
    const store = `sqlite:${join(disk.folder, 'side.db')}`
    const provider = witness()
    const lane = { brand: '1', channel: 'push', mode: 'batch', provider } as const
    const { url } =
      side === 'operator'
        ? await startOperator(t, { store, push: provider })
        : await startPlatform(t, { store, lanes: [lane] })
    const send = () =>
      side === 'operator'
        ? post(`${url}/channels/push/single`, element(), keys.one.key)
        : post(`${url}/admin/activities/push`, [element()], adminKey.key)
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^bellwire_${name}(?:{.*})? (\\S+)$`, 'm').exec(text)?.[1])
    }
    const ready = async (): Promise<boolean> => (await fetch(`${url}/readyz`)).status === 200
    const lines: string[] = []
    const log = startLog({ level: 'warn', format: 'json', to: { write: (line) => lines.push(line) } })
    t.after(() => log.stop())

    assert.deepEqual([(await send()).status, await ready(), await metric('store_up')], [200, true, 1])
    const free = await metric('disk_free_bytes')
    assert.ok(free > 1_000_000 && free <= 64 * 1024 * 1024, `${free} bytes free`)

    disk.fill()
    await until(async () => !(await ready()), { awaited: '/readyz is 503' })
    assert.equal(await metric('store_up'), 0)
    // The probe of a lost store needs 1 MiB. A rollback may free less.
    assert.ok((await metric('disk_free_bytes')) < 1_000_000)
    const before = provider.received.length
    for (let i = 0; i < 3; i++) assert.equal((await send()).status, 503)
    assert.equal(provider.received.length, before, 'nothing is sent that cannot be stored')
    // The platform's file of CRM lists has an outage of its own, at its first write.
    const logged = lines.map((line) => JSON.parse(line))
    for (const { event, level, error } of logged)
      assert.deepEqual([event, level, /disk is full/.test(error)], ['store.lost', 'error', true])
    const stores = logged.map((line) => line.store).filter((name) => !name.endsWith('-crm.db'))
    assert.deepEqual(stores, [join(disk.folder, 'side.db')])

    disk.free()
    await until(ready, { awaited: '/readyz is 200' })
    await until(async () => (await metric('store_up')) === 1, { awaited: 'bellwire_store_up is 1' })
    assert.equal((await send()).status, 200)
    await until(() => provider.received.length === before + 1, { awaited: 'the next message is delivered' })
    assert.equal(new Set(lines.map((line) => JSON.parse(line).store)).size, lines.length)
  })

test('platform: a start on a full disk is refused with the reason, since its CRM file cannot be opened', async (t) => {
  const disk = smallDisk(t)
  const store = `sqlite:${join(disk.folder, 'platform.db')}`
  const lanes = [{ brand: '1', channel: 'push', mode: 'single', provider: witness() } as const]
  await (await startPlatform(t, { store, lanes })).stop()
  disk.fill()
  await assert.rejects(startPlatform(t, { store, lanes }), /check that its disk has space/)
})
