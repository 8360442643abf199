// What every Provider must do, guarded as it always is. Each provider's own test runs it.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { messageKey } from '../../src/contract/message-key.ts'
import { guard } from '../../src/providers/guard.ts'
import type { Message, Provider, Result, SendContext } from '../../src/providers/provider.ts'

export interface ProviderFixture {
  readonly name: string
  readonly skip?: string | false
  /** A provider that accepts everything. */
  readonly accepting: (t: TestContext) => Promise<Provider>
  /** One whose other side never answers; absent: it has no other side. */
  readonly silent?: (t: TestContext) => Promise<Provider>
}

/** A message of user 1001, of brand 1 unless said otherwise. */
export function message(id: number, over: Partial<Message> = {}): Message {
  const brand = over.brand ?? '1'
  return {
    brand,
    channel: 'push',
    id: String(id),
    userId: '1001',
    key: messageKey('push', { id: String(id), userId: '1001', activityId: '7', actionId: '9', triggerHash: 'hash' }),
    ref: `ref ${brand} ${id}`,
    text: `{"activity":{"id":${id},"brand_id":${brand},"user_id":"1001","activity_id":7,"action_group_id":8,"trigger_hash":"hash","action_id":9},"title":"Hello"}`,
    attempt: 1,
    context: {},
    ...over,
  }
}
export const messages = (count: number, from = 1): Message[] =>
  Array.from({ length: count }, (_, i) => message(from + i))

export const contextOf = (ms = 10_000, signal: AbortSignal = new AbortController().signal): SendContext => ({
  deadline: Date.now() + ms,
  signal,
})

export function providerSuite({ name, skip = false, accepting, silent }: ProviderFixture): void {
  const check = (title: string, run: (t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 30_000 }, run)
  }
  const guarded = (t: TestContext, provider: Provider): Provider => {
    t.after(() => provider.close?.())
    return guard(provider, { concurrency: 10, timeoutMs: 10_000 })
  }

  check('it answers once for each message, in order', async (t) => {
    const provider = guarded(t, await accepting(t))
    const sent = messages(25)
    const results = await provider.send(sent, contextOf())
    assert.equal(results.length, 25)
    assert.ok(results.every(({ category, rule }) => category === 'successful' && rule !== ''))
    const refs = results.map((result) => result.ref)
    assert.equal(new Set(refs).size, 25)
    const again = await provider.send(sent.toReversed(), contextOf())
    assert.equal(again.length, 25)
  })

  check('it carries no more than it says in one call, and one message as well', async (t) => {
    const provider = guarded(t, await accepting(t))
    const count = Math.min(provider.max * 2 + 1, 2_500)
    assert.equal((await provider.send(messages(count), contextOf())).length, count)
    assert.equal((await provider.send(messages(1), contextOf())).length, 1)
    assert.deepEqual(await provider.send([], contextOf()), [])
  })

  check('two brands with the same users and ids are told apart', async (t) => {
    const provider = guarded(t, await accepting(t))
    const [one, two] = await Promise.all(['1', '2'].map((brand) => provider.send([message(1, { brand })], contextOf())))
    assert.notEqual(one?.[0]?.ref, two?.[0]?.ref)
  })

  check('it sends nothing after the deadline', async (t) => {
    const provider = guarded(t, await accepting(t))
    const [result] = await provider.send(messages(1), contextOf(-1))
    assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'timeout' })
    assert.equal((result as { uncertain?: true }).uncertain, undefined)
  })

  if (!silent) return

  check('it gives up at the deadline: the message may have arrived', async (t) => {
    const provider = guarded(t, await silent(t))
    const results = await provider.send(messages(2), contextOf(100))
    for (const result of results) {
      assert.partialDeepStrictEqual(result, {
        category: 'fatal',
        reason: 'timeout',
        blame: 'provider',
        uncertain: true,
      })
    }
  })

  check('it gives up when the process stops', async (t) => {
    const stopping = new AbortController()
    const provider = guarded(t, await silent(t))
    const sending = provider.send(messages(1), contextOf(20_000, stopping.signal))
    setTimeout(() => stopping.abort(), 50)
    const [result] = await sending
    assert.partialDeepStrictEqual(result as Result, { category: 'fatal', blame: 'provider', uncertain: true })
  })
}
