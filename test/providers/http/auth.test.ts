import assert from 'node:assert/strict'
import test from 'node:test'
import { signatureHeaders } from '../../../src/providers/http/standard-webhooks.ts'
import { type FetchedToken, tokenSource } from '../../../src/providers/http/token-source.ts'

test('a signature follows the Standard Webhooks specification', () => {
  assert.deepEqual(
    signatureHeaders({
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
      now: 1614265330_999,
    }),
    {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  )
})

function fetches() {
  const waiting: PromiseWithResolvers<FetchedToken>[] = []
  const clock = { now: 0 }
  const tokens = tokenSource(
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
  clock.now = hour
  const late = tokens.get()
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
