// No statement of the main path scans a whole table, because it would slow down with each stored message. SQLite has different
// plans for one row and for several rows, so the tests run both.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { person, plantOperator, plantPlatform } from '../people/planted.ts'
import { add, openStatuses, readAll, sent } from '../status/open-statuses.ts'
import { onSqlite } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import { adminKey, element, get, post, startOperator, startPlatform, temporary, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const large =
  'messages|requests|refusals|calls|device_sends|items|waiting|settled|failed|attempts|identifiers|inbox|devices|device_unlinks|device_removals|statuses|status_messages|reported_statuses|discrepancies|crm_users'

/** Watches every statement that is prepared. @returns a function that lists the plans that scan a large table or index it on the fly */
function watchPlans(t: TestContext): () => readonly string[] {
  const { prepare } = DatabaseSync.prototype
  const scans = new Set<string>()
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    const plan = prepare.call(this, `explain query plan ${text}`)
    const values = Array.from({ length: text.match(/\?/g)?.length ?? 0 }, () => null)
    for (const { detail } of plan.all(...values)) {
      const [, table] = /^SCAN (\w+)/.exec(String(detail)) ?? []
      const ofLarge =
        table !== undefined && new RegExp(`\\b(${large})( ${table}\\b|$)|^(${large})$`, 'm').test(`${text}\n${table}`)
      if (ofLarge || /AUTOMATIC/.test(String(detail))) scans.add(`${detail}: ${text}`)
    }
    return prepare.call(this, text)
  })
  return () => [...scans]
}

/** Users whose name begins with `bad` are refused. */
function answer({ userId, ref }: Message): Result {
  return userId.startsWith('bad')
    ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
    : { category: 'successful', ref, rule: 'accepted' }
}

test('an operator reads no large table whole to claim, repeat, settle and find messages', async (t) => {
  const scans = watchPlans(t)
  const { url } = await startOperator(t, { push: witness(answer) })
  const elements = ['1001', '1002', 'bad-1', 'bad-2'].map((user_id) => element({ user_id }))
  const push = (body: unknown) => post(`${url}/channels/push/${Array.isArray(body) ? 'batch' : 'single'}`, body)
  const batch = elements.map(({ activity }) => element({ user_id: activity.user_id }))
  for (let i = 0; i < 2; i++) {
    await Promise.all([...elements, batch].map(push))
    await push(elements[0])
    await Promise.all(elements.map((each) => post(`${url}/channels/site/single`, each)))
  }
  const { push_id: ref } = (await push(element())).body
  for (const search of [`/${ref}`, '?user_id=1001&brand=1', `?id=${elements[0]?.activity.id}`])
    assert.equal((await get(`${url}/admin/messages${search}`)).status, 200)
  assert.deepEqual(scans(), [])
})

test('a platform reads no large table whole to store, settle, find, replay and dismiss messages', async (t) => {
  const scans = watchPlans(t)
  const lane = { brand: '1', mode: 'batch', provider: witness(answer) } as const
  const { url } = await startPlatform(t, {
    lanes: [
      { ...lane, channel: 'push' },
      { ...lane, channel: 'site' },
    ],
  })
  const put = (users: readonly string[]) =>
    post(
      `${url}/admin/activities/push`,
      users.map((user_id) => element({ user_id })),
      adminKey.key,
    )
  const failed = async (): Promise<number> => (await get(`${url}/admin/failed`)).body.items.length
  for (const users of [['1001', '1002', 'bad-1', 'bad-2', '1003', 'bad-3'], ['bad-4'], ['1001']]) await put(users)
  await until(async () => (await failed()) === 4, { awaited: 'four Failed Actions' })
  await post(`${url}/admin/failed/replay`, { user: 'bad-1' }, adminKey.key)
  await until(async () => (await failed()) === 4, { awaited: 'four Failed Actions after the decision' })
  await post(`${url}/admin/failed/replay`, { lane: '1/push' }, adminKey.key)
  await until(async () => (await failed()) === 4, { awaited: 'four Failed Actions after the decision' })
  for (const path of ['?lane=1/push&user=bad-1', '?seqs=1,3', '/3', '/summary'])
    assert.equal((await get(`${url}/admin/failed${path}`)).status, 200)
  await post(`${url}/admin/failed/dismiss`, { error: 'no', preview: true }, adminKey.key)
  await post(`${url}/admin/failed/dismiss`, { all: true }, adminKey.key)
  for (const search of ['?user_id=1001&brand=1', '?ref=none', '?id=1'])
    assert.equal((await get(`${url}/admin/messages${search}`)).status, 200)
  assert.deepEqual(scans(), [])
})

onSqlite('a poll of statuses reads no large table whole, for one brand or for several', async (t, store) => {
  const scans = watchPlans(t)
  const statuses = await openStatuses(t, store)
  await add(statuses, sent(), sent({ brand: '2' }))
  for (const brands of [['1'], ['1', '2']]) await readAll(statuses.pages, undefined, brands)
  // This index has the statuses without a number only.
  assert.deepEqual(
    scans().filter((scan) => !scan.includes('statuses_without_number')),
    [],
  )
})

test('export and erasure of a person read no large table whole', async (t) => {
  const scans = watchPlans(t)
  for (const { url } of [
    await plantOperator(t, 'sqlite::memory:'),
    await plantPlatform(t, `sqlite:${join(await temporary(t), 'platform.db')}`),
  ]) {
    assert.equal((await get(`${url}/admin/people/1/${person.userId}`)).status, 200)
    await erase(url, person.userId)
    // Once more, with the erased users in memory.
    await erase(url, person.userId)
  }
  // This statement has a column `items`, and reads its input rows.
  assert.deepEqual(
    scans().filter((scan) => !scan.includes('update cancellations set cancelled')),
    [],
  )
})
