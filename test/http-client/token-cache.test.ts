// The cache of access tokens, of FCM and of OAuth 2.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createTokenCache, type FetchedToken } from '../../src/base/http-client/token-cache.ts'

function fetches() {
  const waiting: PromiseWithResolvers<FetchedToken>[] = []
  const clock = { now: 0 }
  const tokens = createTokenCache(
    () => {
      const one = Promise.withResolvers<FetchedToken>()
      waiting.push(one)
      return one.promise
    },
    () => clock.now,
  )
  return { waiting, clock, tokens }
}
const hour = 3_600_000

test('a token is fetched once for all waiting callers, and cached', async () => {
  const { waiting, tokens } = fetches()
  const requested = [tokens.get(), tokens.get(), tokens.get()]
  assert.equal(waiting.length, 1)
  waiting[0]?.resolve({ token: 'a', lifeMs: hour })
  assert.deepEqual(await Promise.all(requested), ['a', 'a', 'a'])
  assert.equal(await tokens.get(), 'a')
  assert.equal(waiting.length, 1)
})

test('a token is renewed five minutes before it expires, and no caller waits for that', async () => {
  const { waiting, clock, tokens } = fetches()
  const first = tokens.get()
  waiting[0]?.resolve({ token: 'a', lifeMs: hour })
  await first
  clock.now = hour - 300_000
  assert.deepEqual(await Promise.all([tokens.get(), tokens.get()]), ['a', 'a'])
  assert.equal(waiting.length, 2)
  waiting[1]?.resolve({ token: 'b', lifeMs: hour })
  await new Promise(setImmediate)
  assert.equal(await tokens.get(), 'b')
})

test('if a renewal fails, the old token is used until it expires, and the renewal is retried later', async () => {
  const { waiting, clock, tokens } = fetches()
  const first = tokens.get()
  waiting[0]?.resolve({ token: 'a', lifeMs: hour })
  await first
  clock.now = hour - 299_000
  await tokens.get()
  waiting[1]?.reject(new Error('down'))
  await new Promise(setImmediate)
  assert.equal(await tokens.get(), 'a')
  assert.equal(waiting.length, 2)
  clock.now += 5_000
  assert.equal(await tokens.get(), 'a')
  assert.equal(waiting.length, 3)
  waiting[2]?.reject(new Error('down'))
  await new Promise(setImmediate)
  clock.now = hour - 30_000
  const late = Promise.resolve(tokens.get())
  waiting[3]?.reject(new Error('still down'))
  await assert.rejects(late, /still down/)
})

test('a refused token is replaced once, even if many requests were refused with it', async () => {
  const { waiting, tokens } = fetches()
  const first = tokens.get()
  waiting[0]?.resolve({ token: 'a', lifeMs: hour })
  await first
  tokens.drop('a')
  const requested = [tokens.get(), tokens.get()]
  waiting[1]?.resolve({ token: 'b', lifeMs: hour })
  assert.deepEqual(await Promise.all(requested), ['b', 'b'])
  tokens.drop('a')
  assert.equal(await tokens.get(), 'b')
  assert.equal(waiting.length, 2)
})

test('after a failed fetch the token endpoint is left alone for a second', async () => {
  const { waiting, clock, tokens } = fetches()
  const first = tokens.get()
  waiting[0]?.reject(new Error('refused'))
  await assert.rejects(async () => first, /refused/)
  await assert.rejects(async () => tokens.get(), /refused/)
  assert.equal(waiting.length, 1)
  clock.now = 1_000
  const next = tokens.get()
  waiting[1]?.resolve({ token: 'a', lifeMs: hour })
  assert.equal(await next, 'a')
})
