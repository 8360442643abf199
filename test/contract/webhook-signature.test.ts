import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { Webhook } from 'standardwebhooks'
import { signWebhook, webhookKey, webhookProblem } from '../../src/contract/webhook-signature.ts'

const secretOf = (): string => `whsec_${randomBytes(24).toString('base64')}`
const secret = secretOf()
const other = secretOf()
const key = webhookKey(secret) as Buffer
const otherKey = webhookKey(other) as Buffer
const body = '[{"push_id":"0190","status":"clicked","text":"Grüße"}]'

test('the published package accepts our signature, with either of two live secrets', () => {
  const headers = signWebhook([key, otherKey], 'msg_1', body, Date.now())
  for (const each of [secret, other]) new Webhook(each).verify(body, headers)
  assert.throws(() => new Webhook(secretOf()).verify(body, headers))
})

test('a signature of the published package is accepted, with either of two live secrets', () => {
  const now = Date.now()
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', new Date(now), body),
  }
  for (const keys of [[key], [otherKey, key]])
    assert.equal(webhookProblem(keys, headers, Buffer.from(body), now), undefined)
  assert.match(webhookProblem([otherKey], headers, body, now) as string, /does not match/)
})

test('a call with the header names of another scheme is refused with the right names', () => {
  const now = Date.now()
  const named = Object.entries(signWebhook([key], 'msg_1', body, now))
  const headers = Object.fromEntries(named.map(([name, value]) => [name.replace('webhook-', 'svix-'), value]))
  assert.match(webhookProblem([key], headers, body, now) as string, /webhook-id, webhook-timestamp, webhook-signature/)
})

test('a changed body, id or timestamp, an old or future timestamp, and missing headers are refused', () => {
  const now = 1_800_000_000_000
  const headers = signWebhook([key], 'msg_1', body, now)
  const problem = (over: object, text = body, at = now) => webhookProblem([key], { ...headers, ...over }, text, at)
  assert.equal(problem({}), undefined)
  assert.equal(problem({}, body, now + 299_000), undefined)
  assert.match(problem({}, `${body} `) as string, /does not match/)
  assert.match(problem({ 'webhook-id': 'msg_2' }) as string, /does not match/)
  assert.match(problem({ 'webhook-timestamp': '1800000001' }) as string, /does not match/)
  assert.match(problem({ 'webhook-signature': 'v2,abc v1,' }) as string, /no signature of the form/)
  assert.match(problem({}, body, now + 301_000) as string, /more than 5 minutes/)
  assert.match(problem({}, body, now - 301_000) as string, /more than 5 minutes/)
  assert.match(problem({ 'webhook-timestamp': 'soon' }) as string, /not a number/)
  for (const name of Object.keys(headers)) assert.match(problem({ [name]: undefined }) as string, /are needed/)
})

test('a repeated attempt has the same id, and a new timestamp and signature', () => {
  const first = signWebhook([key], 'msg_1', body, 1_800_000_000_000)
  const second = signWebhook([key], 'msg_1', body, 1_800_000_060_000)
  assert.equal(first['webhook-id'], second['webhook-id'])
  assert.notEqual(first['webhook-timestamp'], second['webhook-timestamp'])
  assert.notEqual(first['webhook-signature'], second['webhook-signature'])
})

test('a secret is whsec_ and the base64 form of 24 to 64 bytes', () => {
  assert.equal(key.length, 24)
  for (const text of ['', 'whsec_', secret.slice(6), 'whsec_!!!', `whsec_${randomBytes(23).toString('base64')}`])
    assert.equal(webhookKey(text), undefined, text)
})
