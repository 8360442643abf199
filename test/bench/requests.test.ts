import assert from 'node:assert/strict'
import test from 'node:test'
import { fillIds, firstId, requestTemplate } from '../../bench/harness/requests.ts'

const kind = { path: '/channels/push/batch', host: 'localhost', apiKey: 'k', itemBytes: 400 }

interface Sent {
  readonly activity: { readonly id: number; readonly brand_id: number; readonly user_id: string }
}

function bodyOf(bytes: Buffer): unknown {
  const [head = '', body = ''] = bytes.toString().split('\r\n\r\n')
  assert.equal(Number(/content-length: (\d+)/i.exec(head)?.[1]), Buffer.byteLength(body))
  return JSON.parse(body)
}

test('a batch request has consecutive ids, also past a carry', () => {
  const template = requestTemplate({ ...kind, batch: 1_000 }, 0)
  fillIds(template, firstId + 999_500)
  const ids = (bodyOf(template.bytes) as Sent[]).map(({ activity }) => activity.id)
  assert.deepEqual(
    ids,
    Array.from({ length: 1_000 }, (_, i) => firstId + 999_500 + i),
  )
})

test('a single request is one record of about the requested size', () => {
  const template = requestTemplate({ ...kind, batch: 0, itemBytes: 1_000 }, 3)
  fillIds(template, firstId)
  const { activity } = bodyOf(template.bytes) as Sent
  assert.equal(activity.id, firstId)
  assert.ok(template.bytes.length > 1_000 && template.bytes.length < 1_300)
})

test('the same user ids are sent for both brands', () => {
  const [first, second] = [0, 1_001].map((n) => requestTemplate({ ...kind, batch: 0 }, n))
  for (const template of [first, second]) fillIds(template as NonNullable<typeof first>, firstId)
  const users = [first, second].map(
    (template) => (bodyOf((template as NonNullable<typeof first>).bytes) as Sent).activity,
  )
  assert.notEqual(users[0]?.brand_id, users[1]?.brand_id)
})
