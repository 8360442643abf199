import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { createSubscriberToken, longestTokenSeconds } from '../../base/http/subscriber-token.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Database } from '../../base/store/database.ts'
import { brandInJson, userId } from '../../contract/documents/described.ts'
import type { Revocations } from '../../subjects/delivery/revoked-tokens.ts'
import { RevokedUser } from './requests.ts'
import { adminRoute } from './route.ts'
import { demandBrand } from './visibility.ts'

export interface SubscriberTokenRoutes {
  /** Signs subscriber tokens. Undefined: the route answers 503. */
  readonly secret: string | undefined
  /** The setting that has the secret, for the error. */
  readonly setting: string
  /** The configured brands. */
  readonly brands: readonly string[]
  readonly revocations: Revocations
  readonly databaseOf: (brand: string) => Database
}

/** The routes by which a backend gets a token for the app or page of one user, and revokes all tokens of a user. */
export function subscriberTokenRoutes({ secret, setting, brands, revocations, databaseOf }: SubscriberTokenRoutes) {
  const create = adminRoute({
    says: 'Creates a subscriber token. The app or page of one user calls /app with it.',
    body: Type.Object({
      brand: brandInJson(),
      user_id: userId(),
      ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: longestTokenSeconds, default: 600 })),
    }),
    gives: Type.Object({ token: Type.String(), expires_at: Type.String({ format: 'date-time' }) }),
    async handler(request, key) {
      if (secret === undefined)
        throw new HttpError(503, `no secret for subscriber tokens is configured: set ${setting}`)
      const { user_id: userId, ttl_seconds: ttlSeconds = 600 } = request.body
      const brand = brandOf(request.body.brand, key)
      const token = await createSubscriberToken({ secret, brand, userId, ttlSeconds })
      return { token, expires_at: new Date(clock.now() + ttlSeconds * 1000).toISOString() }
    },
  })
  const revoke = adminRoute({
    says: 'Revokes all subscriber tokens of a user that were issued until now, and ends the streams of the user, in all processes.',
    body: RevokedUser,
    gives: Type.Object({
      revoked_until: Type.String({ format: 'date-time', description: 'Tokens that were issued before are refused' }),
    }),
    async handler({ body }, key) {
      const brand = brandOf(body.brand, key)
      const until = await revocations.revoke(databaseOf(brand), brand, body.user_id, key.audit.ops())
      return { revoked_until: new Date(until).toISOString() }
    },
  })
  return { create, revoke }

  function brandOf(given: string | number, key: AccessKey): string {
    const brand = String(given)
    demandBrand(key, brand)
    if (!brands.includes(brand)) throw new HttpError(400, `brand: ${brand} is not configured here`)
    return brand
  }
}
