import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { DescribedRoute } from '../../contract/documents/described.ts'
import { type ReceiptOf, readReceiptToken } from '../../contract/receipt-token.ts'
import { shortened } from '../../contract/storable.ts'
import { emit } from '../runtime/events.ts'
import { summarizeRepeats } from '../runtime/summarize-repeats.ts'
import { addressOf } from './address.ts'
import { type Authentication, createAuthentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { type BodyShare, mediaTypeOf } from './request-bodies.ts'
import { addRoute, type Route } from './route.ts'
import {
  checkSecrets,
  type Subscriber,
  TokenRefused,
  type TokenRevocations,
  verifySubscriberToken,
} from './subscriber-token.ts'
import { createWrongKeys } from './wrong-keys.ts'

/** A route that the operator's apps and pages call with the subscriber token of the signed-in user. */
export interface AppRoute<
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> extends Route<Subscriber, TObject, Query, Body, Answer> {
  /** The answer stays open, and the route has a limit of its own. Other routes share the limit of a user's requests in flight. */
  readonly longLived?: true
}

/** Types the handler of a route by the route's schemas. */
export function appRoute<Query extends TObject, Body extends TSchema, Answer extends TSchema>(
  route: AppRoute<Query, Body, Answer>,
): AppRoute {
  return route
}

/** A route that service workers call with the receipt token of one message. */
export type ReceiptRoute = Route<ReceiptOf>

export interface AppAccess {
  /** Secrets of subscriber tokens, each at least 32 bytes. Give two while you rotate them. */
  readonly secrets: readonly string[]
  /** Origins of the pages that may call /app/* from a browser: 'https://www.example.com'. */
  readonly origins: readonly string[]
  /** The configured brands. A token of another brand is refused. */
  readonly brands: readonly string[]
  readonly revocations?: TokenRevocations | undefined
  readonly now?: () => number
}

/** The routes of /app in the API documents. */
export const appGroup = (routes: readonly DescribedRoute[]) =>
  routes.length === 0
    ? []
    : [
        {
          tag: 'Apps',
          says: 'For apps and pages, on behalf of the signed-in user.',
          security: 'Bearer' as const,
          isPublic: true as const,
          routes,
        },
      ]

/** Largest request body of /app: enough for a hundred devices of a user. */
const bodyLimit = 128 * 1024
const receiptBodyLimit = 1_024
/** Most requests of one user in flight, from all devices of the user. */
const mostInFlight = 4
/** Most bytes of the bodies of one user in flight. */
const bodyBytesOfUser = 256 * 1024
const bodiesOfUsers: BodyShare = { name: 'users', timeoutMs: 5_000 }
/** One line a minute, because strangers can send any origin. */
const reportOrigin = summarizeRepeats<string>(60_000, (_key, count, origin) =>
  emit('origins.refused', { origin: shortened(origin, 200), count }),
)
const nameOf = ({ brand, userId }: Subscriber): string => `${brand} ${userId}`
const prefix = '/app'

/** Registers the routes of /app, for callers with a subscriber token or a receipt token as `Authorization: Bearer`. */
export async function appRoutes(
  app: FastifyInstance,
  access: AppAccess,
  routes: readonly AppRoute[],
  receiptRoutes: readonly ReceiptRoute[] = [],
): Promise<void> {
  checkSecrets(access.secrets)
  const wrongTokens = limitWrongTokens()
  const authentication = subscriberAuthentication(access, wrongTokens)
  const admitUser = limitInFlight(authentication)
  const perCaller = {
    bytes: bodyBytesOfUser,
    callerOf: (request: FastifyRequest) => nameOf(authentication.callerOf(request)),
  }
  const bodies = { ...bodiesOfUsers, perCaller }
  const register = async (server: FastifyInstance): Promise<void> => {
    // Before the plugin, which answers preflight requests. A browser sends one only to another origin.
    server.addHook('onRequest', async ({ method, headers: { origin } }) => {
      if (method === 'OPTIONS' && origin !== undefined && !access.origins.includes(origin)) reportOrigin('', origin)
    })
    await server.register(cors, {
      origin: [...access.origins],
      methods: ['GET', 'POST'],
      allowedHeaders: ['authorization', 'content-type', 'last-event-id', 'cache-control'],
      // The widget reads both. A page cannot read headers that are not exposed.
      exposedHeaders: ['date', 'retry-after'],
      maxAge: 600,
    })
    for (const route of routes) {
      const onRequest = [authentication.onRequest, ...(route.longLived ? [] : [admitUser])]
      const { callerOf } = authentication
      addRoute(
        server,
        { ...route, url: route.url.slice(prefix.length) },
        { onRequest, callerOf, bodyLimit, config: { bodies } },
      )
    }
    for (const route of receiptRoutes)
      addRoute(
        server,
        { ...route, url: route.url.slice(prefix.length) },
        {
          ...receiptAuthentication(access, wrongTokens),
          bodyLimit: receiptBodyLimit,
          config: { bodies: bodiesOfUsers },
        },
      )
  }
  // With the prefix, the preflight route is /app/* only.
  await app.register(register, { prefix })
}

/**
 * The caller of /app: the user and brand of the subscriber token. An invalid token is answered 401 with the reason. Responses
 * are never cached.
 */
function subscriberAuthentication(access: AppAccess, wrongTokens: WrongTokens): Authentication<Subscriber> {
  return createAuthentication(async (request, reply) => {
    reply.header('cache-control', 'no-store')
    wrongTokens.admit(request)
    try {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      if (!token)
        throw new TokenRefused('send the subscriber token from your backend, as `Authorization: Bearer <token>`')
      const subscriber = await verifySubscriberToken(token, access)
      wrongTokens.judge(request, true)
      if (!access.brands.includes(subscriber.brand))
        throw new TokenRefused(`the brand ${subscriber.brand} of the token is not configured here`)
      if (access.revocations?.isRevoked(subscriber))
        throw new TokenRefused(
          'the token was revoked: sign in again, so that your backend gets a new one, with the time of issue in `iat`',
        )
      demandJson(request)
      return subscriber
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      if (error.unsigned) wrongTokens.judge(request, false)
      reply.header('www-authenticate', 'Bearer realm="app"')
      throw new HttpError(401, error.message)
    }
  }, 'anybody')
}

interface WrongTokens {
  /** @throws HttpError 429 if the address has sent too many wrong tokens, and no right one */
  admit(request: FastifyRequest): void
  judge(request: FastifyRequest, right: boolean): void
}

/**
 * Limits the guesses of an address like wrong keys (wrong-keys.ts). Users share the addresses of networks and proxies, so one right
 * token of anybody exempts its address.
 */
function limitWrongTokens(): WrongTokens {
  const wrongKeys = createWrongKeys({ logged: false })
  return {
    admit({ raw }) {
      if (wrongKeys.isExhausted(addressOf(raw)))
        throw new HttpError(429, 'too many wrong tokens from this address: retry later', 1, { counted: true })
    },
    judge: ({ raw }, right) => void wrongKeys.judge(addressOf(raw), right ? 'any user' : undefined),
  }
}

/**
 * A user has few requests in flight. Otherwise one token could hold memory without limit, in requests whose body does not arrive and in
 * answers that are not read.
 */
function limitInFlight({ callerOf }: Authentication<Subscriber>): Authentication<Subscriber>['onRequest'] {
  const inFlight = new Map<string, number>()
  return async (request, reply) => {
    const user = nameOf(callerOf(request))
    const before = inFlight.get(user) ?? 0
    if (before >= mostInFlight)
      throw new HttpError(429, `this user has ${mostInFlight} requests in progress already: retry later`, 1)
    inFlight.set(user, before + 1)
    reply.raw.once('close', () => {
      const left = (inFlight.get(user) as number) - 1
      if (left > 0) inFlight.set(user, left)
      else inFlight.delete(user)
    })
  }
}

/** The caller of /app/receipts: the message of the receipt token. */
const receiptAuthentication = ({ secrets }: AppAccess, wrongTokens: WrongTokens): Authentication<ReceiptOf> =>
  createAuthentication((request, reply) => {
    reply.header('cache-control', 'no-store')
    wrongTokens.admit(request)
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const receipt = readReceiptToken(secrets, token)
    wrongTokens.judge(request, receipt !== undefined)
    if (!receipt)
      throw new HttpError(401, 'send the receipt token of the payload, unchanged, as `Authorization: Bearer <token>`')
    demandJson(request)
    return receipt
  }, 'anybody')

/** A body without a content type is treated as JSON. */
function demandJson(request: FastifyRequest): void {
  const type = mediaTypeOf(request)
  if (request.method === 'GET' || type === '' || type === 'application/json') return
  throw new HttpError(415, `content-type ${type} is not supported here: send application/json`)
}
