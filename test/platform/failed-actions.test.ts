// Failed Actions over HTTP: the summary, filters, one item, CSV, previews, and the keys of brands.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { startFakeOperator } from '../providers/fake-operator.ts'
import {
  adminKey,
  element,
  enqueueAt,
  get,
  laneTo,
  post,
  startPlatform,
  untilSettled,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'

const ofBrand1 = {
  name: 'brand 1',
  key: 'the-key-of-brand-one',
  scopes: ['counts', 'read', 'decide', 'attributes'],
  brands: ['1'],
} as const

const refuse = ({ userId }: Message): Result => ({
  category: 'failed',
  reason: userId.startsWith('blocked') ? 'suppressed' : 'rejected',
  error: `no user ${userId}`,
  rule: '§7.1 422',
  answer: '{"error":"no"}',
  status: 422,
  ref: `ref of ${userId}`,
})

async function start(t: TestContext, answer: (message: Message) => Result = refuse) {
  const provider = witness(answer)
  const { url } = await startPlatform(t, {
    keys: [adminKey, ofBrand1],
    lanes: [laneTo(provider), laneTo(provider, { brand: '2' })],
  })
  return {
    url,
    /** Enqueues messages and waits until none waits. */
    async send(records: readonly object[]) {
      await enqueueAt(url, records)
      await untilSettled(url)
    },
    post: (path: string, body: object, key: string = adminKey.key) => post(url + path, body, key),
    csv: async (query = '', key: string = adminKey.key) => {
      const response = await fetch(`${url}/admin/failed.csv${query}`, { headers: { 'x-api-key': key } })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
  }
}

test('the summary counts by activity, action and reason, and a key of a brand sees only its lanes', async (t) => {
  const { url, send } = await start(t)
  await send([
    element({ user_id: 'a' }),
    element({ user_id: 'b' }),
    element({ user_id: 'blocked' }),
    element({ user_id: 'c', activity_id: 8, action_id: null }),
    element({ user_id: 'a', brand_id: 2 }),
  ])
  const group = {
    lane: '1/push',
    activity: '7',
    action: '9',
    reason: 'rejected',
    pending: 2,
    dismissed: 0,
    replayed: 0,
  }
  const groups = [
    group,
    { ...group, reason: 'suppressed', pending: 1 },
    { ...group, activity: '8', action: null, pending: 1 },
    { ...group, lane: '2/push', pending: 1 },
  ]
  assert.deepEqual((await get(`${url}/admin/failed/summary`)).body, { groups, omitted: 0 })
  assert.deepEqual((await get(`${url}/admin/failed/summary`, ofBrand1.key)).body.groups, groups.slice(0, 3))
  assert.deepEqual((await get(`${url}/admin/failed/summary?reason=suppressed`)).body.groups, [groups[1]])
  assert.equal((await get(`${url}/admin/failed/summary?user=a`)).status, 400)
})

test('one failed item is shown with its attempts, and only to keys of its brand', async (t) => {
  const { url, send, post } = await start(t)
  await send([element({ id: 70, user_id: 'a' }), element({ id: 71, user_id: 'b', brand_id: 2 })])
  const { body } = await get(`${url}/admin/failed/1`, ofBrand1.key)
  assert.deepEqual([body.seq, body.id, body.user, body.replays, body.state], [1, '70', 'a', 0, 'pending'])
  const { at, call, ...attempt } = body.history[0]
  assert.ok(at > 0 && typeof call === 'string')
  assert.deepEqual(attempt, {
    replay: 0,
    attempt: 1,
    outcome: 'failed',
    status: 422,
    rule: '§7.1 422',
    reason: 'rejected',
    error: 'no user a',
    answer: '{"error":"no"}',
    replayed_by: null,
    replayed_at: null,
  })
  assert.deepEqual(body.identifiers, [{ ref: 'ref of a', replayed_at: null }])
  for (const [seq, key] of [
    [2, ofBrand1.key],
    [99, adminKey.key],
  ] as const) {
    const answer = await get(`${url}/admin/failed/${seq}`, key)
    assert.deepEqual(
      [answer.status, answer.body.error],
      [404, `there is no failed item ${seq}: GET /admin/failed lists them`],
    )
  }
  assert.equal((await get(`${url}/admin/failed/x`)).status, 400)

  // The operator answers the same identifier again: the message is found by it, and is marked as replayed.
  await post('/admin/failed/replay', { lane: '1/push', seqs: [1] }, ofBrand1.key)
  await until(async () => (await get(`${url}/admin/failed/1`)).body.state === 'pending', { awaited: 'it fails again' })
  const [message] = (await get(`${url}/admin/messages?ref=${encodeURIComponent('ref of a')}`)).body.messages
  assert.deepEqual(
    [message.ref, message.replays, message.earlier_refs, message.history.length],
    ['ref of a', 1, ['ref of a'], 2],
  )
  assert.deepEqual([message.history[0].replayed_by, message.history[0].status], ['brand 1', 422])
})

test('a selection, a filter or everything is counted by a preview and then decided', async (t) => {
  const { url, send, post } = await start(t)
  await send(['a', 'b', 'blocked 1', 'blocked 2'].map((user_id) => element({ user_id })))
  const states = async () => (await get(`${url}/admin/failed`)).body.items.map((item: { state: string }) => item.state)
  const preview = await post('/admin/failed/dismiss', { reason: 'suppressed', preview: true })
  assert.deepEqual(preview.body, {
    count: 2,
    groups: [
      { lane: '1/push', activity: '7', action: '9', reason: 'suppressed', pending: 2, dismissed: 0, replayed: 0 },
    ],
  })
  assert.equal((await post('/admin/failed/replay', { seqs: [1, 3], preview: true })).body.count, 2)
  assert.deepEqual(await states(), ['pending', 'pending', 'pending', 'pending'])
  assert.deepEqual((await post('/admin/failed/dismiss', { error: 'user blocked' })).body, { count: 2 })
  assert.deepEqual((await post('/admin/failed/dismiss', { seqs: [2, 2, 99] })).body, { count: 1 })
  assert.deepEqual(await states(), ['pending', 'dismissed', 'dismissed', 'dismissed'])
  const [, second] = (await get(`${url}/admin/failed?state=dismissed&seqs=1,2`)).body.items.concat(null)
  assert.equal(second, null)
})

test('invalid filters are 400 with a remedy, and change nothing', async (t) => {
  const { url, send, post } = await start(t)
  await send([element({ user_id: 'a' })])
  for (const [path, error] of [
    ['?from=soon', 'from is "soon": give a time, such as "2026'],
    ['?until=2026-02-30T00:00:00Z', 'until is "2026-02-30T00:00:00Z": give a time'],
    ['?seqs=1,x', 'seqs is "1,x": give numbers of messages, separated by commas'],
    ['?error=', 'error is ""'],
  ] as const) {
    const { status, body } = await get(`${url}/admin/failed${path}`)
    assert.deepEqual([status, body.error.slice(0, error.length)], [400, error], path)
  }
  for (const [given, error] of [
    [{}, 'nothing is selected: send a filter (lane, activity,'],
    [{ seqs: [] }, 'seqs'],
    [{ seqs: ['1'] }, 'seqs[0] is "1"'],
    [{ all: true, after: '1' }, 'after is "1": give the `next` of the previous answer'],
    [{ all: true, preview: 'yes' }, 'preview is "yes": give true or false'],
    [{ preview: true }, 'nothing is selected'],
  ] as const) {
    const { status, body } = await post('/admin/failed/dismiss', given)
    assert.deepEqual([status, body.error.slice(0, error.length)], [400, error])
  }
  for (const path of ['/admin/failed', '/admin/failed.csv'])
    assert.equal((await get(`${url}${path}`, ofBrand1.key)).status, 403)
  assert.equal((await post('/admin/failed/dismiss', { seqs: [1] }, ofBrand1.key)).status, 403)
  assert.equal((await get(`${url}/admin/failed/1`)).body.state, 'pending')
})

test('CSV has a header and all items, and no cell becomes a formula', async (t) => {
  const errors = ['=HYPERLINK("http://evil")', '+1', '-1', '@SUM(A1)', '\t=1', 'a,"b"\nc', 'Ünïcode ☃']
  const { send, csv } = await start(t, ({ userId }) => ({
    category: 'failed',
    reason: 'rejected',
    error: errors[Number(userId.slice(1))] ?? 'plain',
    rule: '§7.1 422',
  }))
  await send([...errors.keys(), 7].map((n) => element({ user_id: n === 0 ? '=0' : `u${n}`, id: 100 + n })))
  const { status, headers, text } = await csv()
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8'])
  const header =
    'seq,lane,id,activity,action,user,at,reason,error,rule,answer,attempts,replays,state,decided_by,decided_at'
  const times = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  const line = (n: number, user: string, error: string): string =>
    `${n + 1},1/push,${100 + n},7,9,${user},TIME,rejected,${error},§7.1 422,,1,0,pending,,\n`
  assert.equal(
    times,
    [
      `${header}\n`,
      line(0, "'=0", `"'=HYPERLINK(""http://evil"")"`),
      line(1, 'u1', "'+1"),
      line(2, 'u2', "'-1"),
      line(3, 'u3', "'@SUM(A1)"),
      line(4, 'u4', "'\t=1"),
      line(5, 'u5', '"a,""b""\nc"'),
      line(6, 'u6', 'Ünïcode ☃'),
      line(7, 'u7', 'plain'),
    ].join(''),
  )
  assert.equal((await csv('?user=u7&lane=1/push', ofBrand1.key)).text.split('\n').length, 3)
  assert.equal((await csv('?user=nobody')).text, `${header}\n`)
})

test('row 54: a failed message has no answer about the other messages of its batch', async (t) => {
  const { url: operator } = await startFakeOperator(t, ({ body }, response) => {
    const failed = (JSON.parse(body) as { activity: { id: number; user_id: string } }[]).map(({ activity }) => ({
      id: activity.id,
      error: `${activity.user_id} is blocked`,
    }))
    response.end(JSON.stringify({ failed }))
  })
  const { url } = await startPlatform(t, { lanes: [laneTo(operatorApi({ url: operator, apiKey: 'key' }))] })
  await enqueueAt(url, [element({ user_id: 'anna' }), element({ user_id: 'bert' })])
  await untilSettled(url)
  const { items } = (await get(`${url}/admin/failed`)).body
  assert.deepEqual(
    items.map(({ user, error, answer }: Record<string, string>) => [user, error, answer]),
    [
      ['anna', 'anna is blocked', null],
      ['bert', 'bert is blocked', null],
    ],
  )
  const { calls } = (await get(`${url}/admin/messages/${items[0].seq}`)).body
  assert.match(calls[0].answer, /bert is blocked/, 'the call has the answer')
  const exported = await get(`${url}/admin/people/1/anna`)
  assert.ok(/anna is blocked/.test(exported.text) && !/bert/.test(exported.text), exported.text)

  await enqueueAt(url, element({ user_id: 'carl' }))
  await untilSettled(url)
  assert.match(
    (await get(`${url}/admin/failed?user=carl`)).body.items[0].answer,
    /carl is blocked/,
    'the message was alone',
  )
})
