import { Type } from 'typebox'
import { brandNumber, userId } from '../contract/documents/described.ts'
import { clock } from '../runtime/clock.ts'
import { type AdminRoute, adminRoute } from './admin-access.ts'
import { HttpError } from './http-error.ts'
import { createSubscriberToken, longestTokenSeconds } from './subscriber-token.ts'

export interface SubscriberTokenRoute {
  /** Signs subscriber tokens. Undefined: the route answers 503. */
  readonly secret: string | undefined
  /** The setting that has the secret, for the error. */
  readonly setting: string
  /** The configured brands. */
  readonly brands: readonly string[]
}

/** The route by which a backend gets a token for the app or page of one user. */
export function subscriberTokenRoute({ secret, setting, brands }: SubscriberTokenRoute): AdminRoute {
  return adminRoute({
    method: 'POST',
    url: '/admin/subscriber-tokens',
    scope: 'tokens',
    says: 'Creates a subscriber token. The app or page of one user calls /app with it.',
    body: Type.Object({
      brand: brandNumber(),
      user_id: userId(),
      ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: longestTokenSeconds, default: 600 })),
    }),
    gives: Type.Object({ token: Type.String(), expires_at: Type.String({ format: 'date-time' }) }),
    async handler(request, key) {
      if (secret === undefined)
        throw new HttpError(503, `no secret for subscriber tokens is configured: set ${setting}`)
      const { brand, user_id: userId, ttl_seconds: ttlSeconds = 600 } = request.body
      if (!(key.brands?.includes(brand) ?? true))
        throw new HttpError(403, `the key ${key.name} may not act for brand ${brand}`)
      if (!brands.includes(brand)) throw new HttpError(400, `brand: ${brand} is not configured here`)
      const token = await createSubscriberToken({ secret, brand, userId, ttlSeconds })
      return { token, expires_at: new Date(clock.now() + ttlSeconds * 1000).toISOString() }
    },
  })
}
