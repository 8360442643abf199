// The requests of the commands to /admin.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type AnswerOf, type RequestOf, writeRequest } from '../../src/sides/admin/calls.ts'

test('a request is written into the path, the query and the body, without members that are not given', () => {
  const params = { run: 'a/b ?' }
  assert.deepEqual(writeRequest('GET /admin/reconciliations/:run', { params, query: { limit: 7, after: undefined } }), {
    method: 'GET',
    path: '/admin/reconciliations/a%2Fb%20%3F?limit=7',
    headers: { 'content-type': 'application/json' },
  })
  assert.deepEqual(writeRequest('POST /admin/lanes/pause', { body: { lane: '1/push', brand: undefined } }), {
    method: 'POST',
    path: '/admin/lanes/pause',
    headers: { 'content-type': 'application/json' },
    body: '{"lane":"1/push"}',
  })
  const lines = writeRequest('POST /admin/activities/:channel', { params: { channel: 'push' }, body: 'x', type: 'a/b' })
  assert.deepEqual([lines.path, lines.headers, lines.body], ['/admin/activities/push', { 'content-type': 'a/b' }, 'x'])
})

test('the schemas of the routes type requests and answers', () => {
  const request: RequestOf<'platform', 'GET /admin/failed/:seq'> = { params: { seq: 7 } }
  // @ts-expect-error: no such member
  const wrong: RequestOf<'platform', 'POST /admin/lanes/pause'> = { body: { lanes: '1/push', reason: 'x' } }
  // @ts-expect-error: the operator has no such route
  const absent: RequestOf<'operator', 'GET /admin/conversions'> = {}
  const answer: AnswerOf<'platform', 'POST /admin/lanes/resume'>['ended'] = 1
  assert.ok(request && wrong && absent && answer)
})
