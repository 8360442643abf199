import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { Check } from 'typebox/value'
import { batchAnswer, errorBody, singleAnswer } from '../../src/contract/answer.ts'
import { deviceLink, deviceUnlink, reconciliation, sendEndpoints, sendPaths } from '../../src/contract/endpoints.ts'
import { readSingle } from '../../src/contract/read-activity.ts'
import {
  ActivityRequest,
  BatchResponse,
  ErrorRecord,
  PushSuccess,
  ReconciliationError,
  ReconciliationRequest,
  ReconciliationResponse,
  SiteSuccess,
} from '../../src/contract/records.ts'

test('the schema and the reader accept the same records', () => {
  for (const [json, expected] of [
    ['{"activity":{"id":1,"brand_id":1,"user_id":"1001"}}', true],
    ['{"activity":{"id":"1","brand_id":2,"user_id":"1001","x":1},"title":"Hello"}', true],
    ['{"activity":{"id":1,"brand_id":1,"user_id":"1001","activity_id":null,"trigger_hash":null}}', true],
    ['{"activity":{"id":-1,"brand_id":1,"user_id":"1001"}}', false],
    ['{"activity":{"id":1.5,"brand_id":1,"user_id":"1001"}}', false],
    ['{"activity":{"id":"","brand_id":1,"user_id":"1001"}}', false],
    ['{"activity":{"id":1,"brand_id":"1","user_id":"1001"}}', false],
    ['{"activity":{"id":1,"brand_id":1,"user_id":1001}}', false],
    ['{"activity":{"id":1,"brand_id":1,"user_id":""}}', false],
    ['{"activity":{"id":1,"brand_id":1,"user_id":"1001","action_id":"7"}}', false],
    ['{"activity":{"id":1,"brand_id":1}}', false],
    ['{"id":1,"brand_id":1,"user_id":"1001"}', false],
    ['[]', false],
  ] as const) {
    assert.equal(Check(ActivityRequest, JSON.parse(json)), expected, json)
    assert.equal(!('invalid' in readSingle(json)), expected, json)
  }
})

test('our answers match the schemas', () => {
  const rule = 'test'
  const sent = { category: 'successful', ref: 'p1', rule } as const
  assert.ok(Check(PushSuccess, JSON.parse(singleAnswer('push', sent).body)))
  assert.ok(Check(SiteSuccess, JSON.parse(singleAnswer('site', sent).body)))
  assert.ok(Check(ErrorRecord, JSON.parse(errorBody('no'))))
  assert.ok(Check(BatchResponse, JSON.parse(batchAnswer('push', [{ idJson: '1', outcome: sent }]))))
  assert.ok(Check(BatchResponse, JSON.parse(batchAnswer('site', []))))
})

test('a reconciliation request names one of nine fields, and its answer has users or an error', () => {
  assert.ok(Check(ReconciliationRequest, { field: 'consent_post_mail' }))
  assert.ok(!Check(ReconciliationRequest, { field: 'postMail' }))
  assert.ok(Check(ReconciliationResponse, { users: ['1001'], timestamp: '2020-01-01T10:00:00Z' }))
  assert.ok(!Check(ReconciliationResponse, { users: [1001], timestamp: '2020-01-01T10:00:00Z' }))
  assert.ok(Check(ReconciliationError, { users: ['1001'], error: 'timeout' }))
})

test('every endpoint of the code is listed in docs/interface.md', async () => {
  const document = await readFile(new URL('../../docs/interface.md', import.meta.url), 'utf8')
  for (const { method, path } of [...sendEndpoints, reconciliation, deviceLink, deviceUnlink]) {
    assert.ok(document.includes(`| ${method} | \`${path}\` |`), path)
  }
  for (const { channel, mode, path } of sendEndpoints) assert.equal(sendPaths[channel][mode], path)
})
