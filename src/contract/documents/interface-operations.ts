// The interface's own endpoints (§4.1, §4.2) as OpenAPI operations: what is sent, each status, and what it makes the caller do.

import { type TSchema, Type } from 'typebox'
import { DeviceAnswer, DeviceEventRecord } from '../device-events.ts'
import {
  type Channel,
  deviceLink,
  deviceUnlink,
  type Endpoint,
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

export interface InterfaceOperation extends Endpoint {
  readonly says: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: TSchema
  /** A body that may be sent as it stands. */
  readonly example: object
  readonly gives: TSchema
  readonly success: string
  /** All of them have the body of §2.3. */
  readonly refusals: Readonly<Record<number, string>>
}

const identified: Record<Channel, TSchema> = { push: PushSuccess, site: SiteSuccess }

const sentAlong: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    trackingHeaders.map((name) => [name, 'Kept with the message and given back as part of meta (row 25).']),
  ),
  traceparent: 'The trace that the request belongs to (W3C Trace Context).',
}

/** §4.1: the operator is called. */
export const operatorOperations: readonly InterfaceOperation[] = [
  ...sendEndpoints.map((endpoint) => (endpoint.mode === 'single' ? singleOf(endpoint) : batchOf(endpoint))),
  {
    ...reconciliation,
    says: 'Answers all user ids of the brand of the key for whom the field is true, as a stream of any length.',
    headers: {},
    body: ReconciliationRequest,
    example: { field: 'blocked' },
    gives: Type.Union([ReconciliationResponse, ReconciliationError]),
    success:
      'The users and the time of the data. With `error` in it something broke off while the list was streamed: whatever users came before are worth nothing (§7.3, row 17).',
    refusals: {
      400: 'The body cannot be read (row 16).',
      401: 'The API key is missing or not known (row 14).',
      403: 'The API key is for several brands, and the request names none (row 31).',
      408: 'The body did not arrive in time.',
      413: 'The body is too large.',
      415: 'The body is compressed: send it as it is.',
      501: 'The field is not known, or has no source here (row 16).',
      503: 'Not now: too many lists at a time, or the source cannot begin. Come again after Retry-After.',
    },
  },
]

/** §4.2: the platform is called. */
export const platformOperations: readonly InterfaceOperation[] = [deviceLink, deviceUnlink].map((endpoint) => ({
  ...endpoint,
  says: 'The brand is that of the key (row 31). Records may come late, repeated and in any order: the result is the same (row 20).',
  headers: {},
  body: DeviceEventRecord,
  example: {
    user_id: '1001',
    tokens: [{ token: 'the-token-of-the-device', channel: 'android', provider: 'firebase' }],
    timestamp: '2026-01-01T10:00:00Z',
    origin: 'www.example.com',
  },
  gives: DeviceAnswer,
  success: 'Taken, and on disk. The number is that of the tokens that were read (row 19).',
  refusals: {
    400: 'The record cannot be read. Final: sending it again will not mend it (row 19).',
    401: 'The API key is missing or not known (row 14).',
    403: 'The API key may not link devices, or is not bound to exactly one brand (row 31).',
    408: 'The body did not arrive in time: send it again.',
    413: 'The record is too large. Final: sending it again will not mend it (row 19).',
    415: 'The body is compressed: send it as it is.',
    503: 'Not now. Send it again after Retry-After, before the next one of that user (row 19).',
  },
}))

function singleOf(endpoint: SendEndpoint): InterfaceOperation {
  return {
    ...endpoint,
    says: 'Content and target stand beside `activity` (row 4). The same message is delivered once, however often it comes (row 29).',
    headers: sentAlong,
    body: ActivityRequest,
    example: exampleOf(1001),
    gives: identified[endpoint.channel],
    success: 'Delivered. The identifier names the message from now on (§2.2).',
    refusals: {
      400: 'Failed: the record cannot be read. The message is skipped (§7.1).',
      401: 'The API key is missing or not known (row 14). By §7.1 the message is skipped.',
      408: 'Failed: the body did not arrive in time. The message is skipped (§7.1).',
      413: 'Failed: the body is too large. The message is skipped (§7.1).',
      415: 'Failed: the body is compressed. The message is skipped (§7.1).',
      422: 'Failed: not delivered, and not to be tried again. The message is skipped (§7.1).',
      503: 'Fatal: not delivered as far as is known, or not now. Retried after Retry-After (§7.1, row 13).',
    },
  }
}

function batchOf(endpoint: SendEndpoint): InterfaceOperation {
  return {
    ...endpoint,
    says: 'An array of what a single request carries. Each message has its own outcome; any status but 200 repeats the whole batch (§7.2).',
    headers: sentAlong,
    body: BatchRequest,
    example: [exampleOf(1001), exampleOf(1002)],
    gives: BatchResponse,
    success:
      'Each message in one of three categories: successful, failed (skipped), fatal (retried, as is one in none; rows 11 and 13). `id` is the activity.id that was sent.',
    refusals: {
      400: 'The body is not an array of records that can be read. The whole batch is retried (§7.2, row 12).',
      401: 'The API key is missing or not known (row 14). The whole batch is retried (§7.2).',
      408: 'The body did not arrive in time. The whole batch is retried (§7.2).',
      413: 'The body is too large: send fewer messages at a time. The whole batch is retried (§7.2).',
      415: 'The body is compressed: send it as it is. The whole batch is retried (§7.2).',
      503: 'Not now. The whole batch is retried after Retry-After (§7.2).',
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
