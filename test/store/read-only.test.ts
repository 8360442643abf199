// PostgreSQL that has become read-only, as after a switch-over: the store is away until a connection is writable.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { user, users } from '../suites/database.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { postgres, query, withoutPostgres } from '../support/services/postgres.ts'
import { startPlatform, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { addUsers, migrations } from './users.ts'

const skip = await withoutPostgres()

/** A database of its own, which can be made read-only without affecting other tests. */
async function switchedDatabase(t: TestContext) {
  const { url: server } = await postgres()
  const name = `readonly_${randomBytes(6).toString('hex')}`
  await query(server, `create database ${name}`)
  t.after(() => query(server, `drop database ${name} with (force)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    /** What a client sees of a switch-over: its sessions end, and new ones are read-only. */
    async setReadOnly(readOnly: boolean): Promise<void> {
      await query(server, `alter database ${name} set default_transaction_read_only = ${readOnly}`)
      if (readOnly)
        await query(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    },
  }
}

test('postgres: a read-only server is one outage: reconnected until a connection is writable', { skip }, async (t) => {
  const { url, setReadOnly } = await switchedDatabase(t)
  const { url: ready } = await startPlatform(t, {
    store: url,
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: witness() }],
  })
  const database = await openTestDatabase(t, url, { migrations })
  const heard: string[] = []
  t.after(on('store.lost', () => void heard.push('lost')))
  t.after(on('store.back', () => void heard.push('back')))
  const isReady = async (): Promise<boolean> => (await fetch(`${ready}/readyz`)).status === 200
  const upOf = async (): Promise<string | undefined> =>
    /^bellwire_store_up (\d)/m.exec(await (await fetch(`${ready}/metrics`)).text())?.[1]
  assert.deepEqual([await isReady(), await upOf()], [true, '1'])

  await setReadOnly(true)
  await until(async () => !(await isReady()), { withinMs: 2_000, awaited: '/readyz is 503' })
  await until(async () => (await upOf()) === '0', { withinMs: 2_000, awaited: 'bellwire_store_up is 0' })
  // After several attempts to reconnect, it still does not count as back.
  await until(() => database.outage?.includes('read-only'), { awaited: 'the cause is known' })
  for (let i = 0; i < 5; i++) {
    await assert.rejects(database.commit([op(addUsers, [user('1', `${i}`)])]), StoreUnavailable)
    await assert.rejects(database.checkWrites(), /read-only/)
    assert.equal(await isReady(), false)
  }
  assert.deepEqual(heard, ['lost', 'lost'], 'one for each of the two stores')

  await setReadOnly(false)
  await until(isReady, { withinMs: 2_000, awaited: '/readyz is 200' })
  await until(() => heard.length === 4, { awaited: 'both stores are back' })
  assert.deepEqual(heard, ['lost', 'lost', 'back', 'back'])
  assert.equal(await upOf(), '1')
  await database.commit([op(addUsers, [user('1', 'after')])])
  assert.equal((await users(database)).length, 1)
})

test('postgres: a server that becomes read-only without ending its sessions is an outage too', { skip }, async (t) => {
  const { url, setReadOnly } = await switchedDatabase(t)
  const database = await openTestDatabase(t, url, { migrations })
  const lost = event('store.lost')
  await setReadOnly(true)
  await assert.rejects(database.checkWrites(), StoreUnavailable)
  await lost
  await assert.rejects(openDatabase(url, { migrations }), /read-only/)
  const back = event('store.back')
  await setReadOnly(false)
  await back
  await database.commit([op(addUsers, [user('1', 'after')])])
})
