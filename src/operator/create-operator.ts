// The operator's server: {base_url} of §4.1. Only composes the parts and registers the routes.

import { reconciliation, sendEndpoints, statusPagePath } from '../contract/endpoints.ts'
import { appPaths, serveAppApi } from '../delivery/app-api.ts'
import { createPath, createPushDelivery, deliverThrough } from '../delivery/compose.ts'
import type { Delivery } from '../delivery/delivery.ts'
import { deliveryMigrations } from '../delivery/migrations.ts'
import { deliveryRetention } from '../delivery/retention.ts'
import type { SendPath } from '../delivery/send-path.ts'
import { createSuppression } from '../delivery/suppress.ts'
import { deviceReads, deviceWrites } from '../devices/admin.ts'
import { createOutbox } from '../devices/outbox.ts'
import { knownKinds } from '../devices/reachable.ts'
import { createRegistry, deviceMigrations, type Registry } from '../devices/registry.ts'
import { createRemovalKeeper } from '../devices/removals/keeper.ts'
import { removalRoutes } from '../devices/removals/routes.ts'
import { removalMigrations } from '../devices/removals/tables.ts'
import { deviceRetention } from '../devices/retention.ts'
import { adminRoutes } from '../http/admin-access.ts'
import { documentRoutes } from '../http/documents.ts'
import { healthRoutes } from '../http/health.ts'
import { createHttp } from '../http/http.ts'
import { type Composed, createService, type Service } from '../http/service.ts'
import { createInbox, inboxMigrations } from '../inbox/inbox.ts'
import { forgetNotifications } from '../inbox/store.ts'
import { callMigrations, forgetCalls } from '../providers/calls.ts'
import type { Channel } from '../providers/provider.ts'
import { queueAdmin } from '../queue/admin.ts'
import { createQueue, queueMigrations } from '../queue/create-queue.ts'
import { metrics } from '../runtime/metrics.ts'
import { contentsKeptByDefaultMs, createRetention, keptByDefaultMs } from '../runtime/retention.ts'
import { atMost } from '../runtime/within.ts'
import type { StatusRecorder } from '../status/recorder.ts'
import { statusMigrations } from '../status/tables.ts'
import type { Database, Migration } from '../store/database.ts'
import { openDatabase } from '../store/open-database.ts'
import { ping } from '../store/ping.ts'
import { readSizes } from '../store/sizes.ts'
import { operatorAdmin } from './admin.ts'
import { appStatusRoute, receiptRoute } from './app-status-routes.ts'
import { checkOperatorOptions } from './check-options.ts'
import { operatorDocuments } from './documents.ts'
import { messageRoutes } from './message-routes.ts'
import { deviceLimits, type OperatorOptions, operatorLimits, reconciliationLimits } from './options.ts'
import { providerReceiptRoute } from './provider-receipts.ts'
import { reconciliationRoute } from './reconciliation-route.ts'
import { sendRoutes } from './send-routes.ts'
import { statusRoutes } from './status-routes.ts'
import { createStatuses, type Statuses } from './statuses.ts'

export const operatorMigrations: readonly Migration[] = [
  ...deliveryMigrations,
  ...callMigrations,
  ...inboxMigrations,
  ...statusMigrations,
  ...removalMigrations,
  ...deviceMigrations,
  ...queueMigrations,
]

export interface Operator extends Service {
  /** The devices of each user, for your own code that links and unlinks. Available after start() has resolved. */
  readonly devices: Registry
  /** The delivery statuses of messages, for your own code that gets receipts. Available after start(), with the option `status`. */
  readonly statuses: StatusRecorder
}

/**
 * An operator's API, ready to be mounted. Reads nothing from disk or environment except its store.
 *
 * @example
 * import { createServer } from 'node:http'
 *
 * const { API_KEY = '', ACCOUNT = '' } = process.env
 * const operator = createOperator({
 *   store: 'sqlite:./operator.db',
 *   keys: [{ name: 'platform', key: API_KEY, brands: ['1'] }],
 *   push: { devices: { source: 'registry', services: [fcm({ serviceAccount: ACCOUNT })] } },
 *   site: 'inbox',
 *   attributes: await fileSource('./users.csv'),
 * })
 * await operator.start()
 * createServer(operator.handler).listen(7001)
 * createServer(operator.admin.handler).listen(7101, '127.0.0.1')
 */
export function createOperator(options: OperatorOptions): Operator {
  checkOperatorOptions(options)
  const limits = { ...operatorLimits, ...options.limits }
  let registry: Registry | undefined
  let recorder: StatusRecorder | undefined
  const service = createService('operator', pathsOf(options), (stopping) =>
    compose(options, limits, stopping, (created, statuses) => {
      registry = created
      recorder = statuses?.recorder
    }),
  )
  return {
    ...service,
    get devices() {
      if (registry) return registry
      throw new Error('the operator has not started: await operator.start() before you use its devices')
    },
    get statuses() {
      if (recorder) return recorder
      throw new Error('statuses are recorded after operator.start(), and only with the option status: add status: {}')
    },
  }
}

/** The paths of the interface, of `app` and of `status`. */
function pathsOf({ app, status }: OperatorOptions): readonly string[] {
  const paths = [...sendEndpoints, reconciliation].map(({ path }) => path)
  return [
    ...paths,
    ...(app ? appPaths : []),
    ...(hasStatusPages(status) ? [statusPagePath] : []),
    ...(status?.receiptsFrom?.length ? ['/receipts/*'] : []),
  ]
}

const hasStatusPages = (status: OperatorOptions['status']): boolean => status !== undefined && status.polling !== false

async function compose(
  options: OperatorOptions,
  limits: typeof operatorLimits,
  signal: AbortSignal,
  onParts: (registry: Registry, statuses: Statuses | undefined) => void,
): Promise<Composed> {
  const database = await openDatabase(options.store, { migrations: operatorMigrations })
  try {
    return await composeOn(database, options, limits, signal, onParts)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function composeOn(
  database: Database,
  options: OperatorOptions,
  limits: typeof operatorLimits,
  signal: AbortSignal,
  onParts: (registry: Registry, statuses: Statuses | undefined) => void,
): Promise<Composed> {
  const { attributes } = options
  const suppression =
    attributes && options.suppression !== 'none'
      ? createSuppression(attributes, signal, options.suppression)
      : undefined
  const queue = createQueue(database)
  const outbox = createOutbox(queue, options.publish ?? [])
  const maxDevices = { ...deviceLimits, ...options.deviceLimits }
  const registry = createRegistry({
    database,
    // On PostgreSQL, other processes may change the registry too.
    shared: database.engine === 'postgres',
    outbox: outbox.lanes.length > 0 ? outbox : undefined,
    devicesPerUser: maxDevices.services,
  })
  const devices = { registry, judge: options.judgeDevice }
  const site =
    options.site === 'inbox'
      ? createInbox({ database, ...(options.content && { content: options.content }) })
      : options.site
  const removals =
    options.push && 'devices' in options.push
      ? createRemovalKeeper({
          database,
          ...(options.push.devices.removals && { limits: options.push.devices.removals }),
        })
      : undefined
  const deliveries: { [C in Channel]?: Delivery | undefined } = {
    push:
      options.push &&
      createPushDelivery(options.push, {
        registry,
        brake: removals,
        devicesPerUser: maxDevices.services,
        content: options.content,
        limits,
      }),
    site: site && deliverThrough(site, limits),
  }
  const statuses =
    options.status && createStatuses({ database, queue, options: options.status, inbox: options.site === 'inbox' })
  const pathOf = (channel: Channel): SendPath | undefined => {
    const delivery = deliveries[channel]
    return (
      delivery && createPath(delivery, { database, suppression, settledOps: statuses?.settledOps(channel), limits })
    )
  }
  const paths: { [C in Channel]?: SendPath | undefined } = { push: pathOf('push'), site: pathOf('site') }

  const brands = [...new Set(options.keys.flatMap((key) => key.brands))]
  const app = createHttp('operator', limits.bodyBytes, limits)
  sendRoutes(app, { keys: options.keys, paths, limits, signal })
  reconciliationRoute(app, {
    keys: options.keys,
    source: attributes,
    limits: { ...reconciliationLimits, ...options.reconciliation },
    signal,
  })
  const statusPages = hasStatusPages(options.status) ? [statusRoutes(app, { database, keys: options.keys })] : []
  const receipts =
    statuses && options.status?.receiptsFrom?.length
      ? [providerReceiptRoute(app, { receipts: options.status.receiptsFrom, brands, recorder: statuses.recorder })]
      : []
  const adminApp = createHttp('operator', limits.bodyBytes, limits)
  const admin = [
    ...operatorAdmin({ database, secret: options.app?.secrets[0] }),
    ...messageRoutes({ database, brands, statuses: statuses?.recorder }),
    ...(removals ? removalRoutes(removals) : []),
    ...deviceReads(() => registry),
    ...deviceWrites(devices),
    ...queueAdmin({ queue, lanes: [...outbox.lanes, ...(statuses?.lanes ?? [])] }),
  ]
  adminRoutes(adminApp, options.adminKeys ?? [], admin)
  const appApi = options.app
    ? await serveAppApi(app, {
        ...options.app,
        databaseOf: () => database,
        registryOf: () => registry,
        suppression,
        statusOps: statuses?.recorder.changeOps,
        statusRoutes: statuses && {
          app: [appStatusRoute(statuses.recorder)],
          receipts: [receiptRoute(statuses.recorder)],
        },
        services: pushServices(options),
        publish: options.publish ?? [],
        judge: options.judgeDevice,
        devices: maxDevices,
        signal,
      })
    : []
  healthRoutes(adminApp, { check: () => ping(database), signal })
  documentRoutes(
    adminApp,
    'operator',
    operatorDocuments({ admin, app: appApi, status: statusPages, receipts, publicUrl: options.publicUrl }),
  )
  await Promise.all([app.ready(), adminApp.ready()])

  const keptMs = options.keptMs ?? keptByDefaultMs
  const contentsKeptMs = Math.min(keptMs, options.contentsKeptMs ?? contentsKeptByDefaultMs)
  const retention = createRetention([
    ...deliveryRetention(database, { keptMs, contentsKeptMs }),
    { keptMs: contentsKeptMs, forget: (before) => forgetCalls(database, before) },
    { keptMs, forget: (before) => forgetNotifications(database, before) },
    ...deviceRetention(database, keptMs),
    { keptMs, forget: (before) => queue.forgetSettled(before) },
    { keptMs: contentsKeptMs, forget: (before) => queue.forgetEvidence(before) },
    ...(statuses ? [statuses.retention(keptMs)] : []),
  ])
  await removals?.start()
  retention.start()
  outbox.start()
  statuses?.start()
  metrics().allow('brand', [...brands, ...(options.publish ?? []).map(({ brand }) => brand)])
  metrics().allow('kind', knownKinds(pushServices(options)))
  const stopMetrics = [
    metrics().depths(async () =>
      (await queue.countItems()).map(({ lane, category, items }) => ({ lane, state: category, count: items })),
    ),
    metrics().sizes('operator', () => readSizes(database)),
  ]
  onParts(registry, statuses)

  return {
    app,
    admin: adminApp,
    async close(withinMs) {
      for (const stop of stopMetrics) stop()
      await retention.stop()
      const idle = Promise.all([paths.push?.idle(), paths.site?.idle()])
      await atMost(withinMs, idle)
      await Promise.all([app.close(), adminApp.close()])
      await outbox.stop(withinMs)
      await statuses?.stop(withinMs)
      await removals?.stop()
      await Promise.all([deliveries.push?.close(), deliveries.site?.close(), attributes?.close?.()])
      await database.close()
    },
  }
}

const pushServices = ({ push }: OperatorOptions) => (push && 'devices' in push ? push.devices.services : [])
