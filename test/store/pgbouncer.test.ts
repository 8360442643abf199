// A session pooler is as good as the server. A pooler that shares sessions would lose the locks that coordinate the processes.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { inspectStore } from '../../src/base/store/inspect-store.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { type Pgbouncer, pgbouncerService, startPgbouncer } from '../support/services/pgbouncer.ts'
import { postgres, query, withoutPostgres } from '../support/services/postgres.ts'
import { addressOf, without } from '../support/services/service.ts'
import { adminKey, element, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { migrations } from './users.ts'

const skip = (await withoutPostgres()) || (await without(pgbouncerService))
const refusal = /pooler that shares sessions: connect directly or through a session pooler/

const asBoolean = [() => true, () => false] as const

/** PgBouncer in front of a new database. */
async function pooledDatabase(poolMode: 'transaction' | 'statement' | 'session'): Promise<Pgbouncer> {
  const { url: server } = await postgres()
  const name = `pooled_${randomBytes(6).toString('hex')}`
  await query(server, `create database ${name}`)
  const direct = new URL(server)
  direct.pathname = `/${name}`
  const pooler = await startPgbouncer(await addressOf(pgbouncerService), direct.href, poolMode)
  return {
    ...pooler,
    async end() {
      await pooler.end()
      await query(server, `drop database ${name} with (force)`)
    },
  }
}

for (const poolMode of ['transaction', 'statement'] as const)
  test(`PgBouncer with pool_mode = ${poolMode} is refused at the start and by doctor`, { skip }, async (t) => {
    const { url, end } = await pooledDatabase(poolMode)
    t.after(end)
    const [finding] = await inspectStore(url, [])
    await assert.rejects(openDatabase(url, { migrations }), refusal)
    assert.deepEqual([finding?.ok, refusal.test(finding?.description ?? '')], [false, true], finding?.description)
  })

test('both sides work through PgBouncer in session mode, each in its schema, and go on when it was restarted', {
  skip,
}, async (t) => {
  const pooler = await pooledDatabase('session')
  const store = (schema: string): string => `${pooler.url}?schema=${schema}`
  const push = witness()
  const operator = await startOperator(t, { store: store('operator'), push })
  const [finding] = await inspectStore(store('operator'), operatorMigrations)
  assert.equal(finding?.ok, true, finding?.description)
  const provider = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const lanes = [
    { brand: '1', channel: 'push', mode: 'single', provider, retry: { firstMs: 20, mostMs: 200 } } as const,
  ]
  // One of two processes has the lane. The other one wakes it.
  const platforms = [
    await startPlatform(t, { store: store('platform'), lanes }),
    await startPlatform(t, { store: store('platform'), lanes }),
  ]
  const [one, other] = [
    await openDatabase(store('others'), { migrations }),
    await openDatabase(store('others'), { migrations }),
  ]
  t.after(() => Promise.all([one.close(), other.close()]))
  // Only now: the sides stop before it.
  t.after(() => pooler.end())

  for (const round of ['first', 'second']) {
    // A reconnection wakes all listeners once. The second time it was the notification.
    for (const topic of [`${round} time`, `${round} time again`]) {
      const woken = new Promise<void>((resolve) => other.onWake(topic, resolve))
      const commit = () => one.commit([one.wake(topic)]).then(...asBoolean)
      await until(commit, { awaited: 'a commit', withinMs: 30_000 })
      await woken
    }
    for (const { url } of platforms) {
      const record = element()
      const enqueue = () => post(`${url}/admin/activities/push`, record, adminKey.key)
      await until(async () => (await enqueue()).status === 200, { awaited: 'the record is stored', withinMs: 30_000 })
      const { id } = record.activity
      await until(() => push.received.some((message) => message.id === String(id)), {
        awaited: `message ${id} is delivered`,
        withinMs: 30_000,
      })
    }
    if (round === 'first') await pooler.restart()
  }
  assert.equal(new Set(push.received.map(({ ref }) => ref)).size, 4)
  const tables = await query(
    pooler.url,
    `select distinct schemaname from pg_tables where schemaname in ('operator', 'platform', 'public')`,
  )
  assert.deepEqual(tables.map(({ schemaname }) => schemaname).toSorted(), ['operator', 'platform'])
})
