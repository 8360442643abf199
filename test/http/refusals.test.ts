// What callers without a key or token can write to the log.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { startLog } from '../../src/base/runtime/log.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { get, post, startOperator } from '../support/sides.ts'

const secret = 'the-secret-of-the-refusal-tests-long-enough'
const rules = [{ at: '/event', equals: 'opened', status: 'opened' }] as const
const provider = { name: 'pager', header: 'x-secret', secret: 'the-secret-of-the-pager', id: '/id', rules }

async function start(t: TestContext) {
  const lines: string[] = []
  const log = startLog({ level: 'info', format: 'json', to: { write: (line) => lines.push(line) } })
  t.after(() => log.stop())
  const { url } = await startOperator(t, { app: { secrets: [secret] }, status: { receiptsFrom: [provider] } })
  return { url, lines }
}

test('refused requests of strangers and of users are one log line for an address, with a short path', async (t) => {
  const { url, lines } = await start(t)
  const token = await createSubscriberToken({ secret, brand: '1', userId: '1001', ttlSeconds: 600 })
  const user = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const long = 'x'.repeat(12_000)
  const before = lines.length
  const junk = { authorization: 'Bearer junk' }
  for (let i = 0; i < 50; i++) {
    assert.equal((await get(`${url}/${long}?token=x`)).status, 404)
    assert.equal((await get(`${url}/channels/push/single`)).status, 405)
    assert.equal((await fetch(`${url}/app/inbox`, { headers: junk })).status, 401)
    assert.equal((await fetch(`${url}/app/receipts`, { method: 'POST', headers: junk })).status, 401)
    assert.equal((await fetch(`${url}/app/inbox/%ff`)).status, 400)
    assert.equal((await fetch(`${url}/app/inbox/mark`, { method: 'POST', headers: user, body: '[' })).status, 400)
    const socket = openRawSocket(t, url)
    socket.write('no HTTP\r\n\r\n')
    assert.equal(await socket.status(), 400)
  }
  const written = lines.slice(before)
  assert.equal(written.length, 1, written.join(''))
  const { event, address, count, path, status } = JSON.parse(written[0] as string)
  assert.deepEqual([event, address, count, status], ['requests.refused', '127.0.0.1', 1, 404])
  assert.equal(path, `/${'x'.repeat(199)}…`)
  assert.ok((written[0] as string).length < 600)
})

test('a refused request with a right key has a log line of its own', async (t) => {
  const { url, lines } = await start(t)
  for (let i = 0; i < 2; i++) assert.equal((await post(`${url}/channels/push/single`, 'no JSON')).status, 400)
  const refused = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request.refused')
  assert.deepEqual(
    refused.map(({ path, status }) => [path, status]),
    Array(2).fill(['/channels/push/single', 400]),
  )
})

test("guessed secrets of a provider's receipts are limited like wrong keys; the right one is accepted from where it was right", async (t) => {
  const { url, lines } = await start(t)
  const guess = async (value: string) =>
    (await post(`${url}/receipts/pager`, [], undefined, { 'x-secret': value })).status
  assert.equal(await guess(provider.secret), 200)
  const guesses = await Promise.all(Array.from({ length: 300 }, (_, i) => guess(`guess-${i}`)))
  const checked = guesses.filter((status) => status === 401).length
  assert.ok(checked >= 100 && checked < 300, `${checked} of 300 guesses were checked`)
  assert.ok(guesses.includes(503))
  assert.equal(await guess(provider.secret), 200)
  assert.equal(lines.filter((line) => line.includes('keys.refused')).length, 1)
})
