// A deadline ends the work that was started in the operator's own database.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { AttributeSource } from '../../src/subjects/attributes/attribute-source.ts'
import { sqlSource } from '../../src/subjects/attributes/sql.ts'
import { sqlDevices } from '../../src/subjects/devices/sources/sql.ts'
import { contextOf } from '../support/context.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { until } from '../support/wait.ts'

const skip = await withoutPostgres()

/** An address of the operator's database, and the count of queries that a source runs in it. */
async function operatorDatabase(): Promise<{ url: string; countRunning(): Promise<number> }> {
  const url = await freshSchema()
  const schema = new URL(url).searchParams.get('schema')
  await query(url, `create schema ${schema}`)
  await query(url, "create table players (user_id text); insert into players values ('1001')")
  return {
    url,
    countRunning: async () => {
      // The comment marks the queries of this test.
      const text = `select count(*)::int as n from pg_stat_activity
        where state = 'active' and pid <> pg_backend_pid() and query like '%in ${schema}%'`
      return (await query(url, text))[0]?.n as number
    },
  }
}

const slow = (url: string): string =>
  `select user_id from players, pg_sleep(20) /* in ${new URL(url).searchParams.get('schema')} */`

/** Starts look-ups in rounds, each of which ends before the query does. @returns the highest count of running queries */
async function abandonLookUps(
  lookUp: () => Promise<unknown>,
  countRunning: () => Promise<number>,
  rounds: number,
): Promise<number> {
  let most = 0
  for (let round = 0; round < rounds; round++) {
    const ended = Array.from({ length: 8 }, () => assert.rejects(lookUp(), /timed out|statement timeout/))
    most = Math.max(most, await until(countRunning, { awaited: 'a running query' }))
    await Promise.all(ended)
    most = Math.max(most, await countRunning())
  }
  return most
}

function openAttributes(t: TestContext, url: string): AttributeSource {
  const source = sqlSource({ database: url, queries: { blocked: slow(url) } })
  t.after(() => source.close?.())
  return source
}

test('look-ups of attributes that time out leave no query in the operator’s database, and never run more than 4', {
  skip,
}, async (t) => {
  const { url, countRunning } = await operatorDatabase()
  const source = openAttributes(t, url)
  const most = await abandonLookUps(() => source.among('1', ['1001'], ['blocked'], contextOf(1_000)), countRunning, 2)
  assert.ok(most <= 4, `${most} queries ran at once`)
  await until(async () => (await countRunning()) === 0, { awaited: 'the end of the queries', withinMs: 5_000 })
})

test('look-ups of devices that time out leave no query in the operator’s database', { skip }, async (t) => {
  const { url, countRunning } = await operatorDatabase()
  const source = sqlDevices({
    database: url,
    devices: `select user_id as x, :users from (${slow(url)}) s`,
    timeoutMs: 30_000,
    connections: 2,
  })
  t.after(() => source.close?.())
  const most = await abandonLookUps(async () => source.findDevices('1', ['1001'], contextOf(1_000)), countRunning, 2)
  assert.ok(most <= 2, `${most} queries ran at once`)
  await until(async () => (await countRunning()) === 0, { awaited: 'the end of the queries', withinMs: 5_000 })
})

test('a stopping process ends its look-ups in the operator’s database before it closes the source', {
  skip,
}, async () => {
  const { url, countRunning } = await operatorDatabase()
  const source = sqlSource({ database: url, queries: { blocked: slow(url) } })
  const stop = new AbortController()
  const ended = assert.rejects(source.among('1', ['1001'], ['blocked'], contextOf(30_000, stop.signal)), /stopping/)
  await until(countRunning, { awaited: 'a running query' })
  stop.abort()
  await ended
  // Long before the query ends by itself.
  await until(async () => (await countRunning()) === 0, { awaited: 'the end of the query' })
  await source.close?.()
})

test('a look-up whose deadline is never enforced here ends on the server', { skip }, async (t) => {
  const { url, countRunning } = await operatorDatabase()
  const source = openAttributes(t, url)
  // As if this process were killed or cut off: the server alone knows the deadline.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lookUp = source.among('1', ['1001'], ['blocked'], contextOf(2_000))
  await assert.rejects(lookUp, /statement timeout/)
  t.mock.timers.reset()
  assert.equal(await countRunning(), 0)
})

test('a list that is cancelled while its time is read leaves no query in the operator’s database', {
  skip,
}, async (t) => {
  const { url, countRunning } = await operatorDatabase()
  const source = sqlSource({
    database: url,
    queries: { blocked: 'select user_id from players' },
    asOf: `select now() from (${slow(url)}) s`,
  })
  t.after(() => source.close?.())
  const cancel = new AbortController()
  const ended = assert.rejects(Promise.resolve(source.all?.('1', 'blocked', { signal: cancel.signal })))
  await until(countRunning, { awaited: 'a running query' })
  cancel.abort()
  await ended
  await until(async () => (await countRunning()) === 0, { awaited: 'the end of the query', withinMs: 5_000 })
})
