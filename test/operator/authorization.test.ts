// Row 15: the places of the API key at the endpoints of the interface.

import assert from 'node:assert/strict'
import test from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import { adminKey, element, keys, startOperator, startPlatform } from '../support/sides.ts'

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
const { name, key } = keys.one

async function statusOf(url: string, headers: Record<string, string>, body?: object): Promise<number> {
  const sent = { 'content-type': 'application/json', ...headers }
  const posted = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url, { headers: sent, ...posted })
  await response.arrayBuffer()
  return response.status
}

const right = [
  { 'x-api-key': key },
  { authorization: `Bearer ${key}` },
  { authorization: `bearer  ${key}` },
  { authorization: basic(`${name}:${key}`) },
  { 'x-api-key': key, authorization: basic('a:gateway') },
]
const wrong = [
  {},
  { authorization: key },
  { authorization: 'Bearer' },
  { authorization: `Bearer ${key}x` },
  { authorization: `Digest ${key}` },
  { authorization: basic(`${keys.two.name}:${key}`) },
  { authorization: basic(`:${key}`) },
  { authorization: basic(`${key}:`) },
  { authorization: basic(key) },
  { 'x-api-key': `${key}x`, authorization: `Bearer ${key}` },
]

test('the key may be X-Api-Key, the token of Bearer or the password of Basic at every endpoint of the operator', async (t) => {
  const { url } = await startOperator(t, { status: { polling: true } })
  for (const [path, body] of [
    ['/channels/push/single', element()],
    ['/channels/push/batch', []],
    ['/channels/site/batch', []],
    ['/messages/status', undefined],
  ] as const) {
    for (const headers of right) assert.equal(await statusOf(url + path, headers, body), 200, JSON.stringify(headers))
    for (const headers of wrong) assert.equal(await statusOf(url + path, headers, body), 401, JSON.stringify(headers))
  }
  for (const headers of right) assert.notEqual(await statusOf(`${url}/reconciliation`, headers, {}), 401)
  for (const headers of wrong) assert.equal(await statusOf(`${url}/reconciliation`, headers, {}), 401)
})

test('the platform accepts links with the same places of the key', async (t) => {
  const scopes = ['devices'] as const
  const { url } = await startPlatform(t, { keys: [{ name, key, scopes, brands: ['1'] }], lanes: [] })
  const link = `${url}/v1/integration/user/device/link`
  for (const headers of right) assert.equal(await statusOf(link, headers, {}), 400)
  for (const headers of wrong) assert.equal(await statusOf(link, headers, {}), 401)
})

test('administration accepts X-Api-Key only', async (t) => {
  const { url } = await startOperator(t)
  const summary = `${url}/admin/summary`
  assert.equal(await statusOf(summary, { 'x-api-key': adminKey.key }), 200)
  assert.equal(await statusOf(summary, { authorization: `Bearer ${adminKey.key}` }), 401)
  assert.equal(await statusOf(summary, { authorization: basic(`${adminKey.name}:${adminKey.key}`) }), 401)
})

test('guesses by Bearer and Basic are limited like wrong keys', async (t) => {
  const stoppedAt = performance.now()
  t.mock.method(clock, 'monotonic', () => stoppedAt)
  const { url } = await startOperator(t)
  const send = (authorization: string) => statusOf(`${url}/channels/push/batch`, { authorization }, [])
  for (let n = 0; n < 50; n++) {
    assert.equal(await send(`Bearer guess-${n}`), 401)
    assert.equal(await send(basic(`${name}:guess-${n}`)), 401)
  }
  assert.equal(await send('Bearer guess'), 503)
  assert.equal(await send(basic(`${name}:${key}`)), 503, 'a right guess looks like a wrong one')
})
