// The answers table of APNs: for each reason, the outcome of the message and the verdict about the token.

import type { Row } from '../suites/push-service.ts'

const rejected = { category: 'failed', reason: 'rejected' } as const
const misconfigured = { category: 'fatal', reason: 'misconfigured', blame: 'provider' } as const
const away = { category: 'fatal', reason: 'unavailable', blame: 'provider' } as const

function row(status: number, reason: string, outcome: Row['outcome'], more: Partial<Row> = {}): Row {
  return { row: `${status} ${reason}`, status, body: JSON.stringify({ reason }), outcome, ...more }
}

export const apnsRows: readonly Row[] = [
  { row: '200', status: 200, headers: { 'apns-id': 'a' }, body: '', outcome: { category: 'successful' } },
  row(400, 'BadDeviceToken', rejected, { token: 'mismatch' }),
  ...['DeviceTokenNotForTopic', 'BadTopic', 'MissingTopic', 'TopicDisallowed'].map((reason) =>
    row(400, reason, misconfigured),
  ),
  ...[
    'BadCollapseId',
    'BadExpirationDate',
    'BadMessageId',
    'BadPriority',
    'InvalidPushType',
    'DuplicateHeaders',
    'PayloadEmpty',
    'MissingDeviceToken',
  ].map((reason) => row(400, reason, rejected)),
  row(400, 'IdleTimeout', { ...away, blame: 'message' }),
  row(403, 'ExpiredProviderToken', misconfigured, { requests: 2 }),
  ...[
    'InvalidProviderToken',
    'MissingProviderToken',
    'BadCertificate',
    'BadCertificateEnvironment',
    'Forbidden',
    'UnrelatedKeyIdInToken',
    'BadEnvironmentKeyIdInToken',
    'BadEnvironmentKeyInToken',
  ].map((reason) => row(403, reason, misconfigured)),
  row(404, 'BadPath', rejected),
  row(405, 'MethodNotAllowed', rejected),
  {
    row: '410 Unregistered',
    status: 410,
    body: '{"reason":"Unregistered","timestamp":1763721600000}',
    outcome: rejected,
    token: 'gone',
    goneSince: 1_763_721_600_000,
  },
  {
    row: '410 ExpiredToken',
    status: 410,
    body: '{"reason":"ExpiredToken","timestamp":1763721600000}',
    outcome: rejected,
    token: 'gone',
    goneSince: 1_763_721_600_000,
  },
  row(413, 'PayloadTooLarge', { category: 'failed', reason: 'too_large' }),
  row(429, 'TooManyRequests', { category: 'fatal', reason: 'rate_limited', blame: 'message' }),
  row(429, 'TooManyProviderTokenUpdates', { category: 'fatal', reason: 'rate_limited', blame: 'provider' }),
  row(500, 'InternalServerError', { ...away, blame: 'message' }),
  row(503, 'ServiceUnavailable', away),
  row(503, 'Shutdown', { ...away, retryAfterMs: 900_000 }, { headers: { 'retry-after': '900' } }),
]
