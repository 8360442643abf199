import { ECDH } from 'node:crypto'
import { objectIn } from '../../../base/runtime/json.ts'

/** A browser's PushSubscription, as returned by its toJSON(). Its JSON text is the token of a device of kind 'webpush'. */
export interface Subscription {
  readonly endpoint: string
  readonly url: URL
  /** A P-256 point of 65 bytes, and 16 random bytes, both in base64url. */
  readonly keys: { readonly p256dh: string; readonly auth: string }
  /** End of the subscription in epoch milliseconds, as the browser reported it. */
  readonly expirationTime?: number
}

const mostChars = 8_192

/**
 * Reads the token of a device, which is user input. The result is a subscription to which a message can be encrypted, or an
 * error. The error never contains a part of the token.
 *
 * @example readSubscription('{"endpoint":"https://fcm.googleapis.com/fcm/send/…","keys":{"p256dh":"B…","auth":"…"}}')
 */
export function readSubscription(token: string): Subscription | { readonly error: string } {
  const read = readEndpoint(token)
  if ('error' in read) return read
  const { url, value } = read
  const { keys, expirationTime } = value
  if (typeof keys !== 'object' || keys === null) return { error: 'it has no keys' }
  const { p256dh, auth } = keys as { readonly p256dh?: unknown; readonly auth?: unknown }
  const point = bytes(p256dh)
  if (point?.length !== 65 || !isOnCurve(point)) return { error: 'its key p256dh is not a point of the curve P-256' }
  const secret = bytes(auth)
  if (secret?.length !== 16) return { error: 'its key auth is not 16 bytes' }
  return {
    endpoint: value.endpoint as string,
    url,
    keys: { p256dh: point.toString('base64url'), auth: secret.toString('base64url') },
    ...(typeof expirationTime === 'number' && { expirationTime }),
  }
}

/** Reads the address alone: checking the keys costs far more. `value` is the whole subscription. */
export function readEndpoint(
  token: string,
): { readonly url: URL; readonly value: Readonly<Record<string, unknown>> } | { readonly error: string } {
  if (token.length > mostChars) return { error: `it is longer than ${mostChars} characters` }
  const value = objectIn(token)
  if (value === undefined) return { error: 'it is not a JSON object' }
  const { endpoint } = value
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return { error: 'its endpoint is not a URL' }
  return { url: new URL(endpoint), value }
}

/** Browsers write base64url without padding. Pages that encode the keys themselves often write base64 with padding. */
function bytes(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z0-9_+/-]{1,128}={0,2}$/.test(text)) return undefined
  return Buffer.from(text, 'base64url')
}

function isOnCurve(point: Buffer): boolean {
  try {
    ECDH.convertKey(point, 'prime256v1')
    return point[0] === 4
  } catch {
    return false
  }
}
