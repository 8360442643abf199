// Composes the platform: lanes that call operators, and the API that fills and shows the lanes.

import { deviceLink, deviceUnlink } from '../contract/endpoints.ts'
import { readMessageKey } from '../contract/message-key.ts'
import { deviceReads } from '../devices/admin.ts'
import { deviceIntegrationRoutes } from '../devices/integration-routes.ts'
import { createLinkChannels } from '../devices/link-channels.ts'
import { knownKinds } from '../devices/reachable.ts'
import { createRegistry, deviceMigrations } from '../devices/registry.ts'
import { deviceRetention } from '../devices/retention.ts'
import { adminRoutes } from '../http/admin-access.ts'
import { documentRoutes } from '../http/documents.ts'
import { healthRoutes } from '../http/health.ts'
import { createHttp } from '../http/http.ts'
import { type Composed, createService, type Service } from '../http/service.ts'
import { callProvider } from '../providers/call-provider.ts'
import { callMigrations, forgetCalls } from '../providers/calls.ts'
import type { Message, Provider } from '../providers/provider.ts'
import { createQueue, queueMigrations } from '../queue/create-queue.ts'
import type { Item, Lane, LaneService } from '../queue/queue.ts'
import { crmRoutes } from '../reconcile/crm/routes.ts'
import { crmFileOf, crmStoreMigrations, openCrmStore } from '../reconcile/crm/store.ts'
import { createReconciler } from '../reconcile/reconciler.ts'
import { forgetRuns } from '../reconcile/retention.ts'
import { reconciliationRoutes } from '../reconcile/routes.ts'
import { uuidv7 } from '../runtime/ids.ts'
import { metrics } from '../runtime/metrics.ts'
import { contentsKeptByDefaultMs, createRetention, keptByDefaultMs } from '../runtime/retention.ts'
import type { Migration } from '../store/database.ts'
import { openDatabase } from '../store/open-database.ts'
import { ping } from '../store/ping.ts'
import { readSizes } from '../store/sizes.ts'
import { platformAdmin } from './admin.ts'
import { checkPlatformOptions } from './check-options.ts'
import { consumerRoutes, consumerStates, readLag, statusOf } from './consumers.ts'
import { platformDocuments } from './documents.ts'
import { laneName } from './enqueue.ts'
import { createIntake } from './intake.ts'
import { messageRoutes } from './message-routes.ts'
import type { RecordRules } from './new-item.ts'
import type { LaneOptions, PlatformOptions } from './options.ts'

const mainMigrations: readonly Migration[] = [...queueMigrations, ...callMigrations, ...deviceMigrations]

/** The databases of a store, with their migrations: SQLite uses two files. */
export function platformStores(
  store: string,
): readonly { readonly url: string; readonly migrations: readonly Migration[] }[] {
  const crm = crmFileOf(store)
  if (crm === undefined) return [{ url: store, migrations: [...mainMigrations, ...crmStoreMigrations] }]
  return [
    { url: store, migrations: mainMigrations },
    { url: crm, migrations: crmStoreMigrations },
  ]
}

export type Platform = Service

/**
 * Creates a platform that can be mounted in an HTTP server. It reads only its store, no other file and no environment variable.
 *
 * @example
 * import { createServer } from 'node:http'
 *
 * const { CRM_KEY = '', OPERATOR_KEY = '' } = process.env
 * const platform = createPlatform({
 *   store: 'sqlite:./platform.db',
 *   keys: [{ name: 'crm', key: CRM_KEY, scopes: ['enqueue', 'read'] }],
 *   lanes: [
 *     { brand: '1', channel: 'push', mode: 'batch', provider: operatorApi({ url: 'https://operator.example', apiKey: OPERATOR_KEY }) },
 *   ],
 * })
 * await platform.start()
 * createServer(platform.handler).listen(7002)
 * createServer(platform.admin.handler).listen(7102, '127.0.0.1')
 */
export function createPlatform(options: PlatformOptions): Platform {
  checkPlatformOptions(options)
  return createService('platform', [deviceLink.path, deviceUnlink.path], (stopping) =>
    composePlatform(options, stopping),
  )
}

async function composePlatform(options: PlatformOptions, signal: AbortSignal): Promise<Composed> {
  const [main] = platformStores(options.store)
  const database = await openDatabase(options.store, { migrations: main?.migrations ?? [] })
  const crm = await openCrmStore(options.store, database).catch(async (error: unknown) => {
    await database.close()
    throw error
  })
  const { reconciliation = [] } = options
  const queue = createQueue(database, { readAheadBytes: options.readAheadBytes })
  const { devicesPerUser } = options
  const registry = createRegistry({ database, ...(devicesPerUser !== undefined && { devicesPerUser }) })
  const links = createLinkChannels({
    channels: options.deviceLinks ?? [],
    registry,
    queue,
    judge: options.judgeDevice,
  })
  const services = options.lanes.map((lane) => {
    const providers = providersOf(lane)
    return { providers, service: serveLane(queue, lane, providers) }
  })
  const rules = new Map(options.lanes.map((lane) => [laneName(lane.brand, lane.channel), lane]))
  const rulesOf = (lane: string): RecordRules | undefined => rules.get(lane)
  const intake = createIntake({
    channels: options.intake ?? [],
    queue,
    database,
    brands: options.lanes.map(({ brand }) => brand),
    rulesOf,
  })
  const consumers = [...links.consumers, ...intake.consumers]

  const bodyBytes = options.bodyBytes ?? 16 * 1024 * 1024
  const app = createHttp('platform', bodyBytes, options.bodies)
  const adminApp = createHttp('platform', bodyBytes, options.bodies)
  const admin = [
    ...platformAdmin({
      queue,
      lanes: [...services.map(({ service }) => service), ...links.lanes, ...intake.lanes],
      rulesOf,
    }),
    ...messageRoutes({ database, queue, lanes: services.map(({ service }) => service) }),
    ...consumerRoutes(consumers),
    ...deviceReads({ registry }),
    ...crmRoutes(crm.database),
    ...reconciliationRoutes(crm.database, reconciliation),
  ]
  adminRoutes(adminApp, options.keys, admin)
  deviceIntegrationRoutes(app, { registry, keys: options.keys, judge: options.judgeDevice })
  healthRoutes(adminApp, { check: () => ping(database), signal, details: () => consumerStates(consumers) })
  documentRoutes(adminApp, 'platform', platformDocuments(admin, options.publicUrl))
  await Promise.all([app.ready(), adminApp.ready()])
  for (const { service } of services) service.start()
  const reconciler = createReconciler(crm.database, reconciliation)
  reconciler.start()
  links.start()
  intake.start()
  const keptMs = options.keptMs ?? keptByDefaultMs
  const contentsKeptMs = Math.min(keptMs, options.contentsKeptMs ?? contentsKeptByDefaultMs)
  const retention = createRetention([
    { keptMs, forget: (before) => queue.forgetSettled(before) },
    { keptMs: contentsKeptMs, forget: (before) => queue.forgetEvidence(before) },
    { keptMs: contentsKeptMs, forget: (before) => forgetCalls(database, before) },
    ...deviceRetention(database, keptMs),
    { keptMs, forget: (before) => forgetRuns(crm.database, before) },
  ])
  retention.start()
  metrics().allow('brand', brandsOf(options))
  metrics().allow('kind', knownKinds([]))
  const unregisterMetrics = [
    metrics().depths(async () =>
      (await queue.countItems()).map(({ lane, category, items }) => ({ lane, state: category, count: items })),
    ),
    ...consumers.map((consumer) =>
      metrics().consumer(consumer.name, {
        up: () => statusOf(consumer).state === 'consuming',
        lag: () => readLag(consumer),
      }),
    ),
    metrics().sizes('platform', () => readSizes(database)),
  ]

  return {
    app,
    admin: adminApp,
    async close(withinMs) {
      for (const unregister of unregisterMetrics) unregister()
      await Promise.all([retention.stop(), reconciler.stop()])
      await Promise.all([
        links.stop(withinMs),
        intake.stop(withinMs),
        ...services.map(({ service }) => service.stop(withinMs)),
      ])
      await Promise.all([app.close(), adminApp.close()])
      await Promise.all(
        services.flatMap(({ providers }) => [...new Set(Object.values(providers))].map((each) => each.close?.())),
      )
      await crm.close()
      await database.close()
    },
  }
}

function brandsOf({ lanes, keys, reconciliation = [], deviceLinks = [] }: PlatformOptions): string[] {
  const linked = deviceLinks.flatMap(({ brands }) => (typeof brands === 'string' ? [brands] : Object.values(brands)))
  const named = [...lanes, ...reconciliation].map(({ brand }) => brand)
  return [...named, ...linked, ...keys.flatMap((key) => key.brands ?? [])]
}

const laneDefaults = { max: 500, bytes: 4 * 1024 * 1024, spanMs: 200, concurrency: 4, timeoutMs: 30_000 }

/** The provider of a lane: the given provider, or one that is created for the lane and this mode. */
export function providerOf(
  { provider, channel, max, concurrency, ...configured }: LaneOptions,
  mode = configured.mode,
): Provider {
  if (typeof provider !== 'function') return provider
  return provider({
    channel,
    mode,
    max: mode === 'single' ? 1 : (max ?? laneDefaults.max),
    concurrency: concurrency ?? laneDefaults.concurrency,
  })
}

/** A provider for each mode, so that the mode can change while the lane runs. */
type Providers = Readonly<Record<LaneOptions['mode'], Provider>>

export const providersOf = (lane: LaneOptions): Providers => ({
  single: providerOf(lane, 'single'),
  batch: providerOf(lane, 'batch'),
})

/** Serves a configured lane with its providers. */
export function serveLane(
  queue: ReturnType<typeof createQueue>,
  options: LaneOptions,
  providers: Providers,
): LaneService {
  const { brand, channel, mode } = options
  const timeoutMs = options.timeoutMs ?? laneDefaults.timeoutMs
  const mostPerCall = providers.batch.max
  const lane: Lane = {
    name: laneName(brand, channel),
    order: 'none',
    mode,
    max: Math.min(options.max ?? laneDefaults.max, mostPerCall),
    mostPerCall,
    bytes: options.bytes ?? laneDefaults.bytes,
    spanMs: options.spanMs ?? laneDefaults.spanMs,
    concurrency: options.concurrency ?? laneDefaults.concurrency,
    ...(options.perSecond !== undefined && { perSecond: options.perSecond }),
    timeoutMs,
    keepFailed: options.failedActions ?? true,
    retry: {
      firstMs: options.retry?.firstMs ?? 1_000,
      mostMs: options.retry?.mostMs ?? 300_000,
      ...(options.retry?.attempts !== undefined && { attempts: options.retry.attempts }),
    },
  }
  // The lane is the guard of its provider: its concurrency, its timeout, and its hold during an outage.
  return queue.serveLane(lane, (items, context) =>
    callProvider(
      providers[context.mode],
      items.map((item) => toMessage(item, brand)),
      context,
    ),
  )
}

function toMessage(item: Item, brand: string): Message {
  const { channel, id, userId } = readMessageKey(item.key)
  return {
    brand,
    channel,
    id,
    userId,
    key: item.key,
    // The operator generates its own identifier. Our own provider finds the first identifier by the key.
    ref: uuidv7(),
    text: item.text,
    attempt: item.attempt,
    context: item.traceparent === undefined ? {} : { traceparent: item.traceparent },
  }
}
