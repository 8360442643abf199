import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { op } from '../../src/base/store/statement.ts'
import type { Fatal } from '../../src/contract/outcome.ts'
import { callMigrations, findCall, forgetCalls } from '../../src/subjects/providers/calls.ts'
import { guard } from '../../src/subjects/providers/guard.ts'
import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import { messages } from '../suites/provider.ts'
import { contextOf } from '../support/context.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { stoppableClock } from '../support/set-clock.ts'
import { temporary } from '../support/sides.ts'
import { event } from '../support/wait.ts'

const accepted = ({ ref }: Message): Result => ({ category: 'successful', ref, rule: 'accepted' })
const away: Fatal = { category: 'fatal', reason: 'unavailable', blame: 'provider', rule: 'r', error: 'away' }

/** A provider with any answer, valid or not. */
const scriptedProvider = (
  send: (sent: readonly Message[], signal: AbortSignal) => unknown,
  over: Partial<Provider> = {},
): Provider => ({
  name: 'scripted',
  max: 10,
  send: async (sent, { signal }) => (await send(sent, signal)) as readonly Result[],
  ...over,
})
const options = { concurrency: 10, timeoutMs: 5_000 }
const send = (provider: Provider, count = 3, ms?: number) =>
  guard(provider, options).send(messages(count), contextOf(ms))

for (const [title, answer, error] of [
  ['too few results', [accepted(messages(1)[0] as Message)], /1 results for 3 messages/],
  ['too many results', Array(4).fill({ category: 'successful', rule: 'r' }), /4 results for 3/],
  ['no list', { ok: true }, /not a list/],
  ['nothing', undefined, /not a list/],
] as const) {
  test(`${title}: every message is fatal, because results cannot be assigned to messages`, async () => {
    const results = await send(scriptedProvider(() => answer))
    assert.equal(results.length, 3)
    for (const result of results) {
      assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'nonsense', blame: 'call', uncertain: true })
      assert.match((result as Fatal).error, error)
    }
  })
}

test('an exception makes every message fatal; a call with several messages may be split, a single message is retried', async () => {
  const throwing = scriptedProvider(() => {
    throw new Error('oops')
  })
  for (const result of await send(throwing))
    assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'nonsense', blame: 'call', uncertain: true })
  assert.partialDeepStrictEqual((await send(throwing, 1))[0], { blame: 'message', error: 'the provider failed: oops' })
  const immediately = {
    ...throwing,
    send: () => {
      throw new Error('at once')
    },
  } as Provider
  assert.partialDeepStrictEqual((await send(immediately, 1))[0], {
    category: 'fatal',
    error: 'the provider failed: at once',
  })
})

test('a missing or malformed result makes only its message fatal', async () => {
  const good = { category: 'successful', rule: 'r' }
  const nonsense = [
    undefined,
    null,
    7,
    {},
    { category: 'delivered', rule: 'r' },
    { category: 'successful' },
    { category: 'successful', rule: 'r', ref: 5 },
    { category: 'failed', rule: 'r' },
    { category: 'fatal', rule: 'r', reason: 'timeout', error: 'e', blame: 'nobody' },
    { category: 'fatal', rule: 'r', reason: 'timeout', error: 'e', blame: 'call', retryAfterMs: Number.NaN },
  ]
  for (const bad of nonsense) {
    const [first, second, third] = await send(scriptedProvider(() => [good, bad, good]))
    assert.deepEqual([first?.category, third?.category], ['successful', 'successful'])
    assert.partialDeepStrictEqual(second, { category: 'fatal', reason: 'nonsense', blame: 'message' })
  }
  const holed: unknown[] = [good, good]
  holed[2] = good
  delete holed[1]
  const holes = await send(scriptedProvider(() => holed))
  assert.equal(holes[1]?.category, 'fatal')
})

test('text that a store cannot hold is replaced', async () => {
  const [result] = await send(
    scriptedProvider(() => [
      { category: 'failed', reason: 'rejected', rule: 'r', error: `a\0b\ud800c${'x'.repeat(1_000)}`, answer: '\0' },
    ]),
    1,
  )
  assert.equal(result?.category, 'failed')
  const { error, answer } = result as { error: string; answer: string }
  assert.ok(error.isWellFormed() && !error.includes('\0') && error.length <= 500)
  assert.equal(answer, '\ufffd')
})

test('messages beyond the provider’s maximum become several calls, in order', async () => {
  const sizes: number[] = []
  const provider = scriptedProvider((sent) => {
    sizes.push(sent.length)
    return sent.map(accepted)
  })
  const results = await send(provider, 25)
  assert.deepEqual(sizes, [10, 10, 5])
  assert.deepEqual(
    results.map(({ ref }) => ref),
    messages(25).map(({ ref }) => ref),
  )
})

test('the number of calls in flight is limited', async () => {
  let running = 0
  let most = 0
  const provider = scriptedProvider(
    async (sent) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return sent.map(accepted)
    },
    { max: 1 },
  )
  await guard(provider, { concurrency: 3, timeoutMs: 5_000 }).send(messages(20), contextOf())
  assert.equal(most, 3)
})

test('the rate of calls is limited, and a refusal for the quota halves it', async (t) => {
  const time = stoppableClock(t)
  const calledAt: number[] = []
  let refuse = false
  const provider = scriptedProvider(
    (sent) => {
      calledAt.push(Date.now())
      return refuse ? [{ ...away, reason: 'rate_limited' }] : sent.map(accepted)
    },
    { max: 1, callsPerSecond: 40 },
  )
  const guarded = guard(provider, { concurrency: 100, timeoutMs: 5_000 })
  const results = await guarded.send(messages(14), contextOf())
  assert.ok(results.every(({ category }) => category === 'successful'))
  const [first = 0] = calledAt
  assert.ok((calledAt.at(-1) ?? 0) - first >= 190, 'a burst of five, then one every 25 ms')
  // After a second, five calls are possible at once. With a stopped clock, a slow machine allows no more.
  time.stop()
  time.pass(1_000)
  const beyond = (await guarded.send(messages(6), contextOf(20))).at(-1)
  assert.partialDeepStrictEqual(beyond, { category: 'fatal', reason: 'overloaded', untried: true })
  time.pass(1_000)
  refuse = true
  const slowed = event('provider.slowed')
  await guarded.send(messages(1), contextOf())
  assert.partialDeepStrictEqual(await slowed, { provider: 'scripted', perSecond: 10 })
})

test('the messages of a brand that wait for the rate do not delay those of another brand', async () => {
  const sent: string[] = []
  const provider = scriptedProvider(
    (given) => {
      sent.push(...given.map(({ brand }) => brand))
      return given.map(accepted)
    },
    { max: 1, callsPerSecond: 20 },
  )
  const guarded = guard(provider, options)
  const backlog = guarded.send(messages(9), contextOf())
  const other = messages(1).map((each) => ({ ...each, brand: '2' }))
  await Promise.all([backlog, guarded.send(other, contextOf())])
  const place = sent.indexOf('2')
  assert.ok(place >= 0 && place <= 4, `brand 2 was call ${place} of ${sent.length}`)
})

test('a call that hangs affects only its own messages, and releases its slot', async () => {
  let calls = 0
  const provider = scriptedProvider((sent) => (++calls === 1 ? new Promise(() => {}) : sent.map(accepted)), { max: 1 })
  const results = await guard(provider, { concurrency: 1, timeoutMs: 20 }).send(messages(2), contextOf())
  assert.partialDeepStrictEqual(results[0], {
    category: 'fatal',
    reason: 'timeout',
    blame: 'provider',
    uncertain: true,
  })
  assert.equal(results[1]?.category, 'successful')
})

test('a provider can still answer after the abort signal', async () => {
  const provider = scriptedProvider(
    (sent, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(sent.map(() => away)))),
  )
  const [result] = await send(provider, 1, 20)
  assert.partialDeepStrictEqual(result, { error: 'away' })
})

test('a message that waited for a slot until its deadline is not sent, and is not uncertain', async () => {
  let calls = 0
  const provider = scriptedProvider(() => new Promise(() => void calls++), { max: 1 })
  const results = await guard(provider, { concurrency: 1, timeoutMs: 5_000 }).send(messages(2), contextOf(50))
  assert.equal(calls, 1)
  assert.partialDeepStrictEqual(results[1], { category: 'fatal', rule: 'the deadline passed before the call' })
  assert.equal('uncertain' in (results[1] as object), false)
})

test('an exception of a provider is reported with its message and stack', async () => {
  const threw = event('provider.threw')
  await send(
    scriptedProvider(() => {
      throw new TypeError('messages is not iterable')
    }),
  )
  const { provider, error, stack } = await threw
  assert.deepEqual([provider, error], ['scripted', 'messages is not iterable'])
  assert.match(stack, /guard\.test\.ts:\d+/)
})

test('a transactional provider is never uncertain', async () => {
  const provider = scriptedProvider(() => Promise.reject(new Error('oops')), { transactional: true })
  const [result] = await send(provider, 1)
  assert.equal('uncertain' in (result as object), false)
})

test('the breaker opens after repeated failures of the provider, and closes when a probe succeeds', async (t) => {
  const time = stoppableClock(t)
  time.stop()
  let up = false
  let calls = 0
  const provider = scriptedProvider((sent) => {
    calls++
    return sent.map((each) => (up ? accepted(each) : away))
  })
  const guarded = guard(provider, { ...options, breaker: { after: 3, firstMs: 30, mostMs: 30 } })
  const one = async (): Promise<Result> => (await guarded.send(messages(1), contextOf()))[0] as Result
  const paused = event('provider.paused')
  for (let i = 0; i < 10; i++) await one()
  assert.equal((await paused).reason, 'away')
  assert.equal(calls, 3)
  const refused = (await one()) as Fatal
  assert.partialDeepStrictEqual(refused, { reason: 'unavailable', blame: 'provider', rule: 'breaker open' })
  assert.ok((refused.retryAfterMs ?? 0) > 0)
  assert.equal(refused.error, 'away', 'the error of the provider, not of the breaker')

  up = true
  const resumed = event('provider.resumed')
  time.pass(30)
  assert.equal((await one()).category, 'successful')
  await resumed
  assert.equal(calls, 4)
})

test('failures for which messages are to blame do not open the breaker', async () => {
  const own: Fatal = { ...away, blame: 'message' }
  const guarded = guard(
    scriptedProvider((sent) => sent.map(() => own)),
    { ...options, breaker: { after: 2, firstMs: 1_000, mostMs: 1_000 } },
  )
  for (let i = 0; i < 5; i++)
    assert.partialDeepStrictEqual((await guarded.send(messages(1), contextOf()))[0], { error: 'away' })
})

test('each call is one row of calls, and only the first result of the call writes it', async (t) => {
  const database = await openTestDatabase(t, `sqlite:${join(await temporary(t), 'calls.db')}`, {
    migrations: callMigrations,
  })
  const provider = scriptedProvider((sent) =>
    sent.map((each, i) => (i === 1 ? { ...away, answer: 'busy', rule: '§7.2.1 503' } : accepted(each))),
  )
  const done = event('call.done')
  const results = await send(provider, 12)
  assert.partialDeepStrictEqual(await done, {
    provider: 'scripted',
    messages: 10,
    fatal: 1,
    failed: 0,
    rule: '§7.2.1 503',
    error: 'away',
  })
  assert.deepEqual(
    [new Set(results.map(({ call }) => call)).size, results.filter(({ writes }) => writes).length],
    [2, 2],
  )
  const writes = results.flatMap((result) => result.writes ?? [])
  await database.commit(writes)
  // A repeated settle has the same rows.
  await database.commit(writes)
  const [call] = await database.read(op(findCall, [[results[9]?.call as string]]))
  assert.partialDeepStrictEqual(call, {
    provider: 'scripted',
    messages: 10,
    rule: '§7.2.1 503',
    answer: 'busy',
    error: 'away',
  })
  assert.equal(await forgetCalls(database, Date.now() + 10_000, 1), 1)
  assert.equal(await forgetCalls(database, Date.now() + 10_000), 1)
})

test('a provider that is a class instance keeps its methods', async () => {
  class OwnProvider implements Provider {
    readonly name = 'own'
    readonly max = 5
    closed = false
    async send(sent: readonly Message[]) {
      return sent.map(accepted)
    }
    async check() {
      return [{ ok: true, description: this.name }]
    }
    async close() {
      this.closed = true
    }
  }
  const mine = new OwnProvider()
  const guarded = guard(mine, options)
  assert.equal((await guarded.send(messages(1), contextOf()))[0]?.category, 'successful')
  assert.deepEqual(await guarded.check?.(), [{ ok: true, description: 'own' }])
  await guarded.close?.()
  assert.equal(mine.closed, true)
})
