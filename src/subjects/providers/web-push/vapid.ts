// Voluntary Application Server Identification (RFC 8292): identifies the sender to a push service. A subscription is made for one
// public key, and only the holder of the private key may send to it.

import { createECDH, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface VapidKeys {
  /** The point of 65 bytes in base64url. Pages pass it to pushManager.subscribe() as applicationServerKey. */
  readonly publicKey: string
  /** 32 bytes in base64url. */
  readonly privateKey: string
}

export interface Vapid extends VapidKeys {
  /** Contact address for the push service: mailto: or https:. */
  readonly subject: string
}

/**
 * Generates a key pair. A site keeps one pair: with another pair, every browser has to subscribe again.
 *
 * @example const { publicKey, privateKey } = makeVapidKeys()
 */
export function makeVapidKeys(): VapidKeys {
  const {
    x = '',
    y = '',
    d = '',
  } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  return { publicKey: point.toString('base64url'), privateKey: d }
}

/** Describes the fault of the keys, or returns undefined if they are a valid pair. */
export function judgeKeys({ publicKey, privateKey }: VapidKeys): string | undefined {
  const point = bytesOf(publicKey)
  if (point?.length !== 65) return 'the public key is not 65 bytes in base64url'
  const secret = bytesOf(privateKey)
  if (secret?.length !== 32) return 'the private key is not 32 bytes in base64url'
  const curve = createECDH('prime256v1')
  try {
    curve.setPrivateKey(secret)
  } catch {
    return 'the private key is not valid for the curve P-256'
  }
  return curve.getPublicKey().equals(point) ? undefined : 'the public key does not belong to the private key'
}

function bytesOf(text: string): Buffer | undefined {
  return /^[A-Za-z0-9_-]+$/.test(text) ? Buffer.from(text, 'base64url') : undefined
}

/**
 * Describes the fault of a subject, or returns undefined. Some faults only Apple refuses, with 403 BadJwtToken for every message.
 *
 * @example judgeSubject('mailto:ops@localhost') // 'the subject is at localhost, not at a public domain: Apple refuses it'
 */
export function judgeSubject(subject: string): string | undefined {
  const address = /^mailto:(.+@.+)$/i.exec(subject)?.[1]
  const url = /^https:\/\//i.test(subject) ? URL.parse(subject) : null
  if (address === undefined && url === null) return 'the subject is neither mailto: nor https:'
  if (/[<>\s]/.test(subject)) return 'the subject has angle brackets or spaces: Apple refuses it'
  if (address !== undefined && /[,;]|@.*@/.test(address)) return 'the subject has several addresses: give one'
  const host = url?.hostname ?? (address as string).slice((address as string).lastIndexOf('@') + 1).toLowerCase()
  if (!host.includes('.') || isIP(host) !== 0 || /\.(localhost|local|localdomain|invalid|internal|lan)$/.test(host))
    return `the subject is at ${host}, not at a public domain: Apple refuses it`
  return undefined
}

const lifetimeMs = 12 * 3_600_000
/** No request is in flight longer than this. */
const renewBeforeMs = 3_600_000

/**
 * Makes the Authorization header for one push service, by its origin. The signature is valid for 12 hours: 24 are allowed, and
 * the rest is a margin for a wrong clock. It is cached until its last hour begins, because signing costs as much as encrypting.
 */
export function createAuthorization(audience: string, { subject, ...keys }: Vapid): (now: number) => string {
  // The scheme of an address ignores case, but a push service might not.
  const sub = subject.replace(/^mailto:/i, 'mailto:')
  let header = ''
  let expiresAt = 0
  return (now) => {
    // The first condition applies if the clock was set back: the signature might be valid for more than 24 hours.
    if (now < expiresAt - lifetimeMs || now >= expiresAt - renewBeforeMs) {
      expiresAt = now + lifetimeMs
      const exp = Math.floor(expiresAt / 1_000)
      header = `vapid t=${signToken({ aud: audience, exp, sub }, keys)}, k=${keys.publicKey}`
    }
    return header
  }
}

/** A JSON Web Token with ES256 (RFC 8292 §2; RFC 7518 §3.4). */
function signToken(claims: object, { publicKey, privateKey }: VapidKeys): string {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y, d: privateKey } })
  const parts = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => Buffer.from(JSON.stringify(part)))
  const text = parts.map((part) => part.toString('base64url')).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}
