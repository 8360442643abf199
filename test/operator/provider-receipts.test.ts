// Receipts of providers: POST /receipts/NAME.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { operatorOptions } from '../../src/sides/config/compose/compose.ts'
import { loadConfig } from '../../src/sides/config/load.ts'
import type { ProviderReceipts } from '../../src/subjects/status/provider-receipts.ts'
import { onSqlite } from '../support/engines.ts'
import { adminKey, element, get, keys, post, startOperator, temporary } from '../support/sides.ts'

const mailer: ProviderReceipts = {
  name: 'mailer',
  header: 'authorization',
  secret: 'Bearer a-secret-of-the-mailer',
  events: '/events',
  id: '/message/push_id',
  time: '/at',
  rules: [
    { at: '/event', equals: 'delivered', status: 'delivered' },
    { at: '/event', equals: 'open', status: 'opened' },
    { at: '/kind', equals: '7', status: 'clicked' },
  ],
}
const options = { status: { receiptsFrom: [mailer, { ...mailer, name: 'other', secret: 'Bearer of-the-other' }] } }

const report = (url: string, body: unknown, secret: string = mailer.secret, name = 'mailer') =>
  post(`${url}/receipts/${name}`, body, undefined, { authorization: secret })

async function sendOne(url: string, over: object = {}): Promise<string> {
  return (await post(`${url}/channels/push/single`, element(over as never), keys.both.key)).body.push_id
}
async function statusesOf(url: string, ref: string): Promise<Record<string, string>> {
  const { body } = await get(`${url}/admin/messages/${ref}`, adminKey.key)
  return Object.fromEntries(body.statuses.map(({ status, at }: { status: string; at: string }) => [status, at]))
}

onSqlite('events are statuses by the first rule that matches, of messages of every brand', async (t, store) => {
  const { url } = await startOperator(t, { ...options, store })
  const [one, two] = [await sendOne(url), await sendOne(url, { brand_id: 2 })]
  const seconds = Math.ceil(Date.now() / 1_000)
  const events = [
    { event: 'delivered', message: { push_id: one }, at: new Date(seconds * 1_000).toISOString() },
    { event: 'open', kind: 7, message: { push_id: one }, at: seconds + 1.5 },
    { kind: 7, message: { push_id: two } },
    { event: 'bounced softly', message: { push_id: one } },
    { event: 'open' },
    { event: 'open', message: { push_id: 'of another system' } },
  ]
  for (let i = 0; i < 2; i++) {
    const { status, body } = await report(url, { events })
    assert.equal(status, 200)
    assert.deepEqual(body, { recorded: 3, ignored: 2, unknown: ['of another system'] })
  }
  const { sent: _, ...first } = await statusesOf(url, one)
  const times = Object.entries(first).map(([status, at]) => [status, Date.parse(String(at)) - seconds * 1_000])
  assert.deepEqual(Object.fromEntries(times), { delivered: 0, opened: 1_500 })
  assert.deepEqual(Object.keys(await statusesOf(url, two)), ['sent', 'clicked'])
})

test('a wrong secret, another provider and a malformed body are refused, and change nothing', async (t) => {
  const { url } = await startOperator(t, options)
  const ref = await sendOne(url)
  const event = { event: 'open', message: { push_id: ref } }
  for (const [body, secret, name, status] of [
    [{ events: [event] }, 'Bearer wrong', 'mailer', 401],
    [{ events: [event] }, '', 'mailer', 401],
    [{ events: [event] }, mailer.secret, 'other', 401],
    [{ events: [event] }, mailer.secret, 'nobody', 401],
    ['not json', mailer.secret, 'mailer', 400],
    [[event], mailer.secret, 'mailer', 400],
    [{ events: Array.from({ length: 1_001 }, () => event) }, mailer.secret, 'mailer', 400],
    [{ events: ['x'.repeat(1_100_000)] }, mailer.secret, 'mailer', 413],
  ] as const)
    assert.equal((await report(url, body, secret, name)).status, status, `${name} ${secret} ${status}`)
  assert.deepEqual(Object.keys(await statusesOf(url, ref)), ['sent'])
})

test('the settings map a body that is one event', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  await writeFile(
    file,
    `operator:
  keys: [{name: platform, key: example-operator-key-1, brands: [1, 2]}]
  suppression: none
  status:
    receipts_from:
      - {name: pager, header: X-Secret, secret: the-secret-of-the-pager, id: /id, rules: [{at: /e, equals: opened, status: opened}]}
`,
  )
  const { operator } = await loadConfig(file)
  assert.ok(operator)
  const { status } = await operatorOptions(operator)
  assert.ok(status)
  const { url } = await startOperator(t, { status })
  const ref = await sendOne(url)
  const answer = await post(`${url}/receipts/pager`, { e: 'opened', id: ref }, undefined, {
    'x-secret': 'the-secret-of-the-pager',
  })
  assert.deepEqual(answer.body, { recorded: 1, ignored: 0, unknown: [] })
})
