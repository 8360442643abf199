// An outage behind the operator stays small; one message that cannot be delivered is no outage. Through the platform's own door.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { LaneOptions } from '../../src/platform/options.ts'
import { operatorApi } from '../../src/providers/operator-api.ts'
import { type Received, startFakeOperator } from '../providers/fake-operator.ts'
import { adminKey, element, get, keys, post, startPlatform } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'

type Category = 'successful' | 'failed' | 'fatal'
/** What an operator says of a message, by its user; undefined: it gives no answer to the whole request. */
type Judge = (user: string, request: number) => Category | undefined

interface Answering {
  readonly url: string
  /** The users of each request. */
  readonly requests: string[][]
}

/** A stranger's operator, single and batch. */
async function operatorThat(t: TestContext, judge: Judge, headers: Record<string, string> = {}): Promise<Answering> {
  const requests: string[][] = []
  const { url } = await startFakeOperator(t, ({ path, body }: Received, response) => {
    const read = JSON.parse(body) as unknown
    const elements = (Array.isArray(read) ? read : [read]) as { activity: { id: number; user_id: string } }[]
    const request = requests.push(elements.map(({ activity }) => activity.user_id))
    const judged = elements.map(({ activity }) => ({ id: activity.id, category: judge(activity.user_id, request) }))
    if (judged.some(({ category }) => category === undefined)) return
    const [first] = judged
    if (path.endsWith('/single')) {
      const status = { successful: 200, failed: 422, fatal: 503 }[first?.category as Category]
      response.writeHead(status, status === 503 ? headers : {})
      return void response.end(JSON.stringify(status === 200 ? { push_id: `p${first?.id}` } : { error: 'said so' }))
    }
    const of = (wanted: Category) =>
      judged
        .filter(({ category }) => category === wanted)
        .map(({ id }) => ({ id, push_id: `p${id}`, error: 'said so' }))
    const answer = { successful: of('successful'), failed: of('failed'), fatal: of('fatal') }
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
/** Asks for a part at a time: each answer is checked against the OpenAPI document, which takes long for 2,000 outcomes. */
async function settled(url: string, seqs: readonly number[]): Promise<Outcome[]> {
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

for (const [what, during, over] of [
  ['answers 200 with every message fatal', () => 'fatal'],
  [
    'answers 200 with some messages failed and all others fatal',
    (user: string) => (user.endsWith('7') ? 'failed' : 'fatal'),
  ],
  ['answers singles 503', () => 'fatal', { mode: 'single' }],
  ['gives no answer', () => undefined, { timeoutMs: 400 }],
  ['gives no answer to singles', () => undefined, { timeoutMs: 400, mode: 'single' }],
] as const satisfies readonly (readonly [string, Judge, Partial<LaneOptions>?])[]) {
  test(`an operator that ${what}: the lane is held, one message probes, no attempt is counted`, async (t) => {
    let out = true
    const operator = await operatorThat(t, (user, request) => (out ? (during as Judge)(user, request) : 'successful'))
    const concurrency = 4
    const { url } = await startPlatform(t, { lanes: [lane(operator.url, { concurrency, ...over })] })
    const seqs = await send(url, users(2_000))
    await until(() => operator.requests.length > concurrency + probes, { awaited: 'probes', withinMs: 20_000 })
    const waiting = (await outcomesOf(url, seqs)).filter(({ category }) => category === 'waiting')
    assert.ok(waiting.length > 1_500, `${waiting.length} wait`)
    out = false
    const outcomes = await settled(url, seqs)
    const { body } = await get(`${url}/admin/failed?limit=1000`)
    assert.deepEqual(
      body.items.filter(({ reason }: { reason: string }) => reason === 'expired'),
      [],
      'none was given up',
    )
    assert.deepEqual(
      [...attemptsOf(outcomes)].filter((each) => !each.endsWith(' 1')),
      [],
    )
    // Batches that were under way when the outage began, and those between a probe that was final and the next hold.
    const inOutage = operator.requests.slice(0, concurrency + probes)
    const large = inOutage.filter(({ length }) => length > 1).length
    assert.ok(large <= 2 * concurrency, `${large} batches went out during the outage`)
  })
}

test('Retry-After of a 200 whose messages are all fatal is honoured, and the longest of several wins', async (t) => {
  const operator = await operatorThat(t, () => 'fatal', { 'retry-after': '120' })
  const held = event('lane.held')
  const { url } = await startPlatform(t, { lanes: [lane(operator.url)] })
  await send(url, users(300))
  assert.ok((await held).forMs > 115_000)
  const { body } = await get(`${url}/admin/lanes`)
  assert.equal(body.lanes[0].state, 'held')
  assert.equal(body.lanes[0].last_error, 'said so')
})

for (const [mode, headers] of [
  ['batch', {}],
  ['batch', { 'retry-after': '0' }],
  ['single', {}],
  ['single', { 'retry-after': '0' }],
] as const) {
  const asks = 'retry-after' in headers ? ', with Retry-After' : ''
  test(`a message that is always fatal, ${mode}${asks}: it is given up, and holds up nobody`, async (t) => {
    const operator = await operatorThat(t, (user) => (user.startsWith('poison') ? 'fatal' : 'successful'), headers)
    const { url } = await startPlatform(t, { lanes: [lane(operator.url, { mode, concurrency: 2 })] })
    const poison = await send(url, ['poison a', 'poison b'])
    // One at a time, so that a message that is fatal is often alone.
    let sent = 0
    for (let open = 2; open > 0; sent++) {
      assert.ok(sent < 2_000, 'it is never given up')
      const [good] = await settled(url, await send(url, [`good ${sent}`]))
      assert.deepEqual([good?.category, good?.attempts], ['successful', 1])
      open = (await outcomesOf(url, poison)).filter(({ category }) => category === 'waiting').length
    }
    assert.deepEqual(attemptsOf(await outcomesOf(url, poison)), new Set(['failed 4']))
  })
}

test('a message alone in its lane is no reason to hold it: the next one goes at once', async (t) => {
  const operator = await operatorThat(t, (user) => (user === 'poison' ? 'fatal' : 'successful'))
  const slow = { firstMs: 600_000, mostMs: 600_000 }
  const { url } = await startPlatform(t, { lanes: [lane(operator.url, { retry: slow })] })
  await send(url, ['poison'])
  await until(() => operator.requests.length === 1, { awaited: 'the first request' })
  const [outcome] = await settled(url, await send(url, ['good']))
  assert.equal(outcome?.category, 'successful')
})
