// The provider token for APNs (a JWT, ES256). All sends and all processes use the same token, and Apple limits its renewals.

import type { KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { readPrivateKey } from '../private-key.ts'

export interface ApnsKey {
  /** The text of the .p8 file. */
  readonly key: string
  readonly keyId: string
  readonly teamId: string
}

export interface ProviderTokens {
  /** Returns the token: a promise the first time and every half hour, when a new token is signed. */
  get(now: number): string | Promise<string>
  /** Reports that APNs refused a token as expired. @returns whether get() now gives a newer token */
  onExpired(token: string, now: number): boolean
  /** Reports that APNs complained of too many new tokens. The previous token is used again while it is valid. */
  onTooMany(token: string, now: number): void
}

interface SignedToken {
  readonly token: string
  readonly issuedAt: number
  /** The token is used until this time. */
  readonly until: number
}

const minute = 60_000
/** Apple refuses tokens older than an hour, and a new token within 20 minutes after the last. */
const maxAge = 60 * minute
const leastInterval = 20 * minute
const usedFor = 45 * minute
const halfHour = 30 * minute

/**
 * The issue time of a token that is signed now: the last half hour that is at least 15 minutes ago. So all processes with one key
 * have the same issue time at any moment, even after a restart; with different times, Apple answers TooManyProviderTokenUpdates.
 * The age of a token is 15 to 45 minutes, so our clock may be wrong by 15 minutes either way.
 *
 * @example issuedAt(Date.parse('2026-11-21T12:40:00Z')) // 12:00; at 12:45 it is 12:30
 */
export function issuedAt(now: number): number {
  return Math.floor((now - halfHour / 2) / halfHour) * halfHour
}

export function createProviderTokens({ key: pem, keyId, teamId }: ApnsKey): ProviderTokens {
  const key = apnsSigningKey(pem)
  let current: SignedToken | undefined
  let previous: SignedToken | undefined
  let forcedAt = Number.NEGATIVE_INFINITY
  let signing: Promise<string> | undefined

  async function sign(at: number): Promise<string> {
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(at / 1000))
      .sign(key)
    previous = current ?? previous
    current = { token, issuedAt: at, until: at + usedFor }
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
      if (current && now < current.until) return current.token
      return signOnce(issuedAt(now))
    },
    onExpired(token, now) {
      if (signing || current?.token !== token) return true
      // If a new token is refused so soon, the clock is wrong, and more tokens would make it worse.
      if (now - forcedAt < leastInterval) return false
      forcedAt = now
      void signOnce(now)
      return true
    },
    onTooMany(token, now) {
      if (current?.token !== token || !previous || now - previous.issuedAt > maxAge - 5 * minute) return
      current = { ...previous, until: Math.min(now + leastInterval, previous.issuedAt + maxAge - minute) }
      previous = undefined
    },
  }
}

/** @throws an error that does not repeat the key */
export function apnsSigningKey(pem: string): KeyObject {
  const key = readPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error(
      'the key is not a key for APNs (EC, P-256): use the .p8 file that Apple offers when the key is created',
    )
  return key
}
