import { Type } from 'typebox'
import { HttpError } from '../../base/http/http-error.ts'
import { createSubscriberToken, longestTokenSeconds } from '../../base/http/subscriber-token.ts'
import { clock } from '../../base/runtime/clock.ts'
import { brandInJson, userId } from '../../contract/documents/described.ts'
import { adminRoute } from './route.ts'
import { isBrandVisible } from './visibility.ts'

export interface SubscriberTokenRoute {
  /** Signs subscriber tokens. Undefined: the route answers 503. */
  readonly secret: string | undefined
  /** The setting that has the secret, for the error. */
  readonly setting: string
  /** The configured brands. */
  readonly brands: readonly string[]
}

/** The route by which a backend gets a token for the app or page of one user. */
export function subscriberTokenRoute({ secret, setting, brands }: SubscriberTokenRoute) {
  return adminRoute({
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
      const brand = String(request.body.brand)
      if (!isBrandVisible(key, brand)) throw new HttpError(403, `the key ${key.name} may not act for brand ${brand}`)
      if (!brands.includes(brand)) throw new HttpError(400, `brand: ${brand} is not configured here`)
      const token = await createSubscriberToken({ secret, brand, userId, ttlSeconds })
      return { token, expires_at: new Date(clock.now() + ttlSeconds * 1000).toISOString() }
    },
  })
}
