// An address of PostgreSQL with several servers, of which one accepts writes.

import assert from 'node:assert/strict'
import { connect, createServer } from 'node:net'
import test from 'node:test'
import { clearTextHost } from '../../src/base/runtime/address.ts'
import { on } from '../../src/base/runtime/events.ts'
import { inspectStore } from '../../src/base/store/inspect-store.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { configOf, placeOf, withStartupSchema } from '../../src/base/store/postgres-address.ts'
import { createClient } from '../../src/base/store/postgres-client.ts'
import { openLogFlusher } from '../../src/base/store/postgres-flusher.ts'
import { op } from '../../src/base/store/statement.ts'
import { placeAt } from '../../src/subjects/brands/store-problems.ts'
import { user, users } from '../suites/database.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { addUsers, migrations } from './users.ts'

const skip = await withoutPostgres()

test('each server has the user, the database and the parameters of the address', () => {
  const config = configOf('postgres://u:p%40@a,b:5433/d?target_session_attrs=read-write&schema=s&sslmode=require')
  assert.deepEqual(
    config.servers,
    ['a', 'b:5433'].map((host) => `postgres://u:p%40@${host}/d?sslmode=verify-full`),
  )
  assert.deepEqual([config.schema, placeOf(config)], ['s', 'a:5432,b:5433/d'])
  assert.equal(withStartupSchema(config).options, '-c search_path=s')
  assert.throws(() => configOf('postgres://a,b/d?target_session_attrs=standby'), /leave it out or write read-write/)
  assert.equal(placeAt('postgres://a,b:5433/d?schema=s'), placeAt('postgres://u:p@b:5433,a:5432/d?schema=s'))
  assert.equal(clearTextHost('postgres://127.0.0.1,db.example.com/d', {}), 'db.example.com')
  assert.equal(clearTextHost('postgres://a,b/d?sslmode=verify-full', {}), undefined)
})

test('a connection that is lost while it is set up is an error of connect(), and not of the process', {
  skip,
}, async (t) => {
  const url = new URL(await freshSchema())
  const { hostname, port } = url
  const cutting = createServer((socket) => {
    const server = connect(Number(port || 5432), hostname).on('error', () => {})
    socket.on('error', () => {}).on('close', () => server.destroy())
    socket.on('data', (sent) => (sent.includes('search_path') ? socket.destroy() : server.write(sent)))
    server.pipe(socket)
  })
  url.host = `127.0.0.1:${(await listenLocally(t, cutting)).port}`
  await assert.rejects(createClient(configOf(url.href)).connect(), /terminated unexpectedly/)
})

test('a store is opened on the server that answers; if none does, the error names the reason of each', {
  skip,
}, async (t) => {
  const one = await freshSchema()
  const { host } = new URL(one)
  const url = one.replace(host, `127.0.0.1:1,${host}`)
  const database = await openTestDatabase(t, url, { migrations })
  await database.commit([op(addUsers, [user('1', '1001')])])
  assert.equal((await users(database)).length, 1)
  const durable: boolean[] = []
  t.after(on('store.commit', (commit) => void durable.push(commit.durable)))
  await database.commit([op(addUsers, [user('1', '1002')])], { durable: false })
  assert.ok(durable.length > 0 && durable.every(Boolean), 'the claim of a message survives a failover')
  assert.match((await inspectStore(url, []))[0]?.description ?? '', /answers/)
  await assert.rejects(
    openDatabase(one.replace(host, '127.0.0.1:1,127.0.0.1:2'), { migrations }),
    /no server accepts writes \(127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: .*ECONNREFUSED/,
  )
})

test('a log is not flushed for a session that is not on the same server', { skip }, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations })
  const flusher = openLogFlusher(configOf(url), 10_000)
  t.after(() => flusher.close())
  await flusher.flush(database.owner)
  await assert.rejects(flusher.flush('an earlier session'), /the session has ended, or is on another server/)
  await flusher.flush(database.owner)
})
