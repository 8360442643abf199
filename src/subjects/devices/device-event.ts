// Converts a record of row 18 to events, one for each of its devices, which the registry stores.

import { mostToken, type OwnDeviceRecord, type OwnTokenRecord } from '../../contract/device-events.ts'
import { cleanToken, tokenFault } from '../../contract/device-token.ts'
import { readTimestamp, type Timestamp } from '../../contract/timestamp.ts'
import type { Device, DeviceKind } from './device.ts'
import { deviceId } from './identity.ts'
import { readSubscription } from './subscription.ts'

/** The origin of the events that a user's app sends; the app cannot choose another. */
export const appOrigin = 'app'

/** One device was linked to a user, or unlinked from them. */
export interface DeviceEvent {
  readonly what: 'link' | 'unlink'
  readonly brand: string
  readonly userId: string
  /** The device's key: deviceId(token). */
  readonly id: string
  readonly token: string
  readonly kind: DeviceKind
  readonly app: string
  readonly environment: '' | 'production' | 'sandbox'
  readonly channel: string
  readonly origin: string
  /** When the event happened. Undefined: now; the registry stamps the event once (row 20). */
  readonly at: Timestamp | undefined
  /** The event is stored but not published (row 18). */
  readonly skipPublishing: boolean
}

/** An event whose time will not change any more. */
export type StampedEvent = DeviceEvent & { readonly at: Timestamp }

/** Returns the reason why a device is not accepted, or undefined if it is. Called when a Web Push subscription is linked. */
export type Judge = (device: Device) => string | undefined

export interface Reading {
  readonly what: 'link' | 'unlink'
  readonly brand: string
  readonly judge?: Judge | undefined
  /** Whether the device can receive messages; see reachable(). Absent: not checked. */
  readonly reaches?: ((device: Device) => boolean) | undefined
}

/**
 * Returns one event for each token of a valid record; none for `tokens: []`.
 *
 * @returns the events, or one sentence that says what is wrong; the whole record is then rejected
 * @example eventsOf(record, { what: 'link', brand: '1' })
 */
export function eventsOf(
  record: OwnDeviceRecord,
  { what, brand, judge, reaches }: Reading,
): readonly DeviceEvent[] | { readonly invalid: string } {
  const events: DeviceEvent[] = []
  for (const [i, given] of record.tokens.entries()) {
    const described = describe(given, what)
    if ('invalid' in described) return { invalid: `tokens[${i}]${described.invalid}` }
    // An unlink does not store the token.
    if (what === 'link' && described.token.length > mostTokenOf(described.kind))
      return {
        invalid: `tokens[${i}].token is too long: ${described.kind} has at most ${mostProviderToken} characters`,
      }
    const { token, ...rest } = described
    const event = {
      what,
      brand,
      userId: record.user_id,
      id: deviceId(token),
      token,
      ...rest,
      channel: given.channel ?? channelOf(rest.kind),
      origin: record.origin ?? '',
      at: record.timestamp ? readTimestamp(record.timestamp) : undefined,
      skipPublishing: record.skip_publishing === true,
    }
    if (what === 'link') {
      const device = deviceOf(event)
      const refusal = event.kind === 'webpush' ? judge?.(device) : undefined
      if (refusal !== undefined) return { invalid: `tokens[${i}].token is not accepted: ${refusal}` }
      if (reaches?.(device) === false)
        return { invalid: `tokens[${i}] is not accepted: ${describeUnreachable(device)}` }
    }
    events.push(event)
  }
  return events
}

/** Tokens of FCM and APNs have up to about 250 characters. A subscription and a token of another provider may be longer. */
const mostProviderToken = 512
const mostTokenOf = (kind: DeviceKind): number =>
  kind === 'webpush' || kind.startsWith('http:') ? mostToken : mostProviderToken

function deviceOf({ brand, userId, kind, token, app, environment, at }: DeviceEvent): Device {
  const of = { ...(app !== '' && { app }), ...(environment !== '' && { environment }) }
  return { brand, userId, kind, token, ...of, linkedAt: at ?? '' }
}

function describeUnreachable({ kind, app, environment }: Device): string {
  const properties = [kind, app && `app ${app}`, environment].filter(Boolean).join(', ')
  return `no configured push service can reach it (${properties})`
}

type Described = Pick<DeviceEvent, 'token' | 'kind' | 'app' | 'environment'>

/** The provider names of row 18, and common misspellings of them. */
const providers: Readonly<Record<string, 'firebase' | 'apns' | 'webpush'>> = {
  firebase: 'firebase',
  fcm: 'firebase',
  apns: 'apns',
  apn: 'apns',
  webpush: 'webpush',
  'web-push': 'webpush',
  web_push: 'webpush',
}
const customName = /^(?:http:)?([a-z0-9][a-z0-9._-]{0,58})$/

/** Reads token, provider, kind and environment. An error text starts with the name of the property: '.kind is not …'. */
export function describe(given: OwnTokenRecord, what: Reading['what']): Described | { readonly invalid: string } {
  const described = readProvider(given, what)
  // An unlink of a text that is no token changes nothing. A subscription was read with its own rule.
  if ('invalid' in described || what === 'unlink' || described.kind === 'webpush') return described
  const fault = tokenFault(described.kind, described.token)
  return fault === undefined ? described : { invalid: `.token ${fault}` }
}

function readProvider(given: OwnTokenRecord, what: Reading['what']): Described | { readonly invalid: string } {
  const name = given.provider.trim().toLowerCase()
  const app = given.app ?? ''
  const plain = { token: cleanToken(given.token), app, environment: '' } as const
  switch (Object.hasOwn(providers, name) ? providers[name] : undefined) {
    case 'firebase': {
      const kind = given.kind ?? 'fcm_token'
      if (kind === 'fcm_token' || kind === 'fcm_fid') return { ...plain, kind }
      return { invalid: '.kind is not a kind of firebase: use fcm_token or fcm_fid' }
    }
    case 'apns': {
      const environment = given.environment ?? ''
      if (environment === '' || environment === 'production') return { ...plain, kind: 'apns', environment }
      // `development` is the name of the sandbox in an app's entitlements.
      if (environment === 'sandbox' || environment === 'development')
        return { ...plain, kind: 'apns', environment: 'sandbox' }
      return { invalid: '.environment is not an environment of apns: use production or sandbox' }
    }
    case 'webpush': {
      const subscription = readSubscription(given.token)
      // To unlink, the endpoint is enough.
      if ('invalid' in subscription && what === 'link') return { invalid: `.token ${subscription.invalid}` }
      return { ...plain, kind: 'webpush', token: 'token' in subscription ? subscription.token : given.token }
    }
    case undefined: {
      const custom = customName.exec(name)?.[1]
      if (custom === undefined)
        return { invalid: '.provider is not known: use firebase, apns, webpush, or http:NAME for your own provider' }
      return { ...plain, kind: `http:${custom}` }
    }
  }
}

/** The channel of a device whose record names none. */
export function channelOf(kind: DeviceKind): string {
  return kind === 'webpush' ? 'web' : kind === 'apns' ? 'ios' : 'unknown'
}
