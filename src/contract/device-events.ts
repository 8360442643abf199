// §2.6, row 18: what is sent to link and unlink devices, the same on every channel (§4.2, §4.3).

import { type Static, type TSchema, Type } from 'typebox'
import { isPrintable, mostText } from './ids.ts'
import { readJsonBody } from './json-body.ts'
import { shown } from './shown.ts'

export const deviceChannels = ['android', 'ios', 'web', 'unknown'] as const
export type DeviceChannel = (typeof deviceChannels)[number]

/** A PushSubscription with a long endpoint has about 700 characters, an FCM token about 160. */
export const mostToken = 4096
/** "Send only the token just linked, or only the one being removed" (public facts). */
export const mostTokens = 100
/** A record with 100 long tokens has half of this. What is larger is nobody's link. */
export const mostRecordBytes = 1024 * 1024

const open = { additionalProperties: true } as const
/** May be left out, and null is as good where it is read; we never write it. */
const nullable = <Of extends TSchema>(of: Of) => Type.Optional(Type.Unsafe<Static<Of>>(Type.Union([of, Type.Null()])))

/** One token. `provider` is firebase, apns, webpush, or the name of a provider of the operator's own. */
export const DeviceTokenRecord = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: mostToken,
      description: 'As the provider knows it; webpush: the PushSubscription as JSON text',
    }),
    channel: Type.Enum([...deviceChannels]),
    provider: Type.String({ minLength: 1, maxLength: 64 }),
    kind: nullable(Type.Enum(['fcm_token', 'fcm_fid'], { description: 'firebase: which of its two kinds of token' })),
    environment: nullable(Type.Enum(['production', 'sandbox'], { description: 'apns: which of its worlds' })),
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
    timestamp: Type.String({ format: 'date-time', description: 'When it happened, RFC 3339' }),
    origin: Type.String({ maxLength: mostText, description: 'Where it happened, such as a host name' }),
    skip_publishing: nullable(Type.Boolean({ description: 'The event is stored and not published' })),
  },
  { $id: 'DeviceEventRecord', ...open },
)
export type DeviceEventRecord = Static<typeof DeviceEventRecord>

/** Row 19: the answer to either. */
export const DeviceAnswer = Type.Object({ accepted: Type.Integer({ minimum: 0 }) }, { $id: 'DeviceAnswer', ...open })
export type DeviceAnswer = Static<typeof DeviceAnswer>

/** A record as it was read: timestamp, origin and channel may be left out towards an operator's own API. */
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

/** What may be left out. The interface asks for all; an operator's own services and apps say less. */
export type Demand = 'all' | 'ours'

/**
 * Reads the body of a link or unlink (row 18). Unknown properties are no errors, and null is as good as left out.
 *
 * @returns the record, or in one sentence what is wrong with it
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

/** The same for what has been parsed already. */
export function checkDeviceEvent(
  value: unknown,
  demand: Demand = 'all',
): ReadDeviceEvent | { readonly invalid: string } {
  try {
    return eventOf(object(value, 'the record'), demand)
  } catch (error) {
    if (error instanceof Invalid) return { invalid: error.message }
    throw error
  }
}

class Invalid extends Error {}

type Fields = Readonly<Record<string, unknown>>

function eventOf(fields: Fields, demand: Demand): ReadDeviceEvent {
  const all = demand === 'all'
  const userId = text(fields.user_id, 'user_id', mostText)
  const timestamp = all || has(fields.timestamp) ? text(fields.timestamp, 'timestamp', mostText) : undefined
  const origin = all || has(fields.origin) ? text(fields.origin, 'origin', mostText, 0) : undefined
  const { skip_publishing: skip } = fields
  if (has(skip) && typeof skip !== 'boolean') throw new Invalid(`skip_publishing is ${nameOf(skip)}, not true or false`)
  if (!Array.isArray(fields.tokens)) throw new Invalid(`tokens is ${nameOf(fields.tokens)}, not an array of tokens`)
  if (fields.tokens.length > mostTokens)
    throw new Invalid(
      `tokens has ${fields.tokens.length} of them: send at most ${mostTokens}, only those just (un)linked`,
    )
  return {
    user_id: userId,
    tokens: fields.tokens.map((token, i) => tokenOf(token, `tokens[${i}]`, all)),
    ...(timestamp !== undefined && { timestamp }),
    ...(origin !== undefined && { origin }),
    skip_publishing: skip === true,
  }
}

function tokenOf(value: unknown, at: string, all: boolean): ReadDeviceToken {
  const fields = object(value, at)
  const { channel, kind, environment, app } = fields
  if ((all || has(channel)) && !deviceChannels.includes(channel as DeviceChannel))
    throw new Invalid(
      `${at}.channel is ${has(channel) ? shown(channel, 40) : 'missing'}: use ${deviceChannels.join(', ')}`,
    )
  if (fields.token !== null && typeof fields.token === 'object')
    throw new Invalid(`${at}.token is ${nameOf(fields.token)}, not a string: of a PushSubscription send its JSON text`)
  return {
    token: text(fields.token, `${at}.token`, mostToken),
    provider: text(fields.provider, `${at}.provider`, 64),
    ...(has(channel) && { channel: channel as DeviceChannel }),
    ...(has(kind) && { kind: text(kind, `${at}.kind`, 64) }),
    ...(has(environment) && { environment: text(environment, `${at}.environment`, 64) }),
    ...(has(app) && { app: text(app, `${at}.app`, mostText, 0) }),
  }
}

const has = (value: unknown): boolean => value !== undefined && value !== null

function object(value: unknown, at: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Invalid(`${at} is ${nameOf(value)}, not an object`)
}

function text(value: unknown, at: string, most: number, least = 1): string {
  if (typeof value !== 'string') throw new Invalid(`${at} is ${nameOf(value)}, not a string`)
  if (value.length < least) throw new Invalid(`${at} is empty`)
  if (value.length > most) throw new Invalid(`${at} has more than ${most} characters`)
  if (!value.isWellFormed() || !isPrintable(value))
    throw new Invalid(`${at} has a control character or half of one in it: send it without`)
  return value
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
