// The signing keys that the stand-in of APNs knows, and its judgement of a provider token (a JWT).

import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'

export type Environment = 'production' | 'sandbox'

/** What the real service is to be configured with. */
export interface ApnsCredentials {
  /** The .p8 file's text. */
  readonly key: string
  readonly keyId: string
  readonly teamId: string
}

export interface KeyScope {
  /** The topics that the key may send to; default: all of the team. */
  readonly topics?: readonly string[]
  /** The one environment that the key is for; default: both. */
  readonly environment?: Environment
}

export interface ApnsKeys {
  make(scope?: KeyScope): ApnsCredentials
  /** @returns the scope of the key that signed it, or the reason to refuse it */
  judge(authorization: string | undefined, environment: Environment): Promise<KeyScope | { readonly reason: string }>
}

type Verdict = { readonly keyId: string; readonly iat: number } | { readonly reason: string }

const longestMs = 3_600_000
/** Apple demands that a token be renewed no more than once in 20 minutes. It does not say what it lets pass: this is a guess. */
const updates = { withinMs: 20 * 60_000, most: 3 }

export function createApnsKeys(teamId: string, clock: () => number): ApnsKeys {
  const keys = new Map<
    string,
    { readonly publicKey: KeyObject; readonly scope: KeyScope; renewals: number[]; iat: number }
  >()
  /** Verifying costs more than all the rest, and one token comes thousands of times. */
  const judged = new Map<string, Promise<Verdict>>()

  async function verify(token: string): Promise<Verdict> {
    try {
      const { kid = '', alg } = decodeProtectedHeader(token)
      const key = keys.get(kid)
      if (alg !== 'ES256' || !key || decodeJwt(token).iss !== teamId) return invalid
      const { payload } = await jwtVerify(token, key.publicKey, { algorithms: ['ES256'] })
      return typeof payload.iat === 'number' ? { keyId: kid, iat: payload.iat * 1000 } : invalid
    } catch {
      return invalid
    }
  }

  function mayRenew(key: { renewals: number[]; iat: number }, iat: number): boolean {
    if (key.iat === iat) return true
    const now = clock()
    key.renewals = key.renewals.filter((at) => now - at < updates.withinMs)
    if (key.renewals.length >= updates.most) return false
    key.renewals.push(now)
    key.iat = iat
    return true
  }

  return {
    make(scope = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const keyId = randomBytes(5).toString('hex').toUpperCase()
      keys.set(keyId, { publicKey, scope, renewals: [], iat: 0 })
      return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), keyId, teamId }
    },
    async judge(authorization, environment) {
      if (authorization === undefined) return { reason: 'MissingProviderToken' }
      const token = /^bearer (.+)$/i.exec(authorization)?.[1]
      if (token === undefined) return invalid
      if (judged.size > 1_000) judged.clear()
      const verdict = await (judged.get(token) ?? remember(token))
      if ('reason' in verdict) return verdict
      const key = keys.get(verdict.keyId)
      if (!key || verdict.iat > clock() + 60_000) return invalid
      if (clock() - verdict.iat > longestMs) return { reason: 'ExpiredProviderToken' }
      if (key.scope.environment !== undefined && key.scope.environment !== environment)
        return { reason: 'BadEnvironmentKeyInToken' }
      return mayRenew(key, verdict.iat) ? key.scope : { reason: 'TooManyProviderTokenUpdates' }
    },
  }

  function remember(token: string): Promise<Verdict> {
    const verdict = verify(token)
    judged.set(token, verdict)
    return verdict
  }
}

const invalid = { reason: 'InvalidProviderToken' } as const
