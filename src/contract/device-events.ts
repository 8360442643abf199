// §2.6, row 18: the record that links and unlinks devices, the same on every channel (§4.2, §4.3). Its schema validates and types
// each record, and is shown in the OpenAPI and AsyncAPI documents.

import { type Static, type TSchema, Type } from 'typebox'
import { nullable, plainText, userId } from './documents/described.ts'
import { mostText } from './ids.ts'
import { readJsonBody } from './json-body.ts'
import { createMismatch } from './mismatch.ts'
import { readTimestamp } from './timestamp.ts'

export const deviceChannels = ['android', 'ios', 'web', 'unknown'] as const

/** A PushSubscription with a long endpoint has about 700 characters, an FCM token about 160. */
export const mostToken = 4096
/** The most tokens of one record. "Send only the token just linked, or only the one being removed" (public facts). */
export const mostTokens = 100
/** The largest record. A record with 100 long tokens has half this size. */
export const mostRecordBytes = 1024 * 1024

const open = { additionalProperties: true } as const
/** null counts as absent. */
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema))

const tokenMembers = {
  token: plainText(1, mostToken, "The provider's token; webpush: the PushSubscription as JSON text", {
    title: `the token, a string of 1 to ${mostToken} characters without control characters (webpush: the PushSubscription as JSON text)`,
    writeOnly: true,
  }),
  channel: Type.Enum([...deviceChannels]),
  provider: plainText(1, 64, "firebase, apns, webpush, or the name of the operator's own provider"),
  kind: optional(plainText(1, 64, 'firebase: the kind of token, fcm_token or fcm_fid')),
  environment: optional(plainText(1, 64, 'apns: the APNs environment, production or sandbox')),
  app: optional(plainText(0, mostText, 'The bundle id or package name')),
}

/** @param why the reason for the limit */
export const tokensOf = <Token extends TSchema>(
  token: Token,
  most = mostTokens,
  why = 'only those just linked or unlinked',
) => Type.Array(token, { maxItems: most, title: `an array of at most ${most} tokens, ${why}`, writeOnly: true })

/** One token. */
export const DeviceTokenRecord = Type.Object(tokenMembers, open)
export type DeviceTokenRecord = Static<typeof DeviceTokenRecord>

const recordMembers = {
  user_id: userId(),
  tokens: tokensOf(DeviceTokenRecord),
  timestamp: Type.Refine(
    Type.String({
      title: 'a time in RFC 3339 with a time zone',
      examples: ['2026-01-31T10:00:00.123456Z'],
      description: 'The time of the event, RFC 3339',
    }),
    (given) => readTimestamp(given) !== undefined,
  ),
  origin: plainText(0, mostText, 'The place of the event, such as a host name'),
  skip_publishing: optional(Type.Boolean({ description: 'true: stored, but not published to other systems' })),
}

/** Row 18: the body of link and of unlink. */
export const DeviceEventRecord = Type.Object(recordMembers, { $id: 'DeviceEventRecord', ...open })
export type DeviceEventRecord = Static<typeof DeviceEventRecord>

/** A token on the operator's own API, where its services and apps may omit the channel. */
export const OwnTokenRecord = Type.Object({ ...tokenMembers, channel: optional(tokenMembers.channel) }, open)
export type OwnTokenRecord = Static<typeof OwnTokenRecord>

/** The record on the operator's own API, where the time and the origin may be omitted too. */
export const OwnDeviceRecord = Type.Object(
  {
    ...recordMembers,
    tokens: tokensOf(OwnTokenRecord),
    timestamp: optional(recordMembers.timestamp),
    origin: optional(recordMembers.origin),
  },
  open,
)
export type OwnDeviceRecord = Static<typeof OwnDeviceRecord>

/** Row 19: the answer to a link or an unlink. */
export const DeviceAnswer = Type.Object({ accepted: Type.Integer({ minimum: 0 }) }, { $id: 'DeviceAnswer', ...open })

const mismatch = createMismatch(DeviceEventRecord, 'the record')

/**
 * Reads the body of a link or unlink (row 18).
 *
 * @returns the record; or, as text, what is wrong with it
 * @example
 * readDeviceEvent('{"user_id":"1001","tokens":[{"token":"t","channel":"ios","provider":"apns"}],"timestamp":"2026-01-01T10:00:00Z","origin":"www"}')
 */
export function readDeviceEvent(body: Uint8Array | string): DeviceEventRecord | string {
  const json = readJsonBody(body)
  return typeof json === 'string' ? `the body cannot be read: ${json}` : checkDeviceEvent(json.fields)
}

/** Validates a record that is already parsed. */
export function checkDeviceEvent(value: unknown): DeviceEventRecord | string {
  return mismatch(value) ?? (value as DeviceEventRecord)
}
