// Voluntary Application Server Identification (RFC 8292): who we are to a push service. A subscription is made for one public key,
// and only who has its private key may send to it.

import { createECDH } from 'node:crypto'
import library from 'web-push'

export interface VapidKeys {
  /** base64url of the point, 65 bytes: what pages give to pushManager.subscribe() as applicationServerKey. */
  readonly publicKey: string
  /** base64url, 32 bytes. */
  readonly privateKey: string
}

export interface Vapid extends VapidKeys {
  /** Whom the push service may turn to: mailto: or https:. */
  readonly subject: string
}

/**
 * A new pair. Made once for a site: with another pair every subscription has to be made anew.
 *
 * @example const { publicKey, privateKey } = makeVapidKeys()
 */
export function makeVapidKeys(): VapidKeys {
  return library.generateVAPIDKeys()
}

/** What is wrong with the keys; undefined: they are a pair. */
export function judgeKeys({ publicKey, privateKey }: VapidKeys): string | undefined {
  const point = bytesOf(publicKey)
  if (point?.length !== 65) return 'the public key is not 65 bytes in base64url'
  const secret = bytesOf(privateKey)
  if (secret?.length !== 32) return 'the private key is not 32 bytes in base64url'
  const curve = createECDH('prime256v1')
  try {
    curve.setPrivateKey(secret)
  } catch {
    return 'the private key is not one of the curve P-256'
  }
  return curve.getPublicKey().equals(point)
    ? undefined
    : 'the public key is not the one that belongs to the private key'
}

function bytesOf(text: string): Buffer | undefined {
  return /^[A-Za-z0-9_-]+$/.test(text) ? Buffer.from(text, 'base64url') : undefined
}

/** What no push service takes; undefined: it is a subject. */
export function judgeSubject(subject: string): string | undefined {
  if (/^mailto:.+@.+$/.test(subject)) return undefined
  return subject.startsWith('https://') && URL.canParse(subject)
    ? undefined
    : 'the subject is neither mailto: nor https:'
}

/** What Apple alone refuses, as 403 BadJwtToken; undefined: nothing. */
export function judgeSubjectForApple(subject: string): string | undefined {
  if (/[<>\s]/.test(subject)) return 'the subject has angle brackets or spaces'
  const host = subject.startsWith('mailto:') ? subject.slice(subject.lastIndexOf('@') + 1) : new URL(subject).hostname
  if (!host.includes('.') || /\.(localhost|local)$/.test(host))
    return `the subject is at ${host}, not at a public domain`
  return undefined
}

const livesMs = 12 * 3_600_000
/** No message is under way longer than that. */
const spareMs = 3_600_000

/**
 * The Authorization header for one push service, by its origin. It is signed for 12 hours (24 are allowed: this leaves room for a
 * wrong clock) and kept until the last of them begins; signing costs as much as encrypting.
 */
export function createAuthorization(
  audience: string,
  { subject, publicKey, privateKey }: Vapid,
): (now: number) => string {
  let header = ''
  let expiresAt = 0
  return (now) => {
    // Also where the clock was put back: it would promise more than 24 hours.
    if (now < expiresAt - livesMs || now >= expiresAt - spareMs) {
      expiresAt = now + livesMs
      const exp = Math.floor(expiresAt / 1_000)
      const made = library.getVapidHeaders(audience, subject, publicKey, privateKey, 'aes128gcm', exp)
      header = made.Authorization
    }
    return header
  }
}
