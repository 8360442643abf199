// §2.6, row 18: the record that links and unlinks devices, the same on every channel (§4.2, §4.3).

import { type Static, type TSchema, Type } from 'typebox'
import { isPrintable, mostText } from './ids.ts'
import { readJsonBody } from './json-body.ts'
import { shown } from './shown.ts'

export const deviceChannels = ['android', 'ios', 'web', 'unknown'] as const
export type DeviceChannel = (typeof deviceChannels)[number]

/** A PushSubscription with a long endpoint has about 700 characters, an FCM token about 160. */
export const mostToken = 4096
/** The most tokens of one record. "Send only the token just linked, or only the one being removed" (public facts). */
export const mostTokens = 100
/** The largest record. A record with 100 long tokens has half this size. */
export const mostRecordBytes = 1024 * 1024

const open = { additionalProperties: true } as const
/** An optional field. The reader treats null as absent; we never write null. */
const nullable = <Of extends TSchema>(of: Of) => Type.Optional(Type.Unsafe<Static<Of>>(Type.Union([of, Type.Null()])))

/** One token. `provider` is firebase, apns, webpush, or the name of the operator's own provider. */
export const DeviceTokenRecord = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: mostToken,
      description: "The provider's token; webpush: the PushSubscription as JSON text",
    }),
    channel: Type.Enum([...deviceChannels]),
    provider: Type.String({ minLength: 1, maxLength: 64 }),
    kind: nullable(Type.Enum(['fcm_token', 'fcm_fid'], { description: 'firebase: the kind of token' })),
    environment: nullable(Type.Enum(['production', 'sandbox'], { description: 'apns: the APNs environment' })),
    app: nullable(Type.String({ maxLength: mostText, description: 'The bundle id or package name' })),
  },
  open,
)
export type DeviceTokenRecord = Static<typeof DeviceTokenRecord>

/** Row 18: the body of link and of unlink. */
export const DeviceEventRecord = Type.Object(
  {
    user_id: Type.String({ minLength: 1, maxLength: mostText }),
    tokens: Type.Array(DeviceTokenRecord, { maxItems: mostTokens }),
    timestamp: Type.String({ format: 'date-time', description: 'The time of the event, RFC 3339' }),
    origin: Type.String({ maxLength: mostText, description: 'The place of the event, such as a host name' }),
    skip_publishing: nullable(Type.Boolean({ description: 'true: stored, but not published to other systems' })),
  },
  { $id: 'DeviceEventRecord', ...open },
)
export type DeviceEventRecord = Static<typeof DeviceEventRecord>

/** Row 19: the answer to a link or an unlink. */
export const DeviceAnswer = Type.Object({ accepted: Type.Integer({ minimum: 0 }) }, { $id: 'DeviceAnswer', ...open })
export type DeviceAnswer = Static<typeof DeviceAnswer>

/** A validated record. On the operator's own API, timestamp, origin and channel are optional. */
export interface ReadDeviceEvent {
  readonly user_id: string
  readonly tokens: readonly ReadDeviceToken[]
  readonly timestamp?: string
  readonly origin?: string
  readonly skip_publishing: boolean
}
export interface ReadDeviceToken extends Omit<DeviceTokenRecord, 'channel' | 'kind' | 'environment'> {
  readonly channel?: DeviceChannel
  readonly kind?: string
  readonly environment?: string
}

/** The required fields. all: the interface requires every field; ours: the operator's own services and apps may omit some. */
export type Demand = 'all' | 'ours'

/**
 * Reads the body of a link or unlink (row 18). Unknown properties are ignored, and null counts as absent.
 *
 * @returns the record, or one sentence that describes the error
 * @example
 * readDeviceEvent('{"user_id":"1001","tokens":[{"token":"t","channel":"ios","provider":"apns"}],"timestamp":"2026-01-01T10:00:00Z","origin":"www"}')
 */
export function readDeviceEvent(
  body: Uint8Array | string,
  demand: Demand = 'all',
): ReadDeviceEvent | { readonly invalid: string } {
  const json = readJsonBody(body)
  return typeof json === 'string'
    ? { invalid: `the body cannot be read: ${json}` }
    : checkDeviceEvent(json.fields, demand)
}

/** Validates a record that is already parsed. */
export function checkDeviceEvent(
  value: unknown,
  demand: Demand = 'all',
): ReadDeviceEvent | { readonly invalid: string } {
  try {
    return checkEvent(checkObject(value, 'the record'), demand)
  } catch (error) {
    if (error instanceof Invalid) return { invalid: error.message }
    throw error
  }
}

class Invalid extends Error {}

type Fields = Readonly<Record<string, unknown>>

function checkEvent(fields: Fields, demand: Demand): ReadDeviceEvent {
  const all = demand === 'all'
  const userId = checkText(fields.user_id, 'user_id', mostText)
  const timestamp = all || isSet(fields.timestamp) ? checkText(fields.timestamp, 'timestamp', mostText) : undefined
  const origin = all || isSet(fields.origin) ? checkText(fields.origin, 'origin', mostText, 0) : undefined
  const { skip_publishing: skip } = fields
  if (isSet(skip) && typeof skip !== 'boolean')
    throw new Invalid(`skip_publishing is ${nameOf(skip)}, not true or false`)
  if (!Array.isArray(fields.tokens)) throw new Invalid(`tokens is ${nameOf(fields.tokens)}, not an array of tokens`)
  if (fields.tokens.length > mostTokens)
    throw new Invalid(
      `tokens has ${fields.tokens.length} items: send at most ${mostTokens}, only tokens just linked or unlinked`,
    )
  return {
    user_id: userId,
    tokens: fields.tokens.map((token, i) => checkToken(token, `tokens[${i}]`, all)),
    ...(timestamp !== undefined && { timestamp }),
    ...(origin !== undefined && { origin }),
    skip_publishing: skip === true,
  }
}

function checkToken(value: unknown, at: string, all: boolean): ReadDeviceToken {
  const fields = checkObject(value, at)
  const { channel, kind, environment, app } = fields
  if ((all || isSet(channel)) && !deviceChannels.includes(channel as DeviceChannel))
    throw new Invalid(
      `${at}.channel is ${isSet(channel) ? shown(channel, 40) : 'missing'}: use ${deviceChannels.join(', ')}`,
    )
  if (fields.token !== null && typeof fields.token === 'object')
    throw new Invalid(`${at}.token is ${nameOf(fields.token)}, not a string: send a PushSubscription as JSON text`)
  return {
    token: checkText(fields.token, `${at}.token`, mostToken),
    provider: checkText(fields.provider, `${at}.provider`, 64),
    ...(isSet(channel) && { channel: channel as DeviceChannel }),
    ...(isSet(kind) && { kind: checkText(kind, `${at}.kind`, 64) }),
    ...(isSet(environment) && { environment: checkText(environment, `${at}.environment`, 64) }),
    ...(isSet(app) && { app: checkText(app, `${at}.app`, mostText, 0) }),
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

function checkObject(value: unknown, at: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Invalid(`${at} is ${nameOf(value)}, not an object`)
}

function checkText(value: unknown, at: string, maxLength: number, minLength = 1): string {
  if (typeof value !== 'string') throw new Invalid(`${at} is ${nameOf(value)}, not a string`)
  if (value.length < minLength) throw new Invalid(`${at} is empty`)
  if (value.length > maxLength) throw new Invalid(`${at} has more than ${maxLength} characters`)
  if (!value.isWellFormed() || !isPrintable(value))
    throw new Invalid(`${at} contains a control character or a lone surrogate: remove it`)
  return value
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
