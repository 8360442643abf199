import assert from 'node:assert/strict'
import test from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { startLog } from '../../src/base/runtime/log.ts'
import { stoppableClock } from '../support/set-clock.ts'
import { adminKey, element, get, keys, post, startOperator } from '../support/sides.ts'

test('guessed keys are limited and logged in one line; callers with a valid key are not affected', async (t) => {
  const lines: string[] = []
  const log = startLog({ level: 'info', format: 'json', to: { write: (line) => lines.push(line) } })
  t.after(() => log.stop())
  const time = stoppableClock(t)
  const { url } = await startOperator(t)
  // No time passes, so that no further guess is allowed.
  time.stop()
  const single = `${url}/channels/push/single`
  assert.equal((await post(single, element(), keys.one.key)).status, 200)
  const guesses = await Promise.all(Array.from({ length: 500 }, (_, i) => post(single, element(), `guess-${i}`)))
  const of = (status: number): number => guesses.filter((answer) => answer.status === status).length
  assert.deepEqual([of(401), of(503)], [100, 400])
  const refused = guesses.find(({ status }) => status === 503)
  assert.equal(refused?.headers.get('retry-after'), '1')
  assert.match(refused?.body.error, /too many wrong API keys/)
  assert.equal((await post(single, element(), keys.one.key)).status, 200)
  assert.equal((await get(`${url}/admin/summary`, adminKey.key)).status, 200)
  const about = lines.filter((line) => line.includes('keys.refused'))
  assert.equal(about.length, 1)
  assert.match(about[0] as string, /"address":"127\.0\.0\.1","count":1/)
  assert.equal(lines.filter((line) => line.includes('guess-') || line.includes('request.refused')).length, 0)
})

test('guessed tokens at /app are limited; an address of users with right or expired tokens is not', async (t) => {
  const time = stoppableClock(t)
  const secret = 'the-secret-of-the-token-tests-long-enough'
  const { url } = await startOperator(t, { app: { secrets: [secret] } })
  time.stop()
  const inbox = async (token: string): Promise<number> => {
    const response = await fetch(`${url}/app/inbox`, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    return response.status
  }
  const create = (from: string, ttlSeconds = 600): Promise<string> =>
    createSubscriberToken({ secret: from, brand: '1', userId: '1001', ttlSeconds })
  const guess = await create('another-secret-that-is-long-enough-too')
  const expired = await create(secret, -600)
  for (let i = 0; i < 150; i++) assert.equal(await inbox(expired), 401)
  for (let i = 0; i < 50; i++) assert.equal(await inbox(guess), 401)
  for (let i = 0; i < 50; i++) assert.equal(await inbox('junk'), 401)
  assert.equal(await inbox(guess), 429)
  assert.equal(await inbox(await create(secret)), 429, 'a right guess looks like a wrong one')
  time.pass(1_000)
  assert.equal(await inbox(await create(secret)), 200)
  for (let i = 0; i < 20; i++) assert.equal(await inbox(guess), 401)
  assert.equal(await inbox(await create(secret)), 200, 'users share addresses')
})
