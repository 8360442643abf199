// The API under /app for the pages and apps of users: the inbox, and the devices of one user.

import type { FastifyInstance } from 'fastify'
import { type AppRoute, appRoutes, type ReceiptRoute } from '../../base/http/app-access.ts'
import type { TokenRevocations } from '../../base/http/subscriber-token.ts'
import { present } from '../../base/runtime/present.ts'
import type { Database } from '../../base/store/database.ts'
import type { DescribedRoute } from '../../contract/documents/described.ts'
import { deviceAppRoutes } from '../devices/app-routes.ts'
import type { Judge } from '../devices/device-event.ts'
import type { Publishing } from '../devices/outbox.ts'
import { reachable } from '../devices/reachable.ts'
import type { Registry } from '../devices/registry.ts'
import type { StatusOps } from '../inbox/marks.ts'
import { inboxRoutes } from '../inbox/routes.ts'
import type { PushService } from '../providers/push-service.ts'
import type { Suppression } from './suppress.ts'

/** Access of pages and apps: secrets of subscriber tokens, and origins that may call /app from a browser. */
export interface AppOptions {
  readonly secrets: readonly string[]
  readonly origins?: readonly string[]
  /** Most open streams of the inbox: in total, and of one user. */
  readonly streams?: number
  readonly streamsPerUser?: number
}

/** The paths of the API, for the mount of a side. */
export const appPaths = ['/app/inbox/*', '/app/devices/*', '/app/status', '/app/receipts']

export interface AppApi extends AppOptions {
  /** The configured brands. */
  readonly brands: readonly string[]
  readonly databaseOf: (brand: string) => Database
  readonly registryOf: (brand: string) => Registry
  /** A suppressed user does not see the inbox. Undefined: every user does. */
  readonly suppression: Suppression | undefined
  /** Records the marks of the inbox as delivery statuses. Absent: they are not recorded. */
  readonly statusOps?: StatusOps | undefined
  /** Further routes, with a subscriber token and with a receipt token. */
  readonly statusRoutes?: { readonly app: readonly AppRoute[]; readonly receipts: readonly ReceiptRoute[] } | undefined
  /** A device is accepted only if one of these services reaches it, or if it is published. */
  readonly services: readonly PushService[]
  readonly publish?: readonly Publishing[]
  readonly judge?: Judge | undefined
  /** Most devices of one user, and most tokens that one user may link in a minute. */
  readonly devices: { readonly app: number; readonly appPerMinute: number }
  readonly revocations: TokenRevocations
  /** Ends all streams when it aborts. */
  readonly signal: AbortSignal
}

/** Registers the routes. @returns the routes, for the documents */
export async function serveAppApi(server: FastifyInstance, options: AppApi): Promise<readonly DescribedRoute[]> {
  const {
    databaseOf,
    registryOf,
    suppression,
    statusOps,
    services,
    publish = [],
    judge,
    devices,
    revocations,
    signal,
  } = options
  const { app = [], receipts = [] } = options.statusRoutes ?? {}
  const { secrets, origins = [], brands, streams, streamsPerUser } = options
  const inbox = inboxRoutes({
    databaseOf,
    statusOps,
    signal,
    revocations,
    ...present({ streams, streamsPerUser, allowed: suppression?.mayRead }),
  })
  server.addHook('preClose', async () => inbox.stop())
  const reaches = reachable(services, publish)
  const routes = [
    ...inbox.routes,
    ...app,
    ...deviceAppRoutes({ registryOf, judge, reaches, most: devices.app, perMinute: devices.appPerMinute }),
  ]
  await appRoutes(server, { secrets, origins, brands, revocations }, routes, receipts)
  return [...routes, ...receipts]
}
