import cors from '@fastify/cors'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Type } from 'typebox'
import { DeviceAnswer } from '../contract/device-events.ts'
import { type DescribedRoute, json } from '../contract/documents/described.ts'
import { appBodyBytes, subscriberAuthentication } from '../runtime/app-access.ts'
import { HttpError } from '../runtime/http.ts'
import { createRateLimiter } from '../runtime/rate-limiter.ts'
import { serializeByKey } from '../runtime/serialize-by-key.ts'
import { OurDeviceRecord } from './admin.ts'
import type { Device } from './device.ts'
import type { Judge } from './device-event.ts'
import { recordOfUser, takeRecord } from './intake.ts'
import type { Registry } from './registry.ts'
import { ShownDevice, shownDevice } from './shown.ts'

export interface DeviceAppOptions {
  readonly registry: Registry
  /** Secrets of subscriber tokens: the same as the inbox's. */
  readonly secrets: readonly string[]
  /** Origins of the pages that may call from a browser. */
  readonly origins: readonly string[]
  readonly judge?: Judge | undefined
  /** Whether a message would reach the device: no other device is linked. */
  readonly reaches: (device: Device) => boolean
  /** Most devices of a user after a link here, and most tokens in one request. */
  readonly most: number
  /** Most tokens that one user links in a minute; the same number may be unlinked. */
  readonly perMinute: number
  readonly now?: () => number
}

const ownTokens = json(Type.Object({ tokens: OurDeviceRecord.properties.tokens }))
const taken = json(DeviceAnswer)
const tooManyChanges = { 429: 'The user has changed too many devices within a minute.' }

export const deviceAppDescribed: readonly DescribedRoute[] = [
  {
    method: 'POST',
    url: '/app/devices/link',
    says: 'Links devices to the user: at each start of an app, and when the push provider gives a new token.',
    body: ownTokens,
    refuses: tooManyChanges,
    gives: taken,
  },
  {
    method: 'POST',
    url: '/app/devices/unlink',
    says: 'Unlinks devices from the user: at logout, before the app shows that they are logged out.',
    body: ownTokens,
    refuses: tooManyChanges,
    gives: taken,
  },
  {
    method: 'GET',
    url: '/app/devices',
    says: "Lists the user's own devices.",
    gives: json(Type.Object({ devices: Type.Array(ShownDevice) })),
  },
]

/**
 * What the operator's apps and pages call for the user who is signed in there, with a subscriber token:
 *
 * - `POST /app/devices/link` `{tokens: [{token, provider, …}]}` at each start, and when the push provider gives a new token
 * - `POST /app/devices/unlink` `{tokens: […]}` at logout, and only then show that the user is logged out
 * - `GET /app/devices` → `{devices}`: the user's own
 *
 * The time is ours, stamped once (row 20): the clock of a telephone may be anything.
 */
export const deviceAppRoutes: FastifyPluginAsync<DeviceAppOptions> = async (outer, options) => {
  const { registry, secrets, origins, judge, reaches, most, perMinute, now } = options
  const limiter = createRateLimiter(perMinute, 60_000)
  /** Links of one user that are committed together would each be within the limit. */
  const inTurn = serializeByKey()
  const { onRequest, callerOf } = subscriberAuthentication({ secrets, ...(now && { now }) })
  await outer.register(app, { prefix: '/app/devices' })

  async function app(server: FastifyInstance): Promise<void> {
    await server.register(cors, {
      origin: [...origins],
      methods: ['GET', 'POST'],
      allowedHeaders: ['authorization', 'content-type'],
      maxAge: 600,
    })
    // The preflight of the list itself, which the wildcard of the plug-in leaves out; it answers before we are asked.
    server.options('/', async (_request, reply) => reply.code(204).send())

    for (const what of ['link', 'unlink'] as const)
      server.post(`/${what}`, { onRequest, bodyLimit: appBodyBytes }, async (request, reply) => {
        const { brand, userId } = callerOf(request)
        const record = recordOfUser(request, userId)
        if ('tokens' in record && record.tokens.length > most)
          throw new HttpError(400, `tokens has ${record.tokens.length} of them: a user may have ${most} devices`)
        const cost = 'tokens' in record ? Math.max(1, record.tokens.length) : 1
        const waitMs = limiter.consume(`${what} ${brand} ${userId}`, cost, Date.now())
        if (waitMs > 0) throw tooFast(perMinute, waitMs)
        const take = () => takeRecord(record, brand, { registry, what, judge, reaches, most })
        const { accepted } = await inTurn(`${brand} ${userId}`, take)
        return reply.type('application/json; charset=utf-8').send(JSON.stringify({ accepted }))
      })

    server.get('/', { onRequest }, async (request, reply) => {
      const { brand, userId } = callerOf(request)
      const devices = (await registry.list(brand, userId)).map(shownDevice)
      return reply.type('application/json; charset=utf-8').send(JSON.stringify({ devices }))
    })
  }
}

const tooFast = (perMinute: number, waitMs: number): HttpError =>
  new HttpError(
    429,
    `this user has changed ${perMinute} devices within a minute: send them again later`,
    Math.ceil(waitMs / 1_000),
  )
