import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { createSqliteDatabase, openSqliteFile } from '../../src/base/store/sqlite.ts'
import { migrateSqlite } from '../../src/base/store/sqlite-migrate.ts'
import { op } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { databaseSuite, user, users } from '../suites/database.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { forkDatabase } from './database-process.ts'
import { addUsers, migrations } from './users.ts'

const folder = await mkdtemp(join(tmpdir(), 'bellwire-sqlite-'))
after(() => rm(folder, { recursive: true }))
let files = 0
const fresh = async (): Promise<string> => `sqlite:${join(folder, 'new', `${++files}.db`)}`

databaseSuite({ engine: 'sqlite', skip: false, fresh })

test('sqlite: a file that another process has open is refused at once, with the remedy, until that process is killed', async (t) => {
  const url = await fresh()
  const holder = await forkDatabase(t, url)
  await holder.call('add', '1', '1001')
  for (let i = 0; i < 2; i++) {
    await assert.rejects(openDatabase(url, { migrations }), (error: Error) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.match(error.message, /is open in another process.*stop the other process/)
      return true
    })
  }
  await holder.call('add', '2', '1001')
  await holder.kill()
  const database = await openTestDatabase(t, url, { migrations })
  assert.deepEqual(
    (await users(database)).map(({ brand, id }) => [brand, id]),
    [
      ['1', '1001'],
      ['2', '1001'],
    ],
  )
})

test('sqlite: a new file, its log and its folder are accessible only to this user, whatever the umask', async (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const path = join(folder, 'a', 'private', 'x.db')
  const database = await openTestDatabase(t, `sqlite:${path}`, { migrations })
  await database.commit([op(addUsers, [user('1', '1')])])
  const modeOf = async (file: string): Promise<string> => ((await stat(file)).mode & 0o777).toString(8)
  assert.deepEqual(await Promise.all([path, `${path}-wal`].map(modeOf)), ['600', '600'])
  assert.deepEqual(await Promise.all([join(path, '..'), join(path, '../..')].map(modeOf)), ['700', '700'])

  const shared = `${path}-shared`
  const sharedDatabase = await openTestDatabase(t, `sqlite:${shared}`, { migrations, shared: true })
  await sharedDatabase.commit([op(addUsers, [user('1', '1')])])
  assert.deepEqual(await Promise.all([shared, `${shared}-wal`, `${shared}-shm`].map(modeOf)), ['600', '600', '600'])
})

test('sqlite: a file that cannot be opened is named, with the reason and the remedy', async () => {
  const text = join(folder, 'notes.txt')
  await writeFile(text, 'this text is not a database, and it is long enough for SQLite to read a whole header')
  for (const [path, reason] of [
    [text, /notes\.txt is not a SQLite database: name another file/],
    [folder, /bellwire-sqlite-\w+ is a folder: name a file in it/],
    [join(text, 'x.db'), /x\.db cannot be opened for writing \((ENOTDIR|EEXIST).*owner of the file and its folder/],
    ['/sys/bellwire/x.db', /x\.db cannot be opened for writing \(E\w+.*owner of the file and its folder/],
    ['/sys/x.db', /x\.db cannot be opened for writing \(E\w+.*owner of the file and its folder/],
  ] as const)
    await assert.rejects(openDatabase(`sqlite:${path}`, { migrations }), (error: Error) => {
      assert.ok(error instanceof StoreUnavailable, error.message)
      assert.match(error.message, reason)
      return true
    })
})

test('sqlite: a durable commit is flushed to disk before it resolves, other commits are not', async (t) => {
  const database = await openTestDatabase(t, await fresh(), { migrations })
  // Nothing else in this process accesses the file system now.
  let requests = 0
  const hook = createHook({ init: (_id, type) => void (type === 'FSREQCALLBACK' && requests++) }).enable()
  t.after(() => hook.disable())
  const flushes = async (durable: boolean): Promise<number> => {
    const before = requests
    await database.commit([op(addUsers, [user('1', `${durable} ${before}`)])], { durable })
    return requests - before
  }
  assert.deepEqual([await flushes(false), await flushes(true), await flushes(false), await flushes(true)], [0, 1, 0, 1])
})

test('sqlite: after a failed flush all durable commits fail', async (t) => {
  const path = (await fresh()).slice('sqlite:'.length)
  const file = openSqliteFile(path)
  await migrateSqlite(file, migrations)
  const database = createSqliteDatabase(file, path)
  t.after(() => database.close())
  await rm(`${path}-wal`)
  await assert.rejects(database.commit([op(addUsers, [user('1', 'a')])]), /repair the disk and restart/)
  await assert.rejects(database.commit([op(addUsers, [user('1', 'b')])]), StoreUnavailable)
  await database.commit([op(addUsers, [user('1', 'c')])], { durable: false })
  await assert.rejects(database.checkWrites(), /repair the disk and restart/)
  assert.match(database.outage ?? '', /repair the disk and restart/)
})

test('sqlite: a second opening in the same process is refused too', async (t) => {
  const url = await fresh()
  const database = await openTestDatabase(t, url, { migrations })
  await assert.rejects(openDatabase(url, { migrations }), StoreUnavailable)
  await database.commit([op(addUsers, [user('1', '1001')])])
})

test('sqlite: a database in memory works like any other', async () => {
  const database = await openDatabase('sqlite::memory:', { migrations })
  await database.commit([op(addUsers, [user('1', '1001'), user('2', '1001')])])
  assert.equal((await users(database)).length, 2)
  await database.close()
})

test('sqlite: a statement whose first use was rolled back works afterwards', async (t) => {
  const database = await openTestDatabase(t, 'sqlite::memory:', { migrations })
  const refused = op(addUsers, [user('1', '1001'), user('1', '1002', { born: -1 })])
  await assert.rejects(database.commit([refused]), /born >= 0/)
  await database.commit([op(addUsers, [user('1', '1001'), user('1', '1002')])])
  assert.equal((await users(database)).length, 2)
})
