// Statuses that apps and service workers report.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { readReceiptToken, receiptToken } from '../../src/contract/receipt-token.ts'
import { onSqlite } from '../support/engines.ts'
import { adminKey, element, get, keys, post, startOperator } from '../support/sides.ts'

const secret = 'the-secret-of-the-receipt-tests-long-enough'
const options = { status: {}, app: { secrets: ['another-secret-that-signs-new-tokens', secret] } }

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const userToken = (userId: string, brand = '1', over: object = {}) =>
  createSubscriberToken({ secret, brand, userId, ...over })

async function sendOne(url: string, over: object = {}): Promise<string> {
  return (await post(`${url}/channels/push/single`, element(over as never), keys.both.key)).body.push_id
}
async function statusesOf(url: string, ref: string): Promise<readonly string[]> {
  const { body } = await get(`${url}/admin/messages/${ref}`, adminKey.key)
  return body.statuses.map(({ status }: { status: string }) => status)
}

onSqlite('an app reports statuses of messages of its user only, each once', async (t, store) => {
  const { url } = await startOperator(t, { ...options, store })
  const [mine, other, elsewhere] = [
    await sendOne(url),
    await sendOne(url, { user_id: '1002' }),
    await sendOne(url, { brand_id: 2 }),
  ]
  const report = (statuses: readonly object[], token: string) =>
    post(`${url}/app/status`, { statuses }, undefined, bearer(token))
  const all = [mine, other, elsewhere, 'no such'].map((push_id) => ({ push_id, status: 'displayed' }))
  const answer = await report(all, await userToken('1001'))
  assert.deepEqual(answer.body.unknown.sort(), [other, elsewhere, 'no such'].sort())
  assert.deepEqual(await statusesOf(url, mine), ['sent', 'displayed'])
  for (const ref of [other, elsewhere]) assert.deepEqual(await statusesOf(url, ref), ['sent'])

  const future = new Date(Date.now() + 86_400_000).toISOString()
  for (let i = 0; i < 2; i++)
    await report([{ push_id: mine, status: 'clicked', timestamp: future }], await userToken('1001'))
  await report([{ push_id: mine, status: 'opened', timestamp: '1970-01-01T00:00:00Z' }], await userToken('1001'))
  const { body } = await get(`${url}/admin/messages/${mine}`, adminKey.key)
  assert.equal(body.status, 'clicked')
  assert.ok(
    body.statuses.every(({ at }: { at: string }) => Date.parse(at) <= Date.now()),
    'no status is in the future',
  )
  const [first] = body.statuses
  assert.equal(first.status, 'sent', 'no status is before the message')
  assert.deepEqual(await statusesOf(url, mine), ['sent', 'displayed', 'clicked', 'opened'])
})

test('a report that is malformed, or has an expired token, is refused and changes nothing', async (t) => {
  const { url } = await startOperator(t, options)
  const ref = await sendOne(url)
  const token = await userToken('1001')
  const expired = await userToken('1001', '1', { ttlSeconds: 1, now: () => Date.now() - 60_000 })
  for (const [body, as, status] of [
    [{ statuses: [{ push_id: ref, status: 'failed' }] }, token, 400],
    [{ statuses: [{ push_id: ref, status: 'eaten' }] }, token, 400],
    [{ statuses: [] }, token, 400],
    [{ statuses: [{ push_id: ref, status: 'clicked', timestamp: 'yesterday' }] }, token, 400],
    [{ statuses: [{ push_id: ref, status: 'clicked' }] }, expired, 401],
    [{ statuses: [{ push_id: ref, status: 'clicked' }] }, 'no token', 401],
  ] as const)
    assert.equal((await post(`${url}/app/status`, body, undefined, bearer(as))).status, status)
  assert.deepEqual(await statusesOf(url, ref), ['sent'])
})

onSqlite('a receipt token reports statuses of its own message, and of no other', async (t, store) => {
  const { url } = await startOperator(t, { ...options, store })
  const [ref, other] = [await sendOne(url), await sendOne(url)]
  const token = receiptToken(secret, { brand: '1', ref })
  const report = (as: string, body: object = { status: 'clicked' }) =>
    post(`${url}/app/receipts`, body, undefined, bearer(as))
  const [brand, , mac] = token.split('.')
  for (const forged of [
    `${brand}.${other}.${mac}`,
    `2.${ref}.${mac}`,
    `${brand}.${ref}.`,
    receiptToken('some-other-secret-of-32-bytes-or-more', { brand: '1', ref }),
    await userToken('1001'),
  ])
    assert.equal((await report(forged)).status, 401, forged)
  assert.equal((await report(token, { status: 'failed' })).status, 400)
  assert.equal((await report(token, { status: 'clicked', push_id: other })).status, 400)
  assert.equal((await report(token)).status, 200)
  assert.equal((await report(token)).status, 200, 'a repeated report is accepted')
  assert.deepEqual(await statusesOf(url, ref), ['sent', 'clicked'])
  assert.deepEqual(await statusesOf(url, other), ['sent'])
  const unknown = receiptToken(secret, { brand: '1', ref: 'no-such-message' })
  assert.equal((await report(unknown)).status, 404)
})

test('a receipt token is read with each of the secrets', () => {
  const token = receiptToken(secret, { brand: '12', ref: 'r-1' })
  assert.deepEqual(readReceiptToken(['another', secret], token), { brand: '12', ref: 'r-1' })
  for (const wrong of ['', 'a.b', `${token}.x`, token.slice(0, -1), token.toUpperCase()])
    assert.equal(readReceiptToken([secret], wrong), undefined, wrong)
})
