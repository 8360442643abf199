// The answers table of FCM: for each error, the outcome of the message and the verdict about the token.

import type { Row } from '../suites/push-service.ts'

const detail = (errorCode: string) => ({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode })
const field = (name: string, description: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field: name, description }],
})
/** An answer in the format of Google's APIs. */
function google(code: number, status: string, message: string, ...details: object[]) {
  const error = { code, message, status, ...(details.length > 0 && { details }) }
  return { status: code, body: JSON.stringify({ error }) }
}

const rejected = { category: 'failed', reason: 'rejected' } as const
const misconfigured = { category: 'fatal', reason: 'misconfigured', blame: 'provider' } as const
const limited = { category: 'fatal', reason: 'rate_limited', blame: 'provider' } as const
const away = { category: 'fatal', reason: 'unavailable', blame: 'provider' } as const

export const fcmRows: readonly Row[] = [
  {
    row: '200',
    status: 200,
    body: '{"name":"projects/p/messages/1"}',
    outcome: { category: 'successful' },
  },
  {
    row: '400 INVALID_ARGUMENT, field message.token',
    ...google(
      400,
      'INVALID_ARGUMENT',
      'Request contains an invalid argument.',
      detail('INVALID_ARGUMENT'),
      field('message.token', 'Invalid registration token'),
    ),
    outcome: rejected,
    token: 'mismatch',
  },
  {
    row: '400 INVALID_ARGUMENT, not a valid FCM registration token',
    ...google(
      400,
      'INVALID_ARGUMENT',
      'The registration token is not a valid FCM registration token',
      detail('INVALID_ARGUMENT'),
    ),
    outcome: rejected,
    token: 'mismatch',
  },
  {
    row: '400 INVALID_ARGUMENT, bad data value',
    ...google(
      400,
      'INVALID_ARGUMENT',
      "Invalid value at 'message.data[0].value' (TYPE_STRING), 1",
      field('message.data[0].value', 'Invalid value'),
    ),
    outcome: rejected,
  },
  {
    row: '400 INVALID_ARGUMENT, too big',
    ...google(400, 'INVALID_ARGUMENT', 'Android message is too big', detail('INVALID_ARGUMENT')),
    outcome: rejected,
  },
  {
    row: '400 INVALID_ARGUMENT, bad ttl',
    ...google(
      400,
      'INVALID_ARGUMENT',
      'Invalid TTL',
      detail('INVALID_ARGUMENT'),
      field('message.android.ttl', 'Invalid TTL'),
    ),
    outcome: rejected,
  },
  {
    row: '401 THIRD_PARTY_AUTH_ERROR',
    ...google(401, 'UNAUTHENTICATED', 'Auth error from APNS or Web Push Service', detail('THIRD_PARTY_AUTH_ERROR')),
    outcome: { ...misconfigured, blame: 'message' },
  },
  {
    row: '401 APNS_AUTH_ERROR',
    ...google(401, 'UNAUTHENTICATED', 'Auth error from APNS', detail('APNS_AUTH_ERROR')),
    outcome: { ...misconfigured, blame: 'message' },
  },
  {
    row: '401 UNAUTHENTICATED',
    ...google(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
    outcome: misconfigured,
    requests: 2,
  },
  {
    row: '403 SENDER_ID_MISMATCH',
    ...google(403, 'PERMISSION_DENIED', 'SenderId mismatch', detail('SENDER_ID_MISMATCH')),
    outcome: rejected,
    token: 'mismatch',
  },
  {
    row: '403 PERMISSION_DENIED',
    ...google(403, 'PERMISSION_DENIED', "Permission 'cloudmessaging.messages.create' denied on resource"),
    outcome: misconfigured,
  },
  {
    row: '404 UNREGISTERED',
    ...google(404, 'NOT_FOUND', 'Requested entity was not found.', detail('UNREGISTERED')),
    outcome: rejected,
    token: 'gone',
  },
  {
    row: '404 NOT_FOUND without FcmError',
    ...google(404, 'NOT_FOUND', 'Requested entity was not found.'),
    outcome: misconfigured,
  },
  {
    row: '404 that is not from FCM',
    status: 404,
    body: '<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>',
    outcome: misconfigured,
  },
  {
    row: '429 QUOTA_EXCEEDED',
    ...google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', detail('QUOTA_EXCEEDED')),
    outcome: { ...limited, retryAfterMs: 60_000 },
  },
  {
    row: '429 RESOURCE_EXHAUSTED with Retry-After',
    headers: { 'retry-after': '7' },
    ...google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for quota metric'),
    outcome: { ...limited, retryAfterMs: 7_000 },
  },
  {
    row: '429 QUOTA_EXCEEDED of one device',
    ...google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', detail('QUOTA_EXCEEDED'), {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ subject: 'device', description: 'Device message rate exceeded' }],
    }),
    outcome: { ...limited, blame: 'message', retryAfterMs: 60_000 },
  },
  {
    row: '500 INTERNAL',
    ...google(500, 'INTERNAL', 'Internal error encountered.', detail('INTERNAL')),
    outcome: { ...away, blame: 'message' },
  },
  {
    row: '500, empty',
    status: 500,
    body: '',
    outcome: { ...away, blame: 'message' },
  },
  {
    row: '502, HTML',
    status: 502,
    body: '<html><title>Error 502 (Server Error)!!1</title></html>',
    outcome: { ...away, uncertain: true },
  },
  {
    row: '503 UNAVAILABLE',
    ...google(503, 'UNAVAILABLE', 'The service is currently unavailable.', detail('UNAVAILABLE')),
    outcome: away,
  },
  {
    row: '503 UNAVAILABLE with Retry-After',
    headers: { 'retry-after': '30' },
    ...google(503, 'UNAVAILABLE', 'The service is currently unavailable.', detail('UNAVAILABLE')),
    outcome: { ...away, retryAfterMs: 30_000 },
  },
  {
    row: '504, empty',
    status: 504,
    body: '',
    outcome: { ...away, uncertain: true },
  },
]
