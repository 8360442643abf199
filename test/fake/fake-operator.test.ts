// The fake operator with each behaviour, called as a platform calls it.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Arrival } from '../../src/tools/fake/arrival.ts'
import { type FakeOperatorOptions, startFakeOperator } from '../../src/tools/fake/fake-operator.ts'
import { element, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const apiKey = 'example-operator-key-1'

async function start(t: TestContext, options: Partial<FakeOperatorOptions> = {}) {
  const fake = await startFakeOperator({ host: '127.0.0.1', port: 0, apiKey, brands: ['1'], ...options })
  t.after(() => fake.close())
  const { url } = fake
  return {
    url,
    behave: async (behaviour: object) => {
      const { status, body } = await post(`${url}/fake/behaviours`, behaviour, undefined)
      assert.equal(status, 200, JSON.stringify(body))
      return body as { readonly id: number }
    },
    single: (of: Record<string, unknown> = {}, key: string | undefined = apiKey) =>
      post(`${url}/channels/push/single`, element(of, { title: 'Hello' }), key),
    batch: (ids: readonly number[], of: Record<string, unknown> = {}) =>
      post(
        `${url}/channels/push/batch`,
        ids.map((id) => element({ id, ...of }, { title: 'Hello' })),
        apiKey,
      ),
    arrivals: async (after = 0) => {
      const response = await fetch(`${url}/fake/arrivals?after=${after}`)
      return (await response.json()) as { readonly arrivals: readonly Arrival[]; readonly next: number }
    },
  }
}

test('without behaviours it follows the interface: §5.1, §7.1, §7.2, and a repeated message keeps its push_id', async (t) => {
  const { single, batch, arrivals } = await start(t)
  assert.equal((await single({}, 'another-key')).status, 401)
  const first = await single({ id: 1 })
  assert.equal(first.status, 200)
  assert.deepEqual((await single({ id: 1 })).body, first.body)
  const { body } = await batch([2, 3])
  assert.deepEqual(
    (body as { successful: { id: number }[] }).successful.map(({ id }) => id),
    [2, 3],
  )
  const { arrivals: list, next } = await arrivals()
  assert.deepEqual(
    list.map(({ endpoint, status, messages }) => [endpoint, status, messages.length]),
    [
      ['push/single', 401, 1],
      ['push/single', 200, 1],
      ['push/single', 200, 1],
      ['push/batch', 200, 2],
    ],
  )
  assert.deepEqual((await arrivals(next)).arrivals, [])
})

test('another method than POST is answered 405 with the header Allow', async (t) => {
  const { url } = await start(t)
  const { status, headers } = await fetch(`${url}/channels/push/single`)
  assert.deepEqual([status, headers.get('allow')], [405, 'POST'])
})

test('every third request is answered 500, until the behaviour is removed', async (t) => {
  const { url, single, behave } = await start(t)
  const { id } = await behave({
    every: 3,
    answer: { status: 500, headers: { 'retry-after': '7' }, body: '{"error":"busy"}' },
  })
  const statuses = []
  for (let n = 1; n <= 6; n++) statuses.push((await single({ id: n })).status)
  assert.deepEqual(statuses, [200, 200, 500, 200, 200, 500])
  const removed = await fetch(`${url}/fake/behaviours/${id}`, { method: 'DELETE' })
  assert.deepEqual(await removed.json(), { removed: [id] })
  for (let n = 7; n <= 9; n++) assert.equal((await single({ id: n })).status, 200)
})

test('a lost answer: the message was delivered, and its repetition has the same push_id', async (t) => {
  const { single, behave, arrivals } = await start(t)
  await behave({ cut: 'after', times: 1 })
  await assert.rejects(single({ id: 1 }))
  const { status } = await single({ id: 1 })
  assert.equal(status, 200)
  const [lost, repeated] = (await arrivals()).arrivals
  assert.equal(lost?.status, undefined)
  assert.deepEqual(lost?.behaviour, { cut: 'after', times: 1 })
  assert.equal(repeated?.status, 200)
})

test('a request that is cut before, and one that hangs, deliver nothing', async (t) => {
  const { url, batch, behave, arrivals } = await start(t)
  await behave({ cut: 'before', times: 1 })
  await assert.rejects(batch([1]))
  await behave({ hang: true, times: 1 })
  const signal = AbortSignal.timeout(300)
  await assert.rejects(
    fetch(`${url}/channels/push/batch`, { method: 'POST', headers: { 'x-api-key': apiKey }, body: '[]', signal }),
  )
  await until(async () => (await arrivals()).arrivals.length === 2, { awaited: 'both requests' })
  assert.deepEqual(
    (await arrivals()).arrivals.map(({ status }) => status),
    [undefined, undefined],
  )
})

for (const outcome of ['failed', 'fatal', 'absent'] as const)
  test(`§7.2: every second message of a batch is ${outcome}, with exact ids, and is delivered later`, async (t) => {
    const { url, batch, behave } = await start(t)
    await behave({ endpoint: 'push/batch', every: 2, outcome })
    const text = `[${['1', '9007199254740993', '3', '9007199254740995'].map((id) => `{"activity":{"id":${id},"brand_id":1,"user_id":"1001"},"title":"x"}`).join()}]`
    const response = await fetch(`${url}/channels/push/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: text,
    })
    assert.equal(response.status, 200)
    const answer = await response.text()
    const idsIn = (name: string): string[] => {
      const list = new RegExp(`"${name}":\\[(.*?)\\]`).exec(answer)?.[1] ?? ''
      return [...list.matchAll(/"id":(\d+)/g)].map(([, id]) => id as string)
    }
    assert.deepEqual(idsIn('successful'), ['1', '3'])
    for (const name of ['failed', 'fatal'])
      assert.deepEqual(idsIn(name), name === outcome ? ['9007199254740993', '9007199254740995'] : [])
    await fetch(`${url}/fake/behaviours`, { method: 'DELETE' })
    const { body } = await batch([1])
    assert.equal((body as { successful: object[] }).successful.length, 1)
  })

test('§7.1: the outcomes of single messages to one user', async (t) => {
  const { single, behave } = await start(t)
  await behave({ user: '1002', outcome: 'failed' })
  await behave({ user: '1003', outcome: 'fatal' })
  await behave({ user: '1004', outcome: 'absent' })
  const statuses = []
  for (const user of ['1001', '1002', '1003', '1004'])
    statuses.push((await single({ id: Number(user), user_id: user })).status)
  assert.deepEqual(statuses, [200, 422, 503, 200])
})

test('a blocked user of the file is refused, and a list of reconciliation is cut', async (t) => {
  const users = join(await temporary(t), 'users.csv')
  await writeFile(
    users,
    'user_id,brand,blocked,excluded,active,consent_push_notification\n1001,1,true,false,true,true\n',
  )
  const { url, single, behave } = await start(t, { users })
  assert.equal((await single({ user_id: '1001' })).status, 422)
  const list = () =>
    fetch(`${url}/reconciliation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: '{"field":"blocked","brand_id":1}',
    }).then((response) => response.text())
  assert.match(await list(), /1001/)
  await behave({ endpoint: 'reconciliation', cut: 'after' })
  await assert.rejects(list())
})

for (const [behaviour, error] of [
  [{ evry: 3, hang: true }, /evry is unknown/],
  [{ every: 3 }, /name one of/],
  [{ hang: true, delay_ms: 5 }, /name one of/],
  [{ answer: { status: 99 } }, /answer must be/],
  [{ outcome: 'fatal', endpoint: 'reconciliation' }, /no outcomes/],
] as const)
  test(`a wrong behaviour is refused: ${JSON.stringify(behaviour)}`, async (t) => {
    const { url } = await start(t)
    const { status, body } = await post(`${url}/fake/behaviours`, behaviour, undefined)
    assert.equal(status, 400)
    assert.match((body as { error: string }).error, error)
  })

test('a page of another site must not change the behaviours', async (t) => {
  const { url } = await start(t)
  const response = await fetch(`${url}/fake/behaviours`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://evil.example' },
    body: '{"hang":true}',
  })
  assert.equal(response.status, 403)
})
