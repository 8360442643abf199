// The signing keys of the APNs stand-in, and its check of provider tokens (JWTs).

import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'

export type Environment = 'production' | 'sandbox'

/** The credentials to configure for the provider. */
export interface ApnsCredentials {
  /** The text of the .p8 file. */
  readonly key: string
  readonly keyId: string
  readonly teamId: string
}

export interface KeyScope {
  /** The topics to which the key may send. Default: all topics of the team. */
  readonly topics?: readonly string[]
  /** The environment of the key. Default: both. */
  readonly environment?: Environment
}

export interface ApnsKeys {
  makeKey(scope?: KeyScope): ApnsCredentials
  /** Revokes a key: its tokens are refused from now on. */
  revokeKey(key: Pick<ApnsCredentials, 'keyId'>): void
  /** Checks the token of a request. @returns the scope of the key that signed the token, or the reason of a refusal */
  checkToken(
    authorization: string | undefined,
    environment: Environment,
  ): Promise<KeyScope | { readonly reason: string }>
}

type Verdict = { readonly keyId: string; readonly iat: number } | { readonly reason: string }

const teamId = 'STANDINTM1'
const mostAgeMs = 3_600_000
/** Apple demands at most one new token in 20 minutes. The limit that it enforces is not documented: this one is a guess. */
const updates = { withinMs: 20 * 60_000, most: 3 }

export function createApnsKeys(clock: () => number): ApnsKeys {
  const keys = new Map<
    string,
    { readonly publicKey: KeyObject; readonly scope: KeyScope; renewals: number[]; iat: number }
  >()
  /** Verdicts by token: a signature is expensive to verify, and thousands of requests have the same token. */
  const verdicts = new Map<string, Promise<Verdict>>()

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
    makeKey(scope = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const keyId = randomBytes(5).toString('hex').toUpperCase()
      keys.set(keyId, { publicKey, scope, renewals: [], iat: 0 })
      return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), keyId, teamId }
    },
    revokeKey: ({ keyId }) => void keys.delete(keyId),
    async checkToken(authorization, environment) {
      if (authorization === undefined) return { reason: 'MissingProviderToken' }
      const token = /^bearer (.+)$/i.exec(authorization)?.[1]
      if (token === undefined) return invalid
      if (verdicts.size > 1_000) verdicts.clear()
      const verdict = await (verdicts.get(token) ?? verifyOnce(token))
      if ('reason' in verdict) return verdict
      const key = keys.get(verdict.keyId)
      if (!key || verdict.iat > clock() + 60_000) return invalid
      if (clock() - verdict.iat > mostAgeMs) return { reason: 'ExpiredProviderToken' }
      if (key.scope.environment !== undefined && key.scope.environment !== environment)
        return { reason: 'BadEnvironmentKeyInToken' }
      return mayRenew(key, verdict.iat) ? key.scope : { reason: 'TooManyProviderTokenUpdates' }
    },
  }

  function verifyOnce(token: string): Promise<Verdict> {
    const verdict = verify(token)
    verdicts.set(token, verdict)
    return verdict
  }
}

const invalid = { reason: 'InvalidProviderToken' } as const
