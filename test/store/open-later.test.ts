// A PostgreSQL database that cannot be reached when it is opened.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Migration } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { openWhenReachable } from '../../src/base/store/open-later.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { event } from '../support/wait.ts'

const migrations: readonly Migration[] = []
const skip = await withoutPostgres()

test('it is unavailable until it can be reached; then it is migrated, and its listeners hear other processes', {
  skip,
}, async (t) => {
  const direct = await freshSchema()
  const proxy = await tcpProxy(t, direct)
  proxy.cut()
  const database = await openWhenReachable(proxy.url, { migrations }, 'store 1')
  await assert.rejects(database.checkWrites(), StoreUnavailable)
  await assert.rejects(database.own('lock'), StoreUnavailable)
  await assert.rejects(database.commit([database.wake('topic')]), StoreUnavailable)
  assert.equal(database.holdsLease(database.owner), false)
  let heard = Promise.withResolvers<void>()
  const unlisten = database.onWake('topic', () => heard.resolve())

  const back = event('store.back', undefined, { withinMs: 30_000 })
  proxy.restore()
  await back
  await heard.promise // a notification may have been lost while the database was away
  await database.checkWrites()
  assert.equal(database.holdsLease(database.owner), true)
  const other = await openDatabase(direct, { migrations })
  heard = Promise.withResolvers()
  await other.commit([other.wake('topic')])
  await heard.promise
  unlisten()
  await Promise.all([other.close(), database.close()])
})

test('an address that is wrong is an error at once', { skip }, async () => {
  const url = new URL(await freshSchema())
  url.pathname = '/no_such_database'
  await assert.rejects(openWhenReachable(url.href, { migrations }, 'store 1'), /no_such_database/)
  await assert.rejects(openWhenReachable('mysql://host/db', { migrations }, 'store 1'), /not the address of a store/)
})
