// The requirements for every Provider inside a guard, as in the send path. Run by the test of each provider.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { messageKey } from '../../src/contract/message-key.ts'
import { guard } from '../../src/subjects/providers/guard.ts'
import type { Message, Provider, Result } from '../../src/subjects/providers/provider.ts'
import { contextOf } from '../support/context.ts'

export interface ProviderFixture {
  readonly name: string
  readonly skip?: string | false
  /** A provider that accepts every message. */
  readonly accepting: (t: TestContext) => Promise<Provider>
  /** A provider whose server never answers. Absent if the provider has no server. */
  readonly silent?: (t: TestContext) => Promise<Provider>
}

/** A message to user 1001, of brand 1 by default. */
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

export function providerSuite({ name, skip = false, accepting, silent }: ProviderFixture): void {
  const check = (title: string, run: (t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 30_000 }, run)
  }
  const addGuard = (t: TestContext, provider: Provider): Provider => {
    t.after(() => provider.close?.())
    return guard(provider, { concurrency: 10, timeoutMs: 10_000 })
  }

  check('a call returns one result for each message, in order', async (t) => {
    const provider = addGuard(t, await accepting(t))
    const sent = messages(25)
    const results = await provider.send(sent, contextOf())
    assert.equal(results.length, 25)
    assert.ok(results.every(({ category, rule }) => category === 'successful' && rule !== ''))
    const refs = results.map((result) => result.ref)
    assert.equal(new Set(refs).size, 25)
    const again = await provider.send(sent.toReversed(), contextOf())
    assert.equal(again.length, 25)
  })

  check('a call may have no message, one message, or more messages than the provider’s maximum', async (t) => {
    const provider = addGuard(t, await accepting(t))
    const count = Math.min(provider.max * 2 + 1, 2_500)
    assert.equal((await provider.send(messages(count), contextOf())).length, count)
    assert.equal((await provider.send(messages(1), contextOf())).length, 1)
    assert.deepEqual(await provider.send([], contextOf()), [])
  })

  check('messages of two brands with equal user ids and activity.ids get different identifiers', async (t) => {
    const provider = addGuard(t, await accepting(t))
    const [one, two] = await Promise.all(['1', '2'].map((brand) => provider.send([message(1, { brand })], contextOf())))
    assert.notEqual(one?.[0]?.ref, two?.[0]?.ref)
  })

  check('no message is sent after the deadline', async (t) => {
    const provider = addGuard(t, await accepting(t))
    const [result] = await provider.send(messages(1), contextOf(-1))
    assert.partialDeepStrictEqual(result, { category: 'fatal', reason: 'timeout' })
    assert.equal((result as { uncertain?: true }).uncertain, undefined)
  })

  if (!silent) return

  check('a call without an answer ends at the deadline, and its messages are uncertain', async (t) => {
    const provider = addGuard(t, await silent(t))
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

  check('a call without an answer ends when the process stops, and its message is uncertain', async (t) => {
    const stopping = new AbortController()
    const provider = addGuard(t, await silent(t))
    const sending = provider.send(messages(1), contextOf(20_000, stopping.signal))
    setTimeout(() => stopping.abort(), 50)
    const [result] = await sending
    assert.partialDeepStrictEqual(result as Result, { category: 'fatal', blame: 'provider', uncertain: true })
  })
}
