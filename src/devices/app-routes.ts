import cors from '@fastify/cors'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { DeviceAnswer } from '../contract/device-events.ts'
import type { DescribedRoute } from '../contract/documents/described.ts'
import { appBodyBytes, subscriberAuthentication } from '../http/app-access.ts'
import { HttpError } from '../http/http.ts'
import { clock } from '../runtime/clock.ts'
import { createRateLimiter } from '../runtime/rate-limiter.ts'
import { serializeByKey } from '../runtime/serialize-by-key.ts'
import { OurDeviceRecord } from './admin.ts'
import type { Device } from './device.ts'
import type { Judge } from './device-event.ts'
import { readAppRecord, storeRecord } from './intake.ts'
import type { Registry } from './registry.ts'
import { ShownDevice, shownDevice } from './shown.ts'

export interface DeviceAppOptions {
  readonly registry: Registry
  /** Secrets of subscriber tokens, the same as those of the inbox. */
  readonly secrets: readonly string[]
  /** Origins of the web pages that may call these routes (CORS). */
  readonly origins: readonly string[]
  readonly judge?: Judge | undefined
  /** Whether the device is reached by a push service or published to the platform. Other devices are rejected. */
  readonly reaches: (device: Device) => boolean
  /** Most devices of a user after a link by an app, and most tokens in one request. */
  readonly most: number
  /** How many tokens one user may link per minute; the same number may be unlinked. */
  readonly perMinute: number
  readonly now?: () => number
}

const OwnTokens = Type.Object({ tokens: OurDeviceRecord.properties.tokens })
const tooManyChanges = { 429: 'The user has linked or unlinked too many devices within a minute.' }

export const deviceAppDescribed: readonly DescribedRoute[] = [
  {
    method: 'POST',
    url: '/app/devices/link',
    says: 'Links devices to the user. Call it at each start of the app and whenever the push provider issues a new token.',
    body: OwnTokens,
    refuses: tooManyChanges,
    gives: DeviceAnswer,
  },
  {
    method: 'POST',
    url: '/app/devices/unlink',
    says: 'Unlinks devices from the user. Call it at logout, before the app shows that the user is logged out.',
    body: OwnTokens,
    refuses: tooManyChanges,
    gives: DeviceAnswer,
  },
  {
    method: 'GET',
    url: '/app/devices',
    says: "Lists the user's own devices.",
    gives: Type.Object({ devices: Type.Array(ShownDevice) }),
  },
]

/**
 * The routes that the operator's apps and web pages call with the subscriber token of the signed-in user:
 *
 * - `POST /app/devices/link` `{tokens: [{token, provider, …}]}` at each start, and when the push provider issues a new token
 * - `POST /app/devices/unlink` `{tokens: […]}` at logout, before the app shows that the user is logged out
 * - `GET /app/devices` → `{devices}`: the user's own devices
 *
 * The server stamps the time of each event once (row 20), because the clock of a telephone may be wrong.
 */
export const deviceAppRoutes: FastifyPluginAsync<DeviceAppOptions> = async (outer, options) => {
  const { registry, secrets, origins, judge, reaches, most, perMinute, now } = options
  const limiter = createRateLimiter(perMinute, 60_000)
  /** Serializes the requests of one user: two links that commit concurrently would each be within the limit. */
  const serialize = serializeByKey()
  const { onRequest, callerOf } = subscriberAuthentication({ secrets, ...(now && { now }) })
  await outer.register(app, { prefix: '/app/devices' })

  async function app(server: FastifyInstance): Promise<void> {
    await server.register(cors, {
      origin: [...origins],
      methods: ['GET', 'POST'],
      allowedHeaders: ['authorization', 'content-type'],
      maxAge: 600,
    })
    // The wildcard route of the CORS plug-in does not match the list route itself, so register one; the plug-in answers it.
    server.options('/', async (_request, reply) => reply.code(204).send())

    for (const what of ['link', 'unlink'] as const)
      server.post(`/${what}`, { onRequest, bodyLimit: appBodyBytes }, async (request, reply) => {
        const { brand, userId } = callerOf(request)
        const record = readAppRecord(request, userId)
        if ('tokens' in record && record.tokens.length > most)
          throw new HttpError(400, `tokens has ${record.tokens.length} entries: a user may have ${most} devices`)
        const cost = 'tokens' in record ? Math.max(1, record.tokens.length) : 1
        const waitMs = limiter.consume(`${what} ${brand} ${userId}`, cost, clock.now())
        if (waitMs > 0) throw rateLimitError(perMinute, waitMs)
        const store = () => storeRecord(record, brand, { registry, what, judge, reaches, most })
        const { accepted } = await serialize(`${brand} ${userId}`, store)
        return reply.type('application/json; charset=utf-8').send(JSON.stringify({ accepted }))
      })

    server.get('/', { onRequest }, async (request, reply) => {
      const { brand, userId } = callerOf(request)
      const devices = (await registry.list(brand, userId)).map(shownDevice)
      return reply.type('application/json; charset=utf-8').send(JSON.stringify({ devices }))
    })
  }
}

const rateLimitError = (perMinute: number, waitMs: number): HttpError =>
  new HttpError(
    429,
    `more than ${perMinute} device changes of this user within a minute: try again later`,
    Math.ceil(waitMs / 1_000),
  )
