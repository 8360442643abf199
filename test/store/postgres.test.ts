import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type pg from 'pg'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { PostgresOptions } from '../../src/base/store/postgres.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { wakeChannel } from '../../src/base/store/wakers.ts'
import { databaseSuite, range, user, users } from '../suites/database.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, openSession, query, withoutPostgres } from '../support/services/postgres.ts'
import { event, until } from '../support/wait.ts'
import { forkDatabase } from './database-process.ts'
import { addUsers, allUsers, migrations } from './users.ts'

const skip = await withoutPostgres()
databaseSuite({ engine: 'postgres', skip, fresh: freshSchema })

function check(
  title: string,
  run: (open: (options?: PostgresOptions) => Promise<Database>, url: string, t: TestContext) => Promise<void>,
): void {
  test(`postgres: ${title}`, { skip, timeout: 60_000 }, async (t) => {
    const url = await freshSchema()
    const open = (options: PostgresOptions = {}): Promise<Database> =>
      openTestDatabase(t, url, { migrations, ...options })
    await run(open, url, t)
  })
}

check('a commit is one round trip, and one transaction', async (open) => {
  const database = await open()
  const [[a], [b]] = await database.commit([op(transactionOf1, [[]]), op(transactionOf2, [[]])])
  assert.ok(a)
  assert.equal(a.id, b?.id)
  const [[c]] = await database.commit([op(transactionOf1, [[]])])
  assert.notEqual(c?.id, a.id)
})

check('a durable commit is flushed to disk when it resolves', async (open, url) => {
  const database = await open()
  for (let i = 0; i < 20; i++) {
    const [, [written]] = await database.commit([op(addUsers, [user('1', `u${i}`)]), op(logPosition, [[]])])
    const [disk] = await query(url, `select pg_current_wal_flush_lsn() > '${written?.lsn}' as reached`)
    assert.equal(disk?.reached, true)
  }
})

check('the writer connection commits without waiting for the disk', async (open) => {
  const database = await open()
  const [[row]] = await database.commit([op(synchronousCommit, [[]])])
  assert.equal(row?.setting, 'off')
})

check('a statement that failed can be prepared again', async (open) => {
  const database = await open()
  const divide = statement<{ n: number }>('divide', { n: 'bigint' }, { route: 'n' })`
    select r.n, 1 / r.n as result from ${rows} r`
  // The statement fails when it is first prepared, when it is already prepared, and after other statements.
  for (let i = 0; i < 3; i++) {
    await assert.rejects(database.commit([op(divide, [[0]])]), /divide: division by zero/)
    await database.commit([op(addUsers, [user('1', `u${i}`)])])
    assert.deepEqual(await database.commit([op(divide, [[1]])]), [[{ n: 1, result: 1 }]])
  }
})

check('two processes never hold the same lock, and SIGKILL frees it', async (open, url, t) => {
  const other = await forkDatabase(t, url)
  const database = await open()
  const owner = (await other.call('owner')) as string
  assert.equal(await other.call('own', '1/push'), true)
  assert.equal(await database.own('1/push'), undefined)
  assert.ok(await database.own('2/push'))
  assert.equal(await other.call('own', '2/push'), false)
  assert.deepEqual(await database.alive([owner, database.owner, 'nobody']), new Set([owner, database.owner]))

  await other.kill()
  const lock = await until(() => database.own('1/push'), { awaited: 'the lock of a killed process is free' })
  assert.equal(lock.lost.aborted, false)
  assert.deepEqual(await database.alive([owner, database.owner]), new Set([database.owner]))
})

check('a lock released by one process can be acquired by another', async (open, url, t) => {
  const other = await forkDatabase(t, url)
  const database = await open()
  const lock = await database.own('1/push')
  assert.equal(await other.call('own', '1/push'), false)
  await lock?.release()
  assert.equal(await other.call('own', '1/push'), true)
})

check(
  'a process that is suspended for longer than the lease loses its locks, and cannot commit when it resumes',
  async (open, url, t) => {
    const other = await forkDatabase(t, url, { leaseMs: 1_000 })
    const database = await open()
    const before = (await other.call('owner')) as string
    await other.call('own', '1/push')
    other.stop()
    assert.ok(await until(() => database.own('1/push'), { awaited: 'the lease ends' }))
    assert.deepEqual(await database.alive([before]), new Set())

    const commit = other.call('add', '1', 'stale')
    other.resume()
    await assert.rejects(commit, /connection lost|not connected|idle-session timeout/)
    await other.reported('lost 1/push')
    await until(
      () =>
        other.call('add', '1', 'fresh').then(
          () => true,
          () => false,
        ),
      { awaited: 'the process connects again' },
    )
    assert.notEqual(await other.call('owner'), before)
    assert.equal(await other.call('own', '1/push'), false)
    assert.deepEqual(
      (await users(database)).map(({ id }) => id),
      ['fresh'],
    )
  },
)

check('an idle session sends three heartbeats within the time after which the server ends it', async (open, url, t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const leaseMs = 60_000
  const database = await open({ leaseMs })
  const lock = await database.own('1/push')
  const [[row]] = await database.commit([op(idleTimeout, [[]])])
  assert.equal(row?.setting, '1min')
  const { pid } = await writerOf(database)
  const lastUse = async (): Promise<number> => {
    const [at] = await query(
      url,
      `select extract(epoch from state_change)::float as s from pg_stat_activity where pid = ${pid}`,
    )
    return at?.s as number
  }
  for (let third = 0; third < 3; third++) {
    const before = await lastUse()
    t.mock.timers.tick(leaseMs / 3)
    await until(async () => (await lastUse()) > before, { awaited: 'the session has sent a heartbeat' })
  }
  assert.equal(lock?.lost.aborted, false)
})

check('a session that stalls within a transaction is ended when another process wants its lock', async (open, url) => {
  const database = await open({ leaseMs: 1_000 })
  const { client: stalled } = await openSession(url)
  await stalled.query(`select pg_advisory_lock(hashtextextended('bellwire ' || current_schema() || ' own 1/push', 0))`)
  const ended = halfTransaction(stalled)
  // On a slow machine, our own session may also lose its lease.
  const own = () => database.own('1/push').catch(() => undefined)
  assert.ok(await until(own, { awaited: 'the lock of the session is free' }))
  assert.match(String(await ended), /terminating connection/)
})

check('an owner whose session stalls within a transaction is not alive after its lease', async (open, url) => {
  const database = await open({ leaseMs: 1_000 })
  const { client: stalled } = await openSession(url)
  await stalled.query(
    `select pg_advisory_lock(hashtextextended('bellwire ' || current_schema() || ' owner 4711-x', 0))`,
  )
  // On a slow machine, our own session may also lose its lease.
  const readAlive = () => database.alive(['4711-x']).catch(() => undefined)
  assert.equal((await until(readAlive, { awaited: 'the session of ours' })).has('4711-x'), true)
  const ended = halfTransaction(stalled)
  await until(async () => (await readAlive())?.has('4711-x') === false, { awaited: 'the owner is not alive' })
  assert.match(String(await ended), /terminating connection/)
})

check(
  'a connection without its lock counts as lost, because a transaction pooler has switched it',
  async (open, _, t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const database = await open({ leaseMs: 60_000 })
    const lock = await database.own('1/push')
    const lost = event('store.lost')
    await database.commit([op(unlockAll, [[]])], { durable: false })
    t.mock.timers.tick(20_000)
    assert.match((await lost).error, /session pooler/)
    assert.equal(lock?.lost.aborted, true)
  },
)

check(
  'when the connection is killed, waiting commits are rejected, and the next connection has a new owner',
  async (open, url) => {
    const database = await open()
    const { pid } = await writerOf(database)
    const lock = await database.own('1/push')
    const owner = database.owner
    const sleeping = database.commit([op(addUsers, [user('1', 'asleep')]), op(sleep, [[]])])
    await until(
      async () =>
        (await query(url, `select 1 from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`)).length,
      { awaited: 'the statement is running' },
    )
    const waiting = range(3).map((i) => database.commit([op(addUsers, [user('1', `waiting${i}`)])]))
    const [lost, back] = [event('store.lost'), event('store.back')]
    const answers = Promise.allSettled([sleeping, ...waiting])
    await query(url, `select pg_terminate_backend(${pid})`)

    for (const answer of await answers) {
      assert.equal(answer.status, 'rejected')
      assert.ok((answer as PromiseRejectedResult).reason instanceof StoreUnavailable)
    }
    await lost
    assert.equal(lock?.lost.aborted, true)
    await assert.rejects(database.commit([op(addUsers, [user('1', 'while disconnected')])]), StoreUnavailable)

    await back
    assert.notEqual(database.owner, owner)
    assert.deepEqual(await database.alive([owner, database.owner]), new Set([database.owner]))
    await database.commit([op(addUsers, [user('1', 'back')])])
    assert.ok(await database.own('1/push'))
    assert.deepEqual(
      (await users(database)).map(({ id }) => id),
      ['back'],
    )
  },
)

check('a reader killed between reads is replaced', async (open, url) => {
  const database = await open({ readers: 1 })
  const readerOf = async () => (await database.read(op(backend, [[]])))[0]?.pid
  const before = await readerOf()
  await query(url, `select pg_terminate_backend(${before})`)
  const after = await until(() => readerOf().catch(() => undefined), { awaited: 'reads work again' })
  assert.notEqual(after, before)
})

check('a transaction that exceeds its timeout is rejected', async (open) => {
  const database = await open({ answerWithinMs: 300 })
  await assert.rejects(database.commit([op(sleep, [[]])]), StoreUnavailable)
  await database.commit([op(addUsers, [user('1', 'next')])])
})

check('wake() notifies every process, also after the listener was killed', async (open, url, t) => {
  const other = await forkDatabase(t, url)
  const database = await open()
  await other.call('listen', 'lane 1')
  await database.commit([database.wake('lane 1')])
  await other.reported('woken lane 1')

  let ownNotifications = 0
  database.onWake('lane 1', () => ownNotifications++)
  await database.commit([database.wake('lane 1')])
  const woken = new Promise<void>((resolve) => database.onWake('lane 2', resolve))
  await other.call('wake', 'lane 2')
  await woken
  // Notifications arrive in commit order: our own arrived first, and did not run the listener a second time.
  assert.equal(ownNotifications, 1)

  const again = new Promise<void>((resolve) => database.onWake('lane 3', resolve))
  // Other tests have listeners at the same server, in other schemas.
  const killed = await query(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen ' || ${wakeChannel}`,
  )
  assert.equal(killed.length, 2)
  // After the reconnection every listener is notified, since notifications may have been missed.
  await again
})

check('schemas of one database are independent', async (open) => {
  const [here, there] = [await open(), await openDatabase(await freshSchema(), { migrations })]
  await here.commit([op(addUsers, [user('1', '1001')])])
  assert.ok(await here.own('1/push'))
  assert.ok(await there.own('1/push'))
  assert.deepEqual(await there.read(op(allUsers, [[]])), [])
  assert.deepEqual(await there.alive([here.owner]), new Set())
  await there.close()
})

check('several processes that start at once apply each migration once', async (open) => {
  const databases = await Promise.all(range(4).map(() => open()))
  await Promise.all(databases.map((database, i) => database.commit([op(addUsers, [user('1', `u${i}`)])])))
  assert.equal((await users(databases[0] as Database)).length, 4)
})

/** Executes a statement without ever ending the request. Resolves with the error that ends it. */
function halfTransaction(client: pg.Client): Promise<Error> {
  const { promise, resolve } = Promise.withResolvers<Error>()
  client.query({
    submit(connection: pg.Connection) {
      connection.parse({ name: '', text: 'select 1', types: [] }, true)
      connection.bind({}, true)
      connection.execute({}, true)
      ;(connection as unknown as { flush(): void }).flush()
    },
    handleDataRow() {},
    handleCommandComplete() {},
    handleError: resolve,
  } as pg.Submittable)
  return promise
}

interface Backend {
  readonly pid: number
}

const writerOf = async (database: Database): Promise<Backend> =>
  (await database.commit([op(backend, [[]])]))[0][0] as Backend

const backend = statement<Backend>('backend', {})`select pg_backend_pid() as pid`
const sleep = statement('sleep', {})`select pg_sleep(30)`
const unlockAll = statement('unlock_all', {})`select pg_advisory_unlock_all()`
const logPosition = statement<{ lsn: string }>('log_position', {})`
  select pg_current_wal_insert_lsn()::text as lsn`

const idleTimeout = statement<{ setting: string }>('idle_timeout', {})`
  select current_setting('idle_session_timeout') as setting`
const synchronousCommit = statement<{ setting: string }>('synchronous_commit', {})`
  select current_setting('synchronous_commit') as setting`
const transactionOf1 = statement<{ id: string }>('xact1', {})`select pg_current_xact_id()::text as id`
const transactionOf2 = statement<{ id: string }>('xact2', {})`select pg_current_xact_id()::text as id`

const insertTimeout = statement<{ value: string }>('insert_timeout', {})`
  insert into timeouts select current_setting('idle_session_timeout') returning value`

check(
  'the lease is the idle_session_timeout of the session, also if ALTER ROLE sets another one',
  async (open, url, t) => {
    await (await open()).close()
    await query(url, 'create table timeouts (value text)')
    const role = `role_${process.pid}`
    await query(url, `create role ${role} login superuser password 'secret'`)
    await query(url, `alter role ${role} set idle_session_timeout = '1h'`)
    const address = Object.assign(new URL(url), { username: role, password: 'secret' })
    const database = await openDatabase(address.href, { migrations })
    t.after(async () => {
      await database.close()
      await query(url, `drop role ${role}`)
    })
    const [[timeout]] = await database.commit([op(insertTimeout, [[]])])
    assert.ok(timeout && timeout.value !== '1h')
  },
)
