// The token that we sign for APNs (a JWT, ES256): shared by all sends, the same in every process, renewed as Apple demands.

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'

export interface ApnsKey {
  /** The text of the .p8 file. */
  readonly key: string
  readonly keyId: string
  readonly teamId: string
}

export interface ProviderTokens {
  /** At once but for the first time and every half hour. */
  get(now: number): string | Promise<string>
  /** APNs says that this one has expired. @returns whether there is now a better one */
  expired(token: string, now: number): boolean
  /** APNs says that tokens come too often: back to the one before this one, while it is good. */
  tooMany(token: string, now: number): void
}

interface Held {
  readonly token: string
  readonly issuedAt: number
  /** Used so long. */
  readonly until: number
}

const minute = 60_000
/** Apple refuses tokens older than an hour, and a new one within 20 minutes of the last. */
const oldest = 60 * minute
const leastBetween = 20 * minute
const keptFor = 45 * minute
const halfHour = 30 * minute

/**
 * When a token that is made now says that it was issued: at the last half hour that is at least 15 minutes ago. Many processes with
 * one key must not each show Apple another time (it answers TooManyProviderTokenUpdates), and this way all have the same at
 * any moment, also after a restart. Its age is 15 to 45 minutes: our clock may be a quarter of an hour wrong either way.
 *
 * @example issuedAt(Date.parse('2026-11-21T12:40:00Z')) // 12:00; at 12:45 it is 12:30
 */
export function issuedAt(now: number): number {
  return Math.floor((now - halfHour / 2) / halfHour) * halfHour
}

export function createProviderTokens({ key: pem, keyId, teamId }: ApnsKey): ProviderTokens {
  const key = apnsSigningKey(pem)
  let held: Held | undefined
  let before: Held | undefined
  let forcedAt = Number.NEGATIVE_INFINITY
  let signing: Promise<string> | undefined

  async function sign(at: number): Promise<string> {
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(at / 1000))
      .sign(key)
    before = held ?? before
    held = { token, issuedAt: at, until: at + keptFor }
    return token
  }

  function signOnce(at: number): Promise<string> {
    signing ??= sign(at).finally(() => {
      signing = undefined
    })
    return signing
  }

  return {
    get(now) {
      if (signing) return signing
      if (held && now < held.until) return held.token
      return signOnce(issuedAt(now))
    },
    expired(token, now) {
      if (signing || held?.token !== token) return true
      // A new one that is refused as well, or again so soon: it is the clock, and more tokens make it worse.
      if (now - forcedAt < leastBetween) return false
      forcedAt = now
      void signOnce(now)
      return true
    },
    tooMany(token, now) {
      if (held?.token !== token || !before || now - before.issuedAt > oldest - 5 * minute) return
      held = { ...before, until: Math.min(now + leastBetween, before.issuedAt + oldest - minute) }
      before = undefined
    },
  }
}

/** @throws an error that does not repeat the key */
export function apnsSigningKey(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new Error(`it is no private key: ${howToGet}`)
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error(`it is no key for APNs (EC, P-256): ${howToGet}`)
  return key
}

const howToGet = 'download the .p8 file from Apple under Certificates, Identifiers & Profiles, Keys'
