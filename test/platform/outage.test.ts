// An outage of the operator affects few messages, and a single undeliverable message is no outage. Through the platform's API.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { type Received, startFakeOperator } from '../providers/fake-operator.ts'
import { adminKey, element, get, keys, post, startPlatform } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

type Category = 'successful' | 'failed' | 'fatal'
/** The operator's outcome for a message, by its user. Undefined: the operator does not answer the request at all. */
type ChooseCategory = (user: string, request: number) => Category | undefined

interface TestOperator {
  readonly url: string
  /** The users of each request. */
  readonly requests: string[][]
}

/** Starts a foreign operator, single and batch. */
async function startTestOperator(
  t: TestContext,
  chooseCategory: ChooseCategory,
  headers: Record<string, string> = {},
  service?: string,
): Promise<TestOperator> {
  const requests: string[][] = []
  const { url } = await startFakeOperator(t, ({ path, body }: Received, response) => {
    const read = JSON.parse(body) as unknown
    const elements = (Array.isArray(read) ? read : [read]) as { activity: { id: number; user_id: string } }[]
    const request = requests.push(elements.map(({ activity }) => activity.user_id))
    const answers = elements.map(({ activity }) => ({
      id: activity.id,
      category: chooseCategory(activity.user_id, request),
    }))
    if (answers.some(({ category }) => category === undefined)) return
    const [first] = answers
    if (path.endsWith('/single')) {
      const status = { successful: 200, failed: 422, fatal: 503 }[first?.category as Category]
      response.writeHead(status, status === 503 ? headers : {})
      return void response.end(
        JSON.stringify(status === 200 ? { push_id: `p${first?.id}` } : { error: 'refused by the test', service }),
      )
    }
    const withCategory = (wanted: Category) =>
      answers
        .filter(({ category }) => category === wanted)
        .map(({ id }) => ({ id, push_id: `p${id}`, error: 'refused by the test', service }))
    const answer = {
      successful: withCategory('successful'),
      failed: withCategory('failed'),
      fatal: withCategory('fatal'),
    }
    response.writeHead(200, answer.fatal.length > 0 ? headers : {}).end(JSON.stringify(answer))
  })
  return { url, requests }
}

function lane(baseUrl: string, over: Partial<LaneOptions> = {}): LaneOptions {
  const { mode = 'batch' } = over
  const provider = operatorApi({ url: baseUrl, apiKey: keys.one.key })
  const retry = { firstMs: 5, mostMs: 20, attempts: 4 }
  return { brand: '1', channel: 'push', mode, provider, spanMs: 5, max: 100, timeoutMs: 2_000, retry, ...over }
}

async function send(url: string, users: readonly string[]): Promise<number[]> {
  const elements = users.map((user_id) => element({ user_id }))
  const { body } = await post(`${url}/admin/activities/push`, elements, adminKey.key)
  return (body.seqs as [number, number][]).flatMap(([from, to]) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i),
  )
}

interface Outcome {
  readonly category: string
  readonly attempts?: number
}
const outcomesOf = async (url: string, seqs: readonly number[]): Promise<Outcome[]> =>
  (await post(`${url}/admin/outcomes`, { seqs }, adminKey.key)).body.outcomes
/** Requests 100 outcomes at a time: each answer is checked against the OpenAPI document, which is slow for 1,000 outcomes. */
async function waitUntilSettled(url: string, seqs: readonly number[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  while (outcomes.length < seqs.length) {
    const part = seqs.slice(outcomes.length, outcomes.length + 100)
    const found = await until(
      async () => {
        const answer = await outcomesOf(url, part)
        return answer.every(({ category }) => category !== 'waiting') && answer
      },
      { awaited: `outcomes from message ${outcomes.length} on`, withinMs: 30_000 },
    )
    outcomes.push(...found)
  }
  return outcomes
}
/** Many more than `retry.attempts`. */
const probes = 8
const users = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`)
const attemptsOf = (outcomes: readonly Outcome[]) =>
  new Set(outcomes.map(({ category, attempts }) => `${category} ${attempts}`))

for (const [behaviour, during, over] of [
  ['answers 200 with every message fatal', () => 'fatal'],
  [
    'answers 200 with some messages failed and all others fatal',
    (user: string) => (user.endsWith('7') ? 'failed' : 'fatal'),
  ],
  ['answers single requests with 503', () => 'fatal', { mode: 'single' }],
  ['does not answer', () => undefined, { timeoutMs: 400 }],
  ['does not answer single requests', () => undefined, { timeoutMs: 400, mode: 'single' }],
] as const satisfies readonly (readonly [string, ChooseCategory, Partial<LaneOptions>?])[]) {
  test(`an operator that ${behaviour}: the lane is held, one message probes, no attempt is counted`, async (t) => {
    let isOutage = true
    const operator = await startTestOperator(t, (user, request) =>
      isOutage ? (during as ChooseCategory)(user, request) : 'successful',
    )
    const concurrency = 4
    const { url } = await startPlatform(t, { lanes: [lane(operator.url, { concurrency, ...over })] })
    // A batch has up to 100 messages.
    const count = over?.mode === 'single' ? 200 : 1_000
    const seqs = await send(url, users(count))
    await until(() => operator.requests.length > concurrency + probes, { awaited: 'probes', withinMs: 20_000 })
    const waiting = (await outcomesOf(url, seqs)).filter(({ category }) => category === 'waiting')
    assert.ok(waiting.length > 0.75 * count, `${waiting.length} wait`)
    isOutage = false
    const outcomes = await waitUntilSettled(url, seqs)
    const { body } = await get(`${url}/admin/failed?limit=1000`)
    assert.deepEqual(
      body.items.filter(({ reason }: { reason: string }) => reason === 'expired'),
      [],
      'no message was given up',
    )
    assert.deepEqual(
      [...attemptsOf(outcomes)].filter((each) => !each.endsWith(' 1')),
      [],
    )
    // Batches in flight when the outage began, and batches between a probe with a final outcome and the next hold.
    const inOutage = operator.requests.slice(0, concurrency + probes)
    const large = inOutage.filter(({ length }) => length > 1).length
    assert.ok(large <= 2 * concurrency, `${large} batches were sent during the outage`)
  })
}

test('Retry-After of a 200 whose messages are all fatal is honoured, and the longest of several applies', async (t) => {
  const operator = await startTestOperator(t, () => 'fatal', { 'retry-after': '120' })
  const held = event('lane.held')
  const { url } = await startPlatform(t, { lanes: [lane(operator.url)] })
  await send(url, users(300))
  assert.ok((await held).forMs > 115_000)
  const { body } = await get(`${url}/admin/lanes`)
  assert.equal(body.lanes[0].state, 'held')
  assert.equal(body.lanes[0].last_error, 'refused by the test')
})

for (const [mode, headers] of [
  ['batch', {}],
  ['batch', { 'retry-after': '0' }],
  ['single', {}],
  ['single', { 'retry-after': '0' }],
] as const) {
  const retryAfter = 'retry-after' in headers ? ', with Retry-After' : ''
  test(`a message that is always fatal, ${mode}${retryAfter}: it is given up, and delays no other message`, async (t) => {
    const operator = await startTestOperator(t, (user) => (user.startsWith('guilty') ? 'fatal' : 'successful'), headers)
    const { url } = await startPlatform(t, { lanes: [lane(operator.url, { mode, concurrency: 2 })] })
    const guilty = await send(url, ['guilty a', 'guilty b'])
    // One message at a time, so that a fatal message is often alone.
    let sent = 0
    for (let open = 2; open > 0; sent++) {
      assert.ok(sent < 2_000, 'it was not given up')
      const [good] = await waitUntilSettled(url, await send(url, [`good ${sent}`]))
      assert.deepEqual([good?.category, good?.attempts], ['successful', 1])
      open = (await outcomesOf(url, guilty)).filter(({ category }) => category === 'waiting').length
    }
    assert.deepEqual(attemptsOf(await outcomesOf(url, guilty)), new Set(['failed 4']))
  })
}

for (const mode of ['batch', 'single'] as const) {
  test(`row 59: messages whose push service is away do not delay the others, and lose no attempt (${mode})`, async (t) => {
    let away = true
    const operator = await startTestOperator(
      t,
      (user) => (user === 'android' && away ? 'fatal' : 'successful'),
      {},
      'fcm',
    )
    const { url } = await startPlatform(t, {
      lanes: [lane(operator.url, { mode, retry: { firstMs: 5, mostMs: 20, attempts: 2 } })],
    })
    const held: unknown[] = []
    t.after(on('lane.held', (event) => held.push(event)))
    const waiting = await send(
      url,
      Array.from({ length: 20 }, () => 'android'),
    )
    await until(() => operator.requests.flat().length >= 100, { awaited: 'several attempts of the waiting messages' })
    assert.deepEqual(
      attemptsOf(await waitUntilSettled(url, await send(url, ['ios', 'ios']))),
      new Set(['successful 1']),
    )
    away = false
    assert.deepEqual(attemptsOf(await waitUntilSettled(url, waiting)), new Set(['successful 1']))
    assert.equal(held.length, 0)
  })
}

test('a message that is fatal alone does not hold the lane: the next message is sent at once', async (t) => {
  const operator = await startTestOperator(t, (user) => (user === 'guilty' ? 'fatal' : 'successful'))
  const slow = { firstMs: 600_000, mostMs: 600_000 }
  const { url } = await startPlatform(t, { lanes: [lane(operator.url, { retry: slow })] })
  await send(url, ['guilty'])
  await until(() => operator.requests.length === 1, { awaited: 'the first request' })
  const [outcome] = await waitUntilSettled(url, await send(url, ['good']))
  assert.equal(outcome?.category, 'successful')
})
