// The platform through its API: enqueue, outcomes, Failed Actions and lanes; also with a foreign operator.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Channel } from '../../src/subjects/providers/provider.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

function lane(brand: '1' | '2', channel: Channel, url: string, over: Partial<LaneOptions> = {}): LaneOptions {
  const mode = over.mode ?? 'batch'
  const apiKey = brand === '1' ? keys.one.key : keys.two.key
  const provider = operatorApi({ url, apiKey })
  return { brand, channel, mode, provider, spanMs: 20, retry: { firstMs: 50, mostMs: 200 }, ...over }
}

interface Outcome {
  readonly category: string
  readonly ref?: string
  readonly error?: string
}

/** Waits until all messages with these numbers have an outcome. */
async function waitUntilSettled(url: string, ranges: readonly (readonly [number, number])[]): Promise<Outcome[]> {
  const seqs = ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
  return until(
    async () => {
      const { outcomes } = (await post(`${url}/admin/outcomes`, { seqs }, adminKey.key)).body as { outcomes: Outcome[] }
      return outcomes.length === seqs.length && outcomes.every((o) => o.category !== 'waiting') ? outcomes : undefined
    },
    { withinMs: 20_000, awaited: `${seqs.length} outcomes` },
  )
}

const activities = (url: string, channel: Channel = 'push'): string => `${url}/admin/activities/${channel}`
const ndjson = { 'content-type': 'application/x-ndjson' }

test('one record, an array and a stream reach the operator’s provider, and their outcomes return; two brands with equal ids', async (t) => {
  const push = witness()
  const operator = await startOperator(t, { push })
  const { url } = await startPlatform(t, {
    lanes: [lane('1', 'push', operator.url), lane('2', 'push', operator.url, { mode: 'single' })],
  })

  const one = element()
  const answer = await post(activities(url), one, adminKey.key)
  assert.equal(answer.text, '{"accepted":1,"repeated":0,"refused_count":0,"refused":[],"seqs":[[1,1]]}')
  const [first] = await waitUntilSettled(url, answer.body.seqs)
  assert.equal(first?.category, 'successful')
  assert.equal(first?.ref, push.received[0]?.ref)

  const many = Array.from({ length: 50 }, (_, i) => element({ brand_id: 1 + (i % 2), user_id: `u${i >> 1}` }))
  const array = await post(activities(url), many, adminKey.key)
  assert.equal(array.body.accepted, 50)
  const outcomes = await waitUntilSettled(url, array.body.seqs)
  assert.ok(outcomes.every((o) => o.category === 'successful'))
  assert.equal(new Set(outcomes.map((o) => o.ref)).size, 50)

  const lines = many
    .map((each) => JSON.stringify(each))
    .concat('', 'not json', JSON.stringify(element({ brand_id: 3 })))
  const stream = await post(activities(url), lines.join('\n'), adminKey.key, ndjson)
  assert.equal(stream.body.repeated, 50)
  assert.deepEqual(
    stream.body.refused.map((r: { line: number }) => r.line),
    [52, 53],
  )
  assert.match(stream.body.refused[1].error, /no lane serves brand 3/)
  assert.deepEqual(
    (await waitUntilSettled(url, stream.body.seqs)).map((o) => o.ref),
    outcomes.map((o) => o.ref),
    'repeated messages keep their identifiers',
  )
  assert.equal(push.received.length, 51)
})

test('a line that is too long is refused with its number, and the stream continues', async (t) => {
  const operator = await startOperator(t)
  const { url } = await startPlatform(t, { lanes: [lane('1', 'push', operator.url)] })
  const long = JSON.stringify(element({}, { data: { blob: 'x'.repeat(3_000_000) } }))
  const answer = await post(
    activities(url),
    [JSON.stringify(element()), long, JSON.stringify(element())].join('\n'),
    adminKey.key,
    ndjson,
  )
  assert.equal(answer.body.accepted, 2)
  assert.deepEqual(
    answer.body.refused.map((r: { line: number }) => r.line),
    [2],
  )
  assert.match(answer.body.refused[0].error, /longer than/)
})

test('an on-site message is delivered to the inbox of its brand', async (t) => {
  const operator = await startOperator(t, { app: { secrets: ['a-secret-of-32-bytes-and-some-more'] } })
  const { url } = await startPlatform(t, { lanes: [lane('1', 'site', operator.url), lane('2', 'site', operator.url)] })
  const answer = await post(activities(url, 'site'), element({ user_id: 'same' }), adminKey.key)
  const [outcome] = await waitUntilSettled(url, answer.body.seqs)
  const inboxOf = async (brand: string): Promise<string> => {
    const { body } = await post(`${operator.url}/admin/subscriber-tokens`, { brand, user_id: 'same' }, adminKey.key)
    const response = await fetch(`${operator.url}/app/inbox`, { headers: { authorization: `Bearer ${body.token}` } })
    return response.text()
  }
  assert.ok((await inboxOf('1')).includes(outcome?.ref as string))
  assert.ok(!(await inboxOf('2')).includes(outcome?.ref as string))
})

test('messages that the operator refuses are listed in Failed Actions, dismissed and replayed', async (t) => {
  let accepts = false
  const push = witness((m) =>
    accepts || m.userId === 'fine'
      ? { category: 'successful', ref: m.ref, rule: 'accepted' }
      : { category: 'failed', reason: 'rejected', error: 'no such person', rule: 'test' },
  )
  const operator = await startOperator(t, { push })
  const { url } = await startPlatform(t, { lanes: [lane('1', 'push', operator.url)] })
  const sent = await post(
    activities(url),
    ['fine', 'a', 'b'].map((user_id) => element({ user_id, activity_id: 70 })),
    adminKey.key,
  )
  assert.deepEqual(
    (await waitUntilSettled(url, sent.body.seqs)).map((o) => o.category),
    ['successful', 'failed', 'failed'],
  )

  const listed = (await get(`${url}/admin/failed?activity=70`)).body
  assert.deepEqual(listed.items.map((item: { user: string }) => item.user).sort(), ['a', 'b'])
  assert.match(listed.items[0].error, /no such person/)
  assert.match(listed.items[0].rule, /§7\.2/)
  assert.equal((await get(`${url}/admin/failed?colour=red`)).status, 400)
  const { history } = (await get(`${url}/admin/failed/${listed.items[0].seq}`)).body
  assert.deepEqual([history.length, history[0].outcome, history[0].status], [1, 'failed', 200])

  assert.equal((await post(`${url}/admin/failed/dismiss`, { user: 'a' }, adminKey.key)).body.count, 1)
  assert.equal((await get(`${url}/admin/failed?state=pending`)).body.items.length, 1)
  const decisions = async () => (await get(`${url}/admin/failed?activity=70`)).body.items
  const decisionOf = ({ user, state, decided_by }: Record<string, unknown>) => [user, state, decided_by]
  assert.deepEqual((await decisions()).map(decisionOf).sort(), [
    ['a', 'dismissed', 'admin'],
    ['b', 'pending', null],
  ])
  // A replayed message that fails again is pending, with the key that replayed it.
  const failedAt = (await decisions()).find(({ user }: { user: string }) => user === 'b').at
  assert.equal((await post(`${url}/admin/failed/replay`, { user: 'b' }, adminKey.key)).body.count, 1)
  const again = await until(
    async () =>
      (await decisions()).find(
        ({ user, at, state }: { user: string; at: number; state: string }) =>
          user === 'b' && state === 'pending' && at >= failedAt,
      ),
    { awaited: 'the message fails again' },
  )
  assert.equal(again.decided_by, 'admin')
  assert.ok(again.decided_at > 0)
  accepts = true
  for (const per_second of [0, 1.5, '10'])
    assert.equal((await post(`${url}/admin/failed/replay`, { user: 'b', per_second }, adminKey.key)).status, 400)
  assert.equal((await post(`${url}/admin/failed/dismiss`, { user: 'b', per_second: 5 }, adminKey.key)).status, 400)
  assert.equal((await post(`${url}/admin/failed/replay`, { user: 'b', per_second: 5 }, adminKey.key)).body.count, 1)
  assert.deepEqual(
    (await waitUntilSettled(url, sent.body.seqs)).map((o) => o.category),
    ['successful', 'failed', 'successful'],
  )
})

test('a minimal foreign operator: absent ids are sent again, a refused batch is split, redirects are not followed', async (t) => {
  const operator = await startForeignOperator(t)
  const { url } = await startPlatform(t, { lanes: [lane('1', 'push', operator.url, { concurrency: 1, max: 8 })] })
  const people = ['a', 'b', 'guilty', 'absent-once', 'c', 'd']
  const sent = await post(
    activities(url),
    people.map((user_id) => element({ user_id })),
    adminKey.key,
  )
  const outcomes = await waitUntilSettled(url, sent.body.seqs)
  assert.deepEqual(
    outcomes.map((o) => o.category),
    ['successful', 'successful', 'failed', 'successful', 'successful', 'successful'],
  )
  assert.deepEqual(outcomes.map((o) => o.ref).filter(Boolean).length, 5)
  assert.ok(
    operator.paths.every((path) => path === '/channels/push/batch'),
    'the redirect was not followed',
  )
  assert.equal(operator.keys.size, 1)
})

/** Implements only §7.2. It redirects the first request and refuses a batch with a message of the user `guilty`. */
async function startForeignOperator(t: TestContext): Promise<{ url: string; paths: string[]; keys: Set<unknown> }> {
  const paths: string[] = []
  const usedKeys = new Set<unknown>()
  const absent = new Set<string>()
  const server = createServer(async (request, response) => {
    paths.push(request.url as string)
    usedKeys.add(request.headers['x-api-key'])
    if (paths.length === 1) return response.writeHead(302, { location: '/elsewhere' }).end()
    const batch = JSON.parse(await text(request)) as { activity: { id: number; user_id: string } }[]
    const guilty = batch.some((each) => each.activity.user_id === 'guilty')
    if (guilty && batch.length > 1) return response.writeHead(500).end('{"error":"cannot read this batch"}')
    const failed = guilty ? batch.map((each) => ({ id: each.activity.id, error: 'guilty' })) : []
    const successful = guilty
      ? []
      : batch.filter((each) => each.activity.user_id !== 'absent-once' || absent.has('seen'))
    if (batch.some((each) => each.activity.user_id === 'absent-once')) absent.add('seen')
    response.end(
      JSON.stringify({
        successful: successful.map((each) => ({ id: each.activity.id, push_id: `p-${each.activity.id}` })),
        failed,
      }),
    )
  })
  const { url } = await listenLocally(t, server)
  return { url, paths, keys: usedKeys }
}

test('a key may use only its scopes and brands', async (t) => {
  const operator = await startOperator(t)
  const enqueuer = { name: 'crm', key: 'the-key-of-the-crm', scopes: ['enqueue'], brands: ['1'] } as const
  const { url } = await startPlatform(t, {
    keys: [adminKey, enqueuer],
    lanes: [lane('1', 'push', operator.url), lane('2', 'push', operator.url)],
  })
  assert.equal((await post(activities(url), element(), 'wrong')).status, 401)
  const mixed = await post(activities(url), [element(), element({ brand_id: 2 })], enqueuer.key)
  assert.equal(mixed.body.accepted, 1)
  assert.match(mixed.body.refused[0].error, /may not enqueue for brand 2/)
  assert.equal((await get(`${url}/admin/lanes`, enqueuer.key)).status, 403)
  const { lanes } = (await get(`${url}/admin/lanes`)).body
  assert.deepEqual(lanes.map((each: { name: string }) => each.name).sort(), ['1/push', '2/push'])
})
