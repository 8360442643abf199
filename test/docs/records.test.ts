// The JSON blocks and HTTP requests of README and docs are sent to real sides, or read as the other side reads them.

import assert from 'node:assert/strict'
import test from 'node:test'
import { Check } from 'typebox/schema'
import { readBatchAnswer } from '../../src/contract/answer.ts'
import { defaultContentMapping, readPushContent } from '../../src/contract/content.ts'
import { readSingle } from '../../src/contract/read-activity.ts'
import { readStatusPage } from '../../src/contract/status-page.ts'
import { webhookHeaders } from '../../src/contract/webhook-signature.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { apnsNotification } from '../../src/subjects/providers/apns/notification.ts'
import { fcmMessage } from '../../src/subjects/providers/fcm/message.ts'
import { urgencyOf } from '../../src/subjects/providers/web-push/payload.ts'
import { openApiDocuments } from '../../src/tools/cli/write-openapi.ts'
import { report, secretOf } from '../conversions/reporting.ts'
import { strictSchema } from '../support/documented.ts'
import { adminKey, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { fencedSnippets, pages, type Snippet } from './blocks.ts'

const documents = await openApiDocuments()
const blocks = pages.flatMap((page) => fencedSnippets(page, 'json'))
const ofKind = (kind: string): Snippet[] => {
  const found = blocks.filter(({ text }) => kindOf(text) === kind)
  assert.ok(found.length > 0, kind)
  return found
}

/** Each kind has a test below. */
const kinds = ['activity', 'tokens', 'successful', 'records']
const kindOf = (text: string): string | undefined => kinds.find((member) => Object.hasOwn(JSON.parse(text), member))

test('each JSON block of README and docs is JSON of a known kind', () => {
  assert.deepEqual(
    blocks.filter(({ text }) => kindOf(text) === undefined),
    [],
  )
})

test('each activity request record of the docs is accepted by the operator and by the platform', async (t) => {
  const operator = await startOperator(t)
  const platform = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'single', provider: witness() }],
  })
  for (const { from, text } of ofKind('activity')) {
    const sent = await post(`${operator.url}/channels/push/single`, text, keys.one.key)
    assert.equal(sent.status, 200, `${from}: ${sent.text}`)
    const enqueued = await post(`${platform.url}/admin/activities/push`, text, adminKey.key)
    assert.equal(enqueued.body.accepted, 1, `${from}: ${enqueued.text}`)
    const { activity } = JSON.parse(text)
    const read = { id: String(activity.id), brandId: String(activity.brand_id), userId: activity.user_id }
    assert.partialDeepStrictEqual(readSingle(text), read, from)
  }
})

test('the overrides of the docs are accepted by each push service that they name', () => {
  const [{ text = '' } = {}] = ofKind('activity').filter(({ text }) => text.includes('"overrides"'))
  const content = readPushContent(text, defaultContentMapping)
  assert.ok('overrides' in content && content.overrides, JSON.stringify(content))
  assert.deepEqual(Object.keys(content.overrides).sort(), ['apns', 'fcm', 'http', 'web-push'])
  const device: Device = { brand: '1', userId: '1001', kind: 'apns', token: 't', app: 'com.example', linkedAt: '' }
  const push = { ref: '0192f0c1-7d2a-7cc3-98c4-dc0c0c07398f', device, content, expiresAt: 2_000_000_000_000 }
  const apns = apnsNotification(push, 'com.example')
  assert.ok('headers' in apns, JSON.stringify(apns))
  assert.equal(apns.headers[apns.headers.indexOf('apns-priority') + 1], '5')
  const fcm = fcmMessage({ ...push, device: { ...device, kind: 'fcm_token' } }, 1_900_000_000_000)
  assert.ok('body' in fcm, JSON.stringify(fcm))
  assert.equal(JSON.parse(fcm.body).message.android.priority, 'HIGH')
  assert.equal(urgencyOf(content), 'high')
})

test('the device link of the docs is accepted by the platform', async (t) => {
  const operator = { name: 'operator', key: 'the-key-of-an-operator', scopes: ['devices'], brands: ['1'] } as const
  const { url } = await startPlatform(t, { keys: [adminKey, operator], lanes: [] })
  for (const { from, text } of ofKind('tokens')) {
    const linked = await post(
      `${url}/v1/integration/user/device/link`,
      text.replace('…', `f1${'a'.repeat(150)}`),
      operator.key,
    )
    assert.deepEqual([linked.status, linked.body], [200, { accepted: 1 }], from)
  }
})

test('the batch response record of the docs is valid, and read with an outcome for each message', () => {
  const schema = answerSchema('operator', '/channels/push/batch', 'post')
  for (const { from, text } of ofKind('successful')) {
    assert.ok(Check(schema, JSON.parse(text)), from)
    const { outcomes, warnings } = readBatchAnswer({ channel: 'push', ids: ['81', '82'], status: 200, body: text })
    assert.deepEqual(
      outcomes.map(({ category }) => category),
      ['successful', 'failed'],
    )
    assert.deepEqual(warnings, [])
  }
})

test('the page of statuses of the docs is valid, and read without a fault', () => {
  const schema = answerSchema('operator', '/messages/status', 'get')
  for (const { from, text } of ofKind('records')) {
    assert.ok(Check(schema, JSON.parse(text)), from)
    const page = readStatusPage(text)
    assert.ok(typeof page === 'object', from)
    for (const record of page.records) assert.ok(!('invalid' in record), JSON.stringify(record))
  }
})

test('the signed call of the docs has the headers of the signature, and its body is accepted', async (t) => {
  const { url } = await startPlatform(t, {
    lanes: [
      {
        brand: '1',
        channel: 'push',
        mode: 'batch',
        provider: witness(),
        status: { secrets: [secretOf('operator 1')] },
      },
    ],
  })
  const [{ text = '' } = {}, ...others] = pages
    .flatMap((page) => fencedSnippets(page, ''))
    .filter((block) => /^(GET|POST) /.test(block.text))
  assert.deepEqual(others, [])
  const [head = '', body = ''] = text.split('\n\n')
  const [line, ...headers] = head.split('\n').map((each) => each.split(': '))
  assert.deepEqual(line, ['POST /v1/integration/message/status'])
  const { id, timestamp, signature } = webhookHeaders
  assert.deepEqual(
    headers.map(([name = '']) => name.toLowerCase()),
    [id, timestamp, signature],
  )
  // The call is not before the status, and the signature is a SHA-256 in base64.
  const shown = Object.fromEntries(headers) as Record<string, string>
  assert.equal(Number(shown['Webhook-Timestamp']), Math.floor(Date.parse(JSON.parse(body).timestamp) / 1_000))
  assert.match(shown['Webhook-Signature'] ?? '', /^v1,[\w+/]{43}=$/)
  const answer = await report(url, body)
  assert.deepEqual([answer.status, answer.body], [200, { accepted: 1, parked: 0 }])
})

function answerSchema(side: 'operator' | 'platform', path: string, method: 'get' | 'post') {
  // biome-ignore lint/suspicious/noExplicitAny: a document may be any JSON
  const document = documents[side] as any
  return strictSchema(document.paths[path][method].responses[200].content['application/json'].schema, document)
}
