// A person who was erased after the backup is erased again after the restore, from a list without user ids. Events from before the
// erasure that arrive afterwards bring nothing back.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { BrokerConsumer } from '../../src/base/brokers/consumer.ts'
import { erasedPerson } from '../../src/base/people/digest.ts'
import type { ListedErasure } from '../../src/base/people/erasures.ts'
import { repeatErasures } from '../../src/base/people/repeat-erasures.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { platformDatabases } from '../../src/sides/platform/stores.ts'
import { run } from '../cli/bellwire.ts'
import { onPostgres, onSqlite } from '../support/engines.ts'
import { erase, reportOf } from '../support/erase.ts'
import { freshSchema, query } from '../support/services/postgres.ts'
import { adminKey, get, post, temporary } from '../support/sides.ts'
import {
  assertGone,
  ofUser,
  person,
  plantOperator,
  plantPlatform,
  startPlantedOperator,
  startPlantedPlatform,
} from './planted.ts'

const env = { BELLWIRE_KEY: adminKey.key }

/** Repeats a request of the platform and a link, both from before the erasure, to a restored operator. */
async function assertHeld(t: TestContext, store: string, erasure: string, first: unknown): Promise<void> {
  const { url, stop, repeat } = await startPlantedOperator(t, store)
  await reportOf(url, erasure)
  assert.deepEqual((await repeat()).body, first, 'it is answered as before the erasure')
  await post(
    `${url}/admin/devices/link`,
    {
      brand: 1,
      user_id: person.userId,
      timestamp: '2026-01-01T10:00:00Z',
      tokens: [{ token: person.token, provider: 'firebase', channel: 'android' }],
    },
    adminKey.key,
  )
  const { messages, devices } = (await get(`${url}/admin/people/1/${person.userId}`)).body
  assert.deepEqual({ messages, devices }, { messages: [], devices: [] })
  // The questions of this test are in the audit trail.
  await erase(url, person.userId)
  await stop()
  await assertGone(store)
}

const configOf = (store: string, folder: string): string =>
  `operator: {store: '${store}', suppression: none, push: {provider: recording, file: ${join(folder, 'out')}}, keys: [{name: p, key: ${adminKey.key}, brands: [1]}]}\n`

/** The line of an erasure that the store does not have. */
async function listedLater(url: string): Promise<ListedErasure & { readonly side: string }> {
  await erase(url, 'somebody else')
  const listed = await fetch(`${url}/admin/people/erasures`, { headers: { 'x-api-key': adminKey.key } })
  const known = (await listed.json()) as ListedErasure & { readonly side: string }
  const at = Date.now()
  return { ...known, id: uuidv7(), at, digest: erasedPerson(person, known.secret, at).userDigest }
}

test('erasures after a backup are repeated by the list when the backup is restored', async (t) => {
  const folder = await temporary(t)
  const [out, list, config] = ['backup', 'erasures.ndjson', 'bellwire.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const lost = await plantOperator(t, `sqlite:${join(folder, 'lost.db')}`)
  const first = (await lost.repeat()).body
  const backup = await run(['backup', 'operator', '--out', out, '--url', lost.url], env)
  assert.equal(backup.code, 0, backup.err)
  const args = ['person', 'erase', '--brand', '1', '--user', person.userId, '--url', lost.url]
  const erased = await run([...args, '--list', list], env)
  assert.equal(erased.code, 0, erased.err)
  const listed = await readFile(list, 'utf8')
  assert.doesNotMatch(listed, new RegExp(person.userId))
  // An erasure that a restored store does not have stays in the list.
  const earlier = JSON.stringify({ ...JSON.parse(listed), id: '0', digest: 'of an earlier erasure' })
  await writeFile(list, `${earlier}\n`)
  const again = await run(['person', 'erasures', '--out', list, '--url', lost.url], env)
  assert.deepEqual([again.code, await readFile(list, 'utf8')], [0, `${earlier}\n${listed}`], again.err)
  await writeFile(list, listed.replace(/"secret":"[^"]+"/, '"secret":"of another store"'))
  const foreign = await run(['person', 'erasures', '--out', list, '--url', lost.url], env)
  assert.match(foreign.err, /is the list of another store: brand 1 of the operator has another secret/)
  await writeFile(list, listed)
  await lost.stop()

  const store = `sqlite:${join(folder, 'restored', 'operator.db')}`
  await writeFile(config, configOf(store, folder))
  const restore = (...more: string[]) => run(['restore', out, '-c', config, ...more])
  const forgotten = await restore()
  assert.deepEqual([forgotten.code, /give the list of erasures/.test(forgotten.err)], [2, true], forgotten.err)
  const wrong = await restore('--erasures', config)
  assert.deepEqual([wrong.code, /is no list of `bellwire person erasures`/.test(wrong.err)], [2, true], wrong.err)
  const restored = await restore('--erasures', list)
  assert.equal(restored.code, 0, restored.err)
  assert.match(
    restored.out,
    /^The list has 1 erasure, the latest of \S+Z\. Repeated as soon as the operator runs: 1\.$/m,
  )
  await assertHeld(t, store, JSON.parse(listed).id, first)
})

onPostgres('erasures are repeated by the list in a database that PostgreSQL restored', async (t, store) => {
  const folder = await temporary(t)
  const [list, config] = [join(folder, 'erasures.ndjson'), join(folder, 'bellwire.yaml')]
  const side = await plantOperator(t, store)
  const first = (await side.repeat()).body
  const later = await listedLater(side.url)
  await side.stop()
  await writeFile(list, `${JSON.stringify(later)}\n`)
  await writeFile(config, configOf(store, folder))
  const args = ['restore', 'operator', '--at', '2026-01-31T10:00:00Z', '--erasures', list, '-c', config]
  const restored = await run(args)
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /^operator: the store is restored, as of 2026-01-31T10:00:00.000Z\./)
  assert.match(restored.out, /Repeated as soon as the operator runs: 1\.$/m)
  await assertHeld(t, store, later.id, first)
})

onPostgres(
  'of several databases that PostgreSQL restored, each gets the pauses and the erasures of its brands',
  async (t, store) => {
    const folder = await temporary(t)
    const [list, config] = [join(folder, 'erasures.ndjson'), join(folder, 'bellwire.yaml')]
    const east = await freshSchema()
    const lanes = [1, 2, 3].map((brand) => ({ brand, channel: 'push', to: 'own' }))
    const own = { push: { provider: 'recording', file: join(folder, 'out') }, suppression: 'none' }
    const stores = [{ number: 1, url: east, brands: [2] }]
    await writeFile(config, JSON.stringify({ platform: { store, stores, lanes, own } }))
    const erasureOf = (brand: string) => {
      const [at, secret] = [Date.now(), brand.repeat(64)]
      const { userDigest: digest } = erasedPerson({ brand, userId: 'mary' }, secret, at)
      return JSON.stringify({ side: 'platform', id: uuidv7(), brand, at, digest, secret })
    }
    await writeFile(list, `${erasureOf('1')}\n${erasureOf('2')}\n`)
    const args = ['restore', 'platform', '--at', '2026-01-31T10:00:00Z', '--erasures', list, '-c', config]
    const restored = await run(args)
    assert.equal(restored.code, 0, restored.err)
    assert.match(restored.out, /^Paused: 1\/push, 2\/push, 3\/push\./m)
    for (const [url, paused, brands] of [
      [store, ['1/push', '3/push'], ['1']],
      [east, ['2/push'], ['2']],
    ] as const) {
      const controls = await query(url, 'select scope from controls order by scope')
      assert.deepEqual(
        controls.map(({ scope }) => scope),
        paused,
      )
      const secrets = await query(url, 'select distinct brand from erasures')
      assert.deepEqual(
        secrets.map(({ brand }) => brand),
        brands,
      )
      const entries = await query(url, `select act from audit where act = 'restore'`)
      assert.equal(entries.length, 1)
    }
  },
)

onSqlite('late events of a person who was erased again bring nothing back to a restored platform', async (t, store) => {
  // A record that cannot be read, because its expiry is none. It names the user, and the broker delivers it again.
  const delivered: (() => void)[] = []
  const consumer: BrokerConsumer = {
    name: 'broker',
    async consume(take) {
      const body = Buffer.from(JSON.stringify({ ...ofUser(4, person), expires_at: 'soon' }))
      await take([{ type: 'push', body, from: 'broker' }])
      for (const notify of delivered.splice(0)) notify()
    },
  }
  const intake = { intake: [{ consumer }] }
  const planted = new Promise<void>((resolve) => delivered.push(resolve))
  const before = await plantPlatform(t, store, intake)
  await planted
  const later = await listedLater(before.url)
  const { ref } = (await before.messagesOf(person)).find((each: { ref?: string }) => each.ref !== undefined)
  await before.stop()
  const databases = await Promise.all(
    platformDatabases({ store }).map(({ url, migrations }) => openDatabase(url, { migrations })),
  )
  const [database] = databases as [Database]
  assert.equal(await repeatErasures(database, databases, [later], 'the test'), 1)
  await Promise.all(databases.map((each) => each.close()))

  const repeated = new Promise<void>((resolve) => delivered.push(resolve))
  const platform = await startPlantedPlatform(t, store, intake)
  await repeated
  await reportOf(platform.url, later.id)
  await platform.enqueue([1, 2, 3].map((id) => ofUser(id, person)))
  await platform.link(person)
  const meta = { activity: { ...ofUser(1, person).activity } }
  const status = { channel: 'push', status: 'delivered', timestamp: '2026-01-01T10:00:00Z', meta }
  // The store may lack the message: its identifier is unknown then.
  const reported = await platform.report([ref, 'lost identifier'].map((push_id) => ({ ...status, push_id })))
  assert.equal(reported.body.accepted, 2, reported.text)
  const held = (await get(`${platform.url}/admin/people/1/${person.userId}`)).body
  assert.deepEqual([held.items, held.devices, held.attributes], [[], [], []])
  await erase(platform.url, person.userId)
  await platform.stop()
  await assertGone(store)
})
