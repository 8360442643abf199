// The answers table of the general HTTP provider: default meanings of statuses, and rules of a service for devices.

import type { Rule } from '../../src/subjects/providers/http/rules.ts'
import type { Row } from '../suites/push-service.ts'

/** The rules for these rows. They precede the default rules for statuses. */
export const rowRules: readonly Rule[] = [
  { when: { status: 410 }, means: 'gone' },
  { when: { status: 400, body_path: '/code', equals: 'OTHER_APP' }, means: 'mismatch' },
  { when: { status: 200, body_path: '/id', absent: true }, means: 'failed' },
  { when: { status: 403, body_path: '/code', equals: 'BLOCKED_USER' }, means: 'failed' },
]

const rejected = { category: 'failed', reason: 'rejected' } as const
const misconfigured = { category: 'fatal', reason: 'misconfigured', blame: 'provider' } as const
/** Perhaps one user only. */
const ofUser = { ...misconfigured, blame: 'message' } as const
const retryAfter = { 'retry-after': '7' }

/** The outcomes after an accepted send. */
export const httpRows: readonly Row[] = [
  { row: '200 with an id', status: 200, body: '{"id":"x"}', outcome: { category: 'successful' } },
  { row: '200 without an id (rule)', status: 200, body: '{"id":""}', outcome: rejected },
  { row: '202', status: 202, body: '', outcome: { category: 'successful' } },
  {
    row: '302, not followed',
    status: 302,
    headers: { location: '/elsewhere' },
    body: '',
    outcome: { category: 'fatal', reason: 'unavailable', blame: 'provider' },
  },
  { row: '400', status: 400, body: '{"code":"BAD"}', outcome: rejected },
  { row: '400 OTHER_APP (rule)', status: 400, body: '{"code":"OTHER_APP"}', outcome: rejected, token: 'mismatch' },
  { row: '401', status: 401, headers: retryAfter, body: '', outcome: { ...ofUser, retryAfterMs: 7_000 } },
  { row: '402', status: 402, body: '', outcome: ofUser },
  { row: '403', status: 403, body: '{}', outcome: ofUser },
  { row: '403 BLOCKED_USER (rule)', status: 403, body: '{"code":"BLOCKED_USER"}', outcome: rejected },
  { row: '404', status: 404, body: '', outcome: rejected },
  { row: '405', status: 405, body: '', outcome: rejected },
  { row: '407', status: 407, body: '', outcome: misconfigured },
  { row: '408', status: 408, body: '', outcome: { category: 'fatal', reason: 'timeout', blame: 'provider' } },
  { row: '409', status: 409, body: '', outcome: rejected },
  { row: '410 (rule)', status: 410, body: '', outcome: rejected, token: 'gone' },
  { row: '413', status: 413, body: '', outcome: { category: 'failed', reason: 'too_large' } },
  { row: '422', status: 422, body: '', outcome: rejected },
  {
    row: '429',
    status: 429,
    headers: retryAfter,
    body: '',
    outcome: { category: 'fatal', reason: 'rate_limited', blame: 'provider', retryAfterMs: 7_000 },
  },
  { row: '500', status: 500, body: '', outcome: { category: 'fatal', reason: 'unavailable', blame: 'message' } },
  {
    row: '502, HTML',
    status: 502,
    body: '<html>',
    outcome: { category: 'fatal', reason: 'unavailable', blame: 'provider' },
  },
  {
    row: '503',
    status: 503,
    headers: retryAfter,
    body: '',
    outcome: { category: 'fatal', reason: 'overloaded', blame: 'provider', retryAfterMs: 7_000 },
  },
  { row: '504', status: 504, body: '', outcome: { category: 'fatal', reason: 'timeout', blame: 'provider' } },
]
