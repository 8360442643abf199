import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { Check } from 'typebox/value'
import { messageStatuses } from '../../src/contract/status.ts'
import { statusMeta } from '../../src/contract/status-meta.ts'
import { readRestart, readStatusPage, StatusPage, statusPageJson } from '../../src/contract/status-page.ts'
import {
  MessageStatusBody,
  mostStatusRecords,
  readStatusBody,
  type StatusRecord,
  statusRecordJson,
} from '../../src/contract/status-record.ts'
import { timestampOf } from '../../src/contract/timestamp.ts'

const record = { push_id: '0190-a', status: 'clicked', timestamp: '2026-01-31T10:00:00Z' }
const meta =
  '{"activity":{ "id" : 9007199254740993,"user_id":"\\u0031" },"headers":{"x-fasttrack-id":"a"},"meta":[1.0, 1e3]}'

const anyRecord: fc.Arbitrary<StatusRecord> = fc.record(
  {
    channel: fc.constantFrom('push', 'site'),
    ref: fc.string({ minLength: 1, maxLength: 40 }),
    status: fc.constantFrom(...messageStatuses),
    at: fc.integer({ min: 0, max: 4e12 }).map(timestampOf),
    meta: fc.option(fc.json().map((json) => `{"activity":{"id":9007199254740993}, "meta" : ${json}}`)),
  },
  { noNullPrototype: true },
)

test('a record comes back as it was written, with its meta byte for byte', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 5 }), (records) => {
      const texts = records.map(statusRecordJson)
      const readable = !/[\\]u0000|[\\]ud[89a-f]/i.test(texts.join()) // cannot be stored; refused, see below
      fc.pre(readable)
      assert.deepEqual(readStatusBody(Buffer.from(`[${texts.join(' , ')}]`)), records)
      assert.deepEqual(readStatusBody(texts[0] as string), [records[0]])
      assert.deepEqual(readStatusPage(statusPageJson(texts, 'next-1')), { records, next: 'next-1' })
      assert.ok(Check(MessageStatusBody, JSON.parse(`[${texts.join()}]`)))
      assert.ok(Check(StatusPage, JSON.parse(statusPageJson(texts, 'next-1'))))
    }),
  )
})

test('meta has the activity, the tracking headers and the meta of the request as text', () => {
  const parts = { activity: '{ "id" : 9007199254740993 }', headers: '{"x-fasttrack-id":"a"}', meta: '{"b":1.0, "a":2}' }
  assert.equal(
    statusMeta(parts),
    '{"activity":{ "id" : 9007199254740993 },"headers":{"x-fasttrack-id":"a"},"meta":{"b":1.0, "a":2}}',
  )
  assert.equal(
    statusMeta({ ...parts, headers: undefined, meta: undefined }),
    '{"activity":{ "id" : 9007199254740993 }}',
  )
})

test('meta is found whatever surrounds it, the last of two as in JSON.parse', () => {
  for (const text of [
    `{"meta":${meta},"status":"sent","timestamp":"2026-01-31T10:00:00Z","site_notification_id":"0190"}`,
    `\ufeff {"meta":{}, "more":{"meta":1},"m\\u0065ta" : ${meta} ,"status":"sent","push_id":null,"timestamp":"2026-01-31T10:00:00Z","site_notification_id":"0190"} `,
  ]) {
    assert.deepEqual(readStatusBody(text), [
      { channel: 'site', ref: '0190', status: 'sent', at: '2026-01-31T10:00:00', meta },
    ])
  }
})

test('a missing meta is null', () => {
  for (const more of [{}, { meta: null }]) {
    assert.deepEqual(readStatusBody(JSON.stringify({ ...record, ...more })), [
      { channel: 'push', ref: '0190-a', status: 'clicked', at: '2026-01-31T10:00:00', meta: null },
    ])
  }
})

test('an invalid record names the member and the remedy, and does not affect the others', () => {
  for (const [given, error] of [
    [{ ...record, status: 'eaten' }, /^status is "eaten": give accepted, sent, delivered, .* or expired$/],
    [{ ...record, status: undefined }, /^status is missing/],
    [{ ...record, timestamp: 'yesterday' }, /^timestamp is "yesterday": give a time in RFC 3339/],
    [{ ...record, push_id: undefined }, /^push_id and site_notification_id are missing: give one/],
    [{ ...record, site_notification_id: '0190' }, /^push_id and site_notification_id are both given: give one/],
    [{ ...record, push_id: 7.5 }, /^push_id is 7.5: give/],
    [{ ...record, push_id: 'a\nb' }, /^push_id is /],
    [{ ...record, meta: 'text' }, /^meta is "text": give an object/],
    [{ ...record, meta: { a: 'a\0b' } }, /contains U\+0000, which cannot be stored/],
    ['text', /is not a JSON object/],
  ] as const) {
    const text = JSON.stringify(given)
    assert.match(readStatusBody(text) as string, error)
    const [before, invalid, after] = readStatusBody(`[${JSON.stringify(record)},${text},${JSON.stringify(record)}]`)
    assert.match((invalid as unknown as { invalid: string }).invalid, error)
    for (const each of [before, after]) assert.equal((each as unknown as StatusRecord).ref, '0190-a')
  }
})

test('a body that cannot be read as a whole says why', () => {
  const many = `[${Array(mostStatusRecords + 1)
    .fill(JSON.stringify(record))
    .join()}]`
  for (const [body, error] of [
    ['', /it is empty/],
    ['[]', /the array is empty/],
    ['[{}', /truncated/],
    [Buffer.from([0x5b, 0xff, 0x5d]), /not UTF-8/],
    [many, /more than 1000 records: send fewer in one call/],
  ] as const)
    assert.match(readStatusBody(body) as string, error)
})

test('a page without a cursor or without records is not one', () => {
  for (const body of ['{"records":[]}', '{"next":"a"}', '{"records":[],"next":""}', '[]', '{"records":{},"next":"a"}'])
    assert.equal(typeof readStatusPage(body), 'string', body)
  assert.deepEqual(readStatusPage('{"records":[],"next":"a"}'), { records: [], next: 'a' })
})

test('the restart cursor is read from an answer with status 410', () => {
  assert.equal(readRestart('{"error":"another database","restart":"b.0"}'), 'b.0')
  for (const body of ['{"error":"x"}', '', '{"restart":7}']) assert.equal(readRestart(body), undefined)
})

test('an identifier of a status is a string, or an integer with every digit, by webhook and by polling', () => {
  for (const name of ['push_id', 'site_notification_id']) {
    const textOf = (id: string): string => `{"${name}":${id},"status":"clicked","timestamp":"2026-01-31T10:00:00Z"}`
    for (const id of ['12345', '9007199254740993', '9223372036854775807']) {
      const [record] = readStatusBody(textOf(id)) as readonly StatusRecord[]
      assert.equal(record?.ref, id)
      const page = readStatusPage(statusPageJson([textOf(id)], 'next'))
      assert.ok(typeof page !== 'string')
      assert.deepEqual(page.records, [record])
    }
    for (const id of ['1.5', '1.0', '1e400', '-1', '9223372036854775808', 'true', '""'])
      assert.match(readStatusBody(textOf(id)) as string, new RegExp(name), id)
  }
})
