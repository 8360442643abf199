// What the app of one user may write.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import type { StampedEvent } from '../../src/subjects/devices/device-event.ts'
import { takeOwn } from '../../src/subjects/devices/own-changes.ts'
import { createRegistry, deviceMigrations } from '../../src/subjects/devices/registry.ts'
import { deviceOf } from '../suites/devices.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'

const countUnlinks = statement<{ unlinks: number }>('count_unlinks', {})`
  select count(*) as unlinks from device_unlinks u`

async function open(t: TestContext, store: string) {
  const database = await openTestDatabase(t, store, { migrations: deviceMigrations })
  const published: StampedEvent[] = []
  const outbox = {
    publishOps(events: readonly StampedEvent[]) {
      published.push(...events)
      return []
    },
  }
  return { database, registry: createRegistry({ database, outbox }), published }
}

onEachEngine('a link that an app repeats within an hour is not published again', async (t, store) => {
  const { registry, published } = await open(t, store)
  const repeated = { ...deviceOf(), origin: 'app' }
  for (let n = 0; n < 3; n++) await takeOwn(registry, [repeated], 20)
  await takeOwn(registry, [{ ...repeated, what: 'unlink' }], 20)
  await takeOwn(registry, [{ ...repeated, what: 'unlink' }], 20)
  await takeOwn(registry, [deviceOf({ token: 'another' })], 20)
  assert.deepEqual(
    published.map(({ what, token }) => `${what} ${token}`),
    ['link token-1', 'unlink token-1', 'link another'],
  )
})

onSqlite('a user whose app links new tokens every day has at most a hundred rows', async (t, store) => {
  const { registry, database } = await open(t, store)
  let now = Date.now()
  t.mock.method(clock, 'now', () => now)
  for (let day = 0; day < 4; day++, now += 25 * 3_600_000)
    for (let n = 0; n < 50; n++) await takeOwn(registry, [deviceOf({ token: `t-${day}-${n}` })], 20)
  assert.equal((await registry.ownRows('1', 'a')).length, 100)
  assert.equal((await registry.list('1', 'a')).length, 20)
  assert.ok(((await database.read(op(countUnlinks, [[]])))[0]?.unlinks ?? 0) <= 100)
})
