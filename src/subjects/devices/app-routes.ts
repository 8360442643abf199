import { Type } from 'typebox'
import { type AppRoute, appRoute } from '../../base/http/app-access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { clock } from '../../base/runtime/clock.ts'
import { createRateLimiter } from '../../base/runtime/rate-limiter.ts'
import { serializeByKey } from '../../base/runtime/serialize-by-key.ts'
import { DeviceAnswer, mostTokens, OwnTokenRecord, tokensOf } from '../../contract/device-events.ts'
import type { Device } from './device.ts'
import { appOrigin, type Judge } from './device-event.ts'
import { mostTokensPerDay, TooManyTokens, takeOwn } from './own-changes.ts'
import type { Registry } from './registry.ts'
import { ShownDevice, shownDevice } from './shown.ts'
import { storeRecord } from './store-record.ts'

export interface DeviceAppOptions {
  /** The registry of a brand. */
  readonly registryOf: (brand: string) => Registry
  readonly judge?: Judge | undefined
  /** Whether the device is reached by a push service or published to the platform. Other devices are rejected. */
  readonly reaches: (device: Device) => boolean
  /** Most devices of a user after a link by an app, and most tokens in one request. */
  readonly most: number
  /** How many tokens one user may link per minute; the same number may be unlinked. */
  readonly perMinute: number
}

const says = {
  link: 'Links devices to the user. Call it at each start of the app and whenever the push provider issues a new token.',
  unlink: 'Unlinks devices from the user. Call it at logout, before the app shows that the user is logged out.',
} as const

/** An app is not trusted with the time, the origin or the publishing of an event. */
const serviceOnly = Type.Optional(
  Type.Never({ title: 'not accepted from an app: omit it; a service may send it to /admin/devices' }),
)

/**
 * The routes by which an app links, unlinks and lists the devices of its user. The server stamps the time of each event once
 * (row 20), because the clock of a telephone may be wrong.
 */
export function deviceAppRoutes(options: DeviceAppOptions): readonly AppRoute[] {
  const { registryOf, judge, reaches, most, perMinute } = options
  const limiter = createRateLimiter(perMinute, 60_000)
  /** Serializes the requests of one user: two links that commit concurrently would each be within the limit. */
  const serialize = serializeByKey()
  const body = Type.Object({
    tokens: tokensOf(
      OwnTokenRecord,
      Math.min(most, mostTokens, perMinute),
      `since a user may have ${most} devices, and change ${perMinute} in a minute`,
    ),
    user_id: Type.Optional(Type.String({ description: 'The user of the subscriber token.' })),
    timestamp: serviceOnly,
    origin: serviceOnly,
    skip_publishing: serviceOnly,
  })
  return [
    ...(['link', 'unlink'] as const).map((what) =>
      appRoute({
        method: 'POST',
        url: `/app/devices/${what}`,
        says: says[what],
        body,
        refuses: {
          429: 'The user has linked or unlinked too many devices within a minute, or too many new tokens within a day.',
        },
        gives: DeviceAnswer,
        async handler(request, { brand, userId }) {
          const { tokens, user_id: given = userId } = request.body
          if (given !== userId) throw new HttpError(403, 'user_id is not the user of the subscriber token: omit it')
          const waitMs = limiter.consume(`${what} ${brand} ${userId}`, Math.max(1, tokens.length), clock.monotonic())
          if (waitMs > 0) throw rateLimitError(perMinute, waitMs)
          const record = { user_id: userId, tokens, origin: appOrigin }
          const { accepted } = await serialize(`${brand} ${userId}`, () =>
            storeRecord(record, brand, { registry: ownRegistry(registryOf(brand)), what, judge, reaches, most }),
          )
          return { accepted }
        },
      }),
    ),
    appRoute({
      method: 'GET',
      url: '/app/devices',
      says: "Lists the user's own devices.",
      gives: Type.Object({ devices: Type.Array(ShownDevice) }),
      async handler(_request, { brand, userId }) {
        return { devices: (await registryOf(brand).list(brand, userId)).map(shownDevice) }
      },
    }),
  ]
}

const ownRegistry = (registry: Registry): Pick<Registry, 'storeEvents'> => ({
  storeEvents: (events, _also, most) =>
    takeOwn(registry, events, most).catch((error: unknown) => {
      if (!(error instanceof TooManyTokens)) throw error
      throw new HttpError(429, `more than ${mostTokensPerDay} tokens of this user within a day: try again later`, 3_600)
    }),
})

const rateLimitError = (perMinute: number, waitMs: number): HttpError =>
  new HttpError(
    429,
    `more than ${perMinute} device changes of this user within a minute: try again later`,
    Math.ceil(waitMs / 1_000),
  )
