// The interface's own endpoints (§4.1, §4.2) as OpenAPI operations: body, responses, and the caller's reaction to each status.

import { type TSchema, Type } from 'typebox'
import { DeviceAnswer, DeviceEventRecord } from '../device-events.ts'
import {
  type Channel,
  deviceLink,
  deviceUnlink,
  type Endpoint,
  messageStatusPath,
  reconciliation,
  type SendEndpoint,
  sendEndpoints,
  trackingHeaders,
} from '../endpoints.ts'
import {
  ActivityRequest,
  BatchRequest,
  BatchResponse,
  PushSuccess,
  ReconciliationError,
  ReconciliationRequest,
  ReconciliationResponse,
  SiteSuccess,
} from '../records.ts'
import { StatusAnswer } from '../status-answer.ts'
import { MessageStatusBody } from '../status-record.ts'
import type { Security } from './described.ts'

export interface InterfaceOperation extends Endpoint {
  readonly description: string
  /** Default: an API key. */
  readonly security?: Security
  readonly headers: Readonly<Record<string, string>>
  readonly body: TSchema
  /** A complete valid body. */
  readonly example: object
  readonly response: TSchema
  readonly success: string
  /** The causes of error statuses. All have the body of §2.3. */
  readonly refusals: Readonly<Record<number, string>>
}

const successRecord: Record<Channel, TSchema> = { push: PushSuccess, site: SiteSuccess }

const sendHeaders: Readonly<Record<string, string>> = {
  ...Object.fromEntries(trackingHeaders.map((name) => [name, 'Stored with the message and returned in meta.'])),
  traceparent: 'The trace context of the request (W3C Trace Context).',
}

/** §4.1: the endpoints that the operator hosts. */
export const operatorOperations: readonly InterfaceOperation[] = [
  ...sendEndpoints.map((endpoint) => (endpoint.mode === 'single' ? singleOf(endpoint) : batchOf(endpoint))),
  {
    ...reconciliation,
    description:
      'Streams the ids of all users of a brand for whom the field is true. The API key determines the brand.',
    headers: {},
    body: ReconciliationRequest,
    example: { field: 'blocked' },
    response: Type.Union([ReconciliationResponse, ReconciliationError]),
    success:
      'The users and the time of the data. If the response contains `error`, the stream failed: discard all users in it.',
    refusals: {
      400: 'The body is invalid.',
      401: 'The API key is missing, unknown or expired.',
      403: 'The API key may not list users, or is for several brands, and the request does not name one.',
      413: 'The body is too large.',
      415: 'The body is compressed. Send it uncompressed.',
      501: 'The field is unknown or has no source.',
      503: 'Too many concurrent lists, or the source is unavailable. Retry after Retry-After.',
    },
  },
]

const linkOperations = [deviceLink, deviceUnlink].map((endpoint) => ({
  ...endpoint,
  description:
    'The API key determines the brand. Records may arrive late, repeated and in any order; the result is the same.',
  headers: {},
  body: DeviceEventRecord,
  example: {
    user_id: '1001',
    tokens: [{ token: 'the-token-of-the-device', channel: 'android', provider: 'firebase' }],
    timestamp: '2026-01-01T10:00:00Z',
    origin: 'www.example.com',
  },
  response: DeviceAnswer,
  success: 'The record is accepted and on disk. `accepted` is the number of its tokens.',
  refusals: {
    400: 'The record is invalid. Do not retry.',
    401: 'The API key is missing, unknown or expired.',
    403: 'The API key may not link devices, or is not bound to exactly one brand.',
    413: 'The record is too large. Do not retry.',
    415: 'The body is compressed. Send it uncompressed.',
    503: 'Temporarily unavailable. Retry after Retry-After, before the next record of the same user.',
  },
}))

const statusOperation: InterfaceOperation = {
  method: 'POST',
  path: messageStatusPath,
  section: '§6.2',
  purpose: 'Report the delivery statuses of messages',
  description:
    'One record, or an array of records. The signature determines the lanes whose messages the call may change. Records may arrive late, repeated and in any order; the result is the same.',
  security: 'Signature',
  headers: {
    'webhook-id': 'The id of the call, the same on each attempt (Standard Webhooks).',
    'webhook-timestamp': 'The time of the attempt, in seconds since 1970.',
    'webhook-signature': 'The signature of id, time and body, such as v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=.',
  },
  body: MessageStatusBody,
  example: {
    push_id: '01a1fed3-3ddc-7000-9992-bdfa54dd4aa1',
    status: 'clicked',
    timestamp: '2026-01-31T10:00:00.123Z',
    meta: { activity: { id: 1001, brand_id: 1, user_id: '1001', activity_id: 7, action_id: 9 } },
  },
  response: StatusAnswer,
  success: 'All records are on disk. A record that cannot be applied is parked: do not send it again.',
  refusals: {
    400: 'The body cannot be read. Do not retry.',
    401: 'The signature is missing, wrong or too old. Correct the secret or the clock, then retry.',
    413: 'The body is larger than 4 MiB. Send fewer records in one call.',
    415: 'The body is compressed. Send it uncompressed.',
    503: 'Temporarily unavailable. Retry after Retry-After.',
  },
}

/** §4.2 and §6.2: the endpoints that the platform hosts. */
export const platformOperations: readonly InterfaceOperation[] = [...linkOperations, statusOperation]

function singleOf(endpoint: SendEndpoint): InterfaceOperation {
  return {
    ...endpoint,
    description: 'Content and target are siblings of `activity`. A message that is sent repeatedly is delivered once.',
    headers: sendHeaders,
    body: ActivityRequest,
    example: exampleOf(1001),
    response: successRecord[endpoint.channel],
    success: 'Successful: the message is delivered. The response contains its identifier.',
    refusals: {
      400: 'Failed: the record is invalid. The platform skips the message.',
      401: 'Failed: the API key is missing, unknown or expired. The platform skips the message.',
      403: 'Failed: the API key may not send messages. The platform skips the message.',
      413: 'Failed: the body is too large. The platform skips the message.',
      415: 'Failed: the body is compressed. The platform skips the message.',
      422: 'Failed: the message was not delivered and must not be retried. The platform skips the message.',
      503: 'Fatal: the message is not known to be delivered. The platform retries it after Retry-After.',
    },
  }
}

function batchOf(endpoint: SendEndpoint): InterfaceOperation {
  return {
    ...endpoint,
    description:
      'The body is an array of single records. Each message has its own outcome. After any status but 200 the whole batch is retried.',
    headers: sendHeaders,
    body: BatchRequest,
    example: [exampleOf(1001), exampleOf(1002)],
    response: BatchResponse,
    success:
      'Each message is in one of three categories: successful, failed (skipped) or fatal (retried). A missing message is retried. `id` is the activity.id of the request.',
    refusals: {
      400: 'The body is not an array of valid records. The whole batch is retried.',
      401: 'The API key is missing, unknown or expired. The whole batch is retried.',
      403: 'The API key may not send messages. The whole batch is retried.',
      413: 'The body is too large. The whole batch is retried; send smaller batches.',
      415: 'The body is compressed. The whole batch is retried; send it uncompressed.',
      503: 'Temporarily unavailable. The whole batch is retried after Retry-After.',
    },
  }
}

function exampleOf(id: number): object {
  return {
    activity: {
      id,
      brand_id: 1,
      user_id: '1001',
      activity_id: 7,
      action_group_id: 8,
      trigger_hash: 'hash',
      action_id: 9,
    },
    title: 'Hello',
    body: 'From the other side',
  }
}
