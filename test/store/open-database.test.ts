import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { judgeFileSystem, judgeServer } from '../../src/base/store/inspect-store.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { configOf } from '../../src/base/store/postgres-address.ts'
import { explainConnectError } from '../../src/base/store/postgres-errors.ts'
import { readSizes } from '../../src/base/store/sizes.ts'
import { statement } from '../../src/base/store/statement.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { platformStores } from '../../src/sides/platform/stores.ts'
import type { ConfiguredStore } from '../../src/subjects/brands/configured-stores.ts'
import { messageMigrations } from '../../src/subjects/delivery/messages.ts'
import { requestMigrations } from '../../src/subjects/delivery/requests.ts'
import { onEachEngine } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { postgres, query, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'

const refused: readonly [title: string, url: string, message: RegExp][] = [
  [
    'an unknown scheme',
    'mysql://root:secret@host/db',
    /"mysql:\/\/…@host\/db" is not the address of a store: write sqlite:PATH or postgres:/,
  ],
  ['a path alone', './bellwire.db', /is not the address of a store: write sqlite:PATH/],
  ['sqlite without a path', 'sqlite:', /needs a path/],
  ['a schema that would need quotes', 'postgres://host/db?schema=Robert"', /lowercase letters, digits and _/],
  ['an invalid url', 'postgres://user:se@secret:x@/db', /is not a valid URL.*special characters/],
  [
    'a server that is not running',
    'postgres://user:secret@127.0.0.1:1/db',
    /PostgreSQL at 127\.0\.0\.1:1\/db cannot be reached: .*ECONNREFUSED.*Check that it is running/,
  ],
]
for (const [title, url, message] of refused) {
  test(`${title} is refused with the remedy, and without the password`, async () => {
    await assert.rejects(openDatabase(url, { migrations: [] }), (error: Error) => {
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })
}

test('a route must be an input column', () => {
  const definition = { name: 'wrong', columns: { id: 'text' }, text: () => 'select 1 as key' } as const
  assert.throws(
    () => statement<{ key: string }>({ ...definition, route: 'key' }),
    /its route key must be one of its input columns id/,
  )
})

onEachEngine('the size of each table is read, partitions as one table', async (t, store) => {
  const database = await openTestDatabase(t, store, { migrations: [...requestMigrations, ...messageMigrations] })
  const sizes = await readSizes(database)
  const tables = sizes.map(({ table }) => table)
  if (database.engine === 'sqlite') assert.deepEqual(tables, ['all'])
  else {
    assert.ok(tables.includes('messages') && tables.includes('requests'))
    assert.ok(!tables.some((table) => /_\d{8}$/.test(table)))
  }
  assert.ok(sizes.every(({ bytes }) => bytes > 0))
})

test('sslmode=require means verify-full, as pg reads it, without its warning', () => {
  for (const mode of ['require', 'prefer', 'verify-ca', 'verify-full'])
    assert.match(configOf(`postgres://u:p@h/d?sslmode=${mode}`).connectionString ?? '', /sslmode=verify-full$/)
  assert.match(configOf('postgres://u:p@h/d?sslmode=disable').connectionString ?? '', /sslmode=disable$/)
})

test('a missing password is named, with the remedy', () => {
  const error = new TypeError('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')
  assert.deepEqual(explainConnectError(error), {
    reason: 'the server wants a password',
    remedy: 'write postgres://USER:PASSWORD@HOST/DATABASE in store',
  })
})

test('a missing database and a user without rights are named, with the remedy', {
  skip: await withoutPostgres(),
}, async (t) => {
  const { url } = await postgres()
  const [database, user] = [`none_${randomBytes(6).toString('hex')}`, `weak_${randomBytes(6).toString('hex')}`]
  const address = (change: (to: URL) => void): string => {
    const to = new URL(url)
    change(to)
    return to.href
  }
  const open = (store: string) => openDatabase(store, { migrations: [] })
  const missing = address((to) => (to.pathname = `/${database}`))
  await assert.rejects(open(missing), /cannot be reached: .*does not exist\. Create the database, or name another one/)
  await query(url, `create role ${user} login`)
  t.after(() => query(url, `drop role ${user}`))
  const weak = address((to) => {
    to.username = user
    to.searchParams.set('schema', database)
  })
  await assert.rejects(open(weak), /cannot be used: permission denied .*\. Grant the user of store the right/)
})

test('a damaged SQLite file is named, with the remedy', async (t) => {
  const path = join(await temporary(t), 'damaged.db')
  const database = await openDatabase(`sqlite:${path}`, { migrations: operatorMigrations, whole: true })
  await database.close()
  await truncate(path, 100_000)
  await assert.rejects(
    openDatabase(`sqlite:${path}`, { migrations: operatorMigrations, whole: true }),
    /damaged\.db is damaged \(.*\): restore a backup with `bellwire restore`/,
  )
})

onEachEngine('the store of one side is refused by the other side', async (t, store) => {
  const operator = await openDatabase(store, { migrations: operatorMigrations, whole: true })
  await operator.close()
  const [{ migrations }] = platformStores({ store }) as [ConfiguredStore]
  await assert.rejects(
    openDatabase(store, { migrations, whole: true }),
    /the store is that of the operator: name another/,
  )
  await openTestDatabase(t, store, { migrations: operatorMigrations, whole: true })
})

test('doctor: a SQLite file on a network file system is a problem', () => {
  assert.deepEqual(judgeFileSystem('/mnt', 0xef53), [])
  assert.match(judgeFileSystem('/mnt', 0x6969)[0]?.description ?? '', /network file system \(NFS\)/)
})

test('doctor warns when PostgreSQL has no room for the connections of another process', () => {
  const state = { number: 180_000, name: '18', now: Date.now(), standby: false, read_only: false, unsafe: false }
  const server = { ...state, may_create: true, may_use: true, bytes: 0 }
  const warnings = (free: number) =>
    judgeServer('PostgreSQL', undefined, { ...server, free }).filter(({ warning }) => warning)
  assert.deepEqual(warnings(7), [])
  assert.match(warnings(1)[0]?.description ?? '', /has 1 free connection; each process uses up to 7/)
  assert.match(warnings(-2)[0]?.remedy ?? '', /raise max_connections/)
})
