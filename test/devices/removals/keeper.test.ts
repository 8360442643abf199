// The state of the removal brake survives a restart, and all processes share it.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Database } from '../../../src/base/store/database.ts'
import { operatorMigrations } from '../../../src/sides/operator/store.ts'
import type { Device } from '../../../src/subjects/devices/device.ts'
import { minuteMs } from '../../../src/subjects/devices/removals/brake.ts'
import { createRemovalKeeper, type RemovalKeeper } from '../../../src/subjects/devices/removals/keeper.ts'
import { onEachEngine, onPostgres, onSqlite } from '../../support/engines.ts'
import { openTestDatabase } from '../../support/open-test-database.ts'
import { device } from '../../support/push-services.ts'
import { event, until } from '../../support/wait.ts'

const open = (t: TestContext, store: string): Promise<Database> =>
  openTestDatabase(t, store, { migrations: operatorMigrations })
async function startKeeper(t: TestContext, database: Database, now: () => number = Date.now): Promise<RemovalKeeper> {
  const keeper = createRemovalKeeper({ database, now })
  await keeper.start()
  t.after(() => keeper.stop())
  return keeper
}
const deviceOf = (i: number, over: Partial<Device> = {}): Device =>
  device({ userId: `user ${i}`, token: `device ${i}`, ...over })
/** Requests `count` removals, each after a send. @returns the number of allowed removals */
function remove(brake: RemovalKeeper, service: string, from: number, count: number): number {
  let allowed = 0
  for (let i = from; i < from + count; i++) {
    brake.recordSend(service)
    if (brake.mayRemove(service, deviceOf(i))) allowed++
  }
  return allowed
}

onEachEngine(
  'the 101st removal is refused and stops the removals of its service, across a restart, until a confirmation',
  async (t, store) => {
    const database = await open(t, store)
    const first = await startKeeper(t, database)
    const stopped = event('removals.stopped')
    const alert = event('provider.alert')
    assert.equal(remove(first, 'fcm', 0, 150), 100)
    assert.deepEqual(await stopped, { service: 'fcm', removals: 101, sends: 101 })
    assert.match((await alert).remedy, /bellwire removals confirm fcm/)
    assert.equal(remove(first, 'apns', 0, 50), 50, 'removals of the other service continue')
    await first.stop()

    const second = await startKeeper(t, database)
    assert.equal(remove(second, 'fcm', 200, 1), 0)
    const [state] = second.state().filter(({ service }) => service === 'fcm')
    assert.partialDeepStrictEqual(state, { stopped: true, stoppedFor: { removals: 101, sends: 101 } })
    assert.equal(remove(second, 'apns', 50, 50), 50, 'removals by another process count')
    assert.equal(remove(second, 'apns', 100, 1), 0)

    const confirmed = event('removals.confirmed')
    assert.equal(await second.confirm('fcm', 'ops', 60_000), true)
    assert.deepEqual(await confirmed, { service: 'fcm', by: 'ops' })
    assert.equal(await second.confirm('fcm', 'ops', 60_000), false, 'the removals are no longer stopped')
    assert.equal(remove(second, 'fcm', 300, 500), 500, 'after a confirmation, removals are not counted')
    assert.equal(remove(second, 'apns', 200, 1), 0, 'the other service is still stopped')
  },
)

onSqlite('a device that is removed several times counts once; sends raise the limit', async (t, store) => {
  const brake = await startKeeper(t, await open(t, store))
  for (let i = 0; i < 100; i++) assert.equal(brake.mayRemove('fcm', deviceOf(1_000)), true)
  assert.equal(remove(brake, 'fcm', 0, 99), 99)
  for (let i = 0; i < 1_009 - 99; i++) brake.recordSend('fcm')
  assert.equal(remove(brake, 'fcm', 100, 1), 1, '101 of 1,010 is not more than a tenth')
  assert.equal(remove(brake, 'fcm', 101, 1), 0, '102 of 1,011 is')
})

onSqlite('tokens of apps that never accepted a push do not stop the removals', async (t, store) => {
  const brake = await startKeeper(t, await open(t, store))
  for (let i = 0; i < 1_000; i++) assert.equal(brake.mayRemove('fcm', deviceOf(i, { unproven: true })), true)
  assert.equal(remove(brake, 'fcm', 0, 101), 100)
  assert.equal(brake.mayRemove('fcm', deviceOf(1_000, { unproven: true })), false, 'a stop applies to all devices')
})

onSqlite('removals older than eleven minutes, or allowed by a confirmation, do not count', async (t, store) => {
  let time = 10_000 * minuteMs
  const brake = await startKeeper(t, await open(t, store), () => time)
  assert.equal(remove(brake, 'fcm', 0, 100), 100)
  time += 11 * minuteMs
  assert.equal(remove(brake, 'fcm', 100, 101), 100)
  assert.equal(await brake.confirm('fcm', 'ops', 5 * minuteMs), true)
  assert.equal(remove(brake, 'fcm', 300, 1_000), 1_000)
  time += 5 * minuteMs
  assert.equal(remove(brake, 'fcm', 2_000, 101), 100, 'after the confirmation, removals are counted again')
})

onSqlite('no device is removed before the stored stops are read', async (t, store) => {
  const brake = createRemovalKeeper({ database: await open(t, store) })
  assert.equal(brake.mayRemove('fcm', deviceOf(1)), false)
})

onPostgres('a stop by one process and a confirmation at another take effect in all processes', async (t, store) => {
  const one = await startKeeper(t, await open(t, store))
  const two = await startKeeper(t, await open(t, store))
  assert.equal(remove(one, 'fcm', 0, 101), 100)
  const isStopped = (brake: RemovalKeeper) => brake.state().some(({ stopped }) => stopped)
  await until(() => isStopped(two), { awaited: 'the other process has read the stop' })
  assert.equal(remove(two, 'fcm', 200, 1), 0)
  assert.equal(await two.confirm('fcm', 'ops', 60_000), true)
  await until(() => !isStopped(one), { awaited: 'the first process has read the confirmation' })
  assert.equal(remove(one, 'fcm', 300, 1), 1)
})
