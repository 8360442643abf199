// The operator's server: {base_url} of §4.1. Only composes the parts and registers the routes.

import { type AcceptedKeys, createAcceptedKeys, measureExpiries } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { documentRoutes } from '../../base/http/documents.ts'
import { healthRoutes } from '../../base/http/health.ts'
import { createHttp } from '../../base/http/http.ts'
import { type Composed, createService, type Service } from '../../base/http/service.ts'
import { createEraser } from '../../base/people/eraser.ts'
import { measureStores } from '../../base/queue/measure-stores.ts'
import { metrics } from '../../base/runtime/metrics.ts'
import { withDefaults } from '../../base/runtime/present.ts'
import { ConfigError } from '../../base/runtime/problem.ts'
import { atMost } from '../../base/runtime/within.ts'
import { readSideSecret } from '../../base/store/side-secret.ts'
import { op } from '../../base/store/statement.ts'
import { defaultContentMapping } from '../../contract/content.ts'
import { reconciliation, sendEndpoints, statusPagePath } from '../../contract/endpoints.ts'
import { alertsOf } from '../../subjects/alerts/options.ts'
import { type ActRecorder, type AuditTrail, createAuditTrail } from '../../subjects/audit/trail.ts'
import { appPaths, serveAppApi } from '../../subjects/delivery/app-api.ts'
import { createSidePaths } from '../../subjects/delivery/compose.ts'
import { countMessages } from '../../subjects/delivery/message-counts.ts'
import { createStoreRetention } from '../../subjects/delivery/retention.ts'
import { createRevocations } from '../../subjects/delivery/revoked-tokens.ts'
import { readSourceExclusions } from '../../subjects/delivery/source-exclusions.ts'
import { createSuppression } from '../../subjects/delivery/suppress.ts'
import { isProviderKnown, knownKinds } from '../../subjects/devices/reachable.ts'
import type { Registry } from '../../subjects/devices/registry.ts'
import { brandFaults } from '../../subjects/settings/contradictions.ts'
import { appStatusRoute, receiptRoute } from '../../subjects/status/app-routes.ts'
import { createStatusPages } from '../../subjects/status/pages.ts'
import { providerReceiptRoutes } from '../../subjects/status/provider-receipts.ts'
import type { StatusRecorder } from '../../subjects/status/recorder.ts'
import { forgetStatuses } from '../../subjects/status/retention.ts'
import { registerAdmin } from '../admin/route.ts'
import { operatorRoutes } from '../admin/routes.ts'
import { createStoredKeys, keyPlaces, type StoredKeys } from '../admin/stored-keys.ts'
import { createPeople } from '../console/people.ts'
import { serveConsole } from '../console/serve-console.ts'
import { checkOperatorOptions } from './check-options.ts'
import { operatorDocuments } from './documents.ts'
import {
  type ApiKey,
  appPerMinute,
  deviceLimits,
  type OperatorOptions,
  operatorLimits,
  reconciliationLimits,
} from './options.ts'
import { operatorPersonParts } from './people.ts'
import { reconciliationRoute } from './reconciliation-route.ts'
import { sendRoutes } from './send-routes.ts'
import { statusRoutes } from './status-routes.ts'
import { type OperatorStore, openStore } from './store.ts'

export interface Operator extends Service, ActRecorder {
  /** The devices of each user, for your own code that links and unlinks. Available after start() has resolved. */
  readonly devices: Registry
  /** The delivery statuses of messages, for your own code that gets receipts. Available after start(), with the option `status`. */
  readonly statuses: StatusRecorder
  /** @throws ConfigError: a key of the store has the name of one of these */
  demandFreeNames(lists: KeyLists): void
  /** Accepts these keys from now on, beside those of the store. @throws ConfigError: nothing was changed */
  replaceKeys(lists: KeyLists): void
}

type KeyLists = Pick<OperatorOptions, 'keys' | 'adminKeys' | 'console'>

const placesOf = ({ keys, adminKeys, console }: KeyLists) =>
  keyPlaces({ 'operator.keys': keys, 'operator.admin_keys': adminKeys, 'operator.console.people': console?.people })

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
  const limits = withDefaults(operatorLimits, options.limits)
  let parts: Parts | undefined
  const service = createService('operator', pathsOf(options), (stopping) =>
    compose(options, limits, stopping, (composed) => {
      parts = composed
    }),
  )
  return {
    ...service,
    demandFreeNames: (lists) => parts?.storedKeys.demandFree(placesOf(lists)),
    replaceKeys({ keys, adminKeys = [] }) {
      checkOperatorOptions({ ...options, keys, adminKeys })
      const known = options.keys.flatMap(({ brands }) => brands)
      const unknown = keys.flatMap(({ brands }, i) =>
        brandFaults(`keys[${i}].brands`, brands, known, 'the brands of the start'),
      )
      if (unknown.length > 0)
        throw new ConfigError(
          unknown.map((fault) => ({ ...fault, where: 'operator', remedy: 'a new brand needs a restart' })),
        )
      parts?.storedKeys.configure(placesOf({ ...options, keys, adminKeys }))
      parts?.keys.replace(keys)
      parts?.adminKeys.replace(adminKeys)
    },
    async recordAct(entry) {
      if (!parts) throw new Error('the operator has not started: await operator.start() before you record an act')
      await parts.trail.record(entry)
    },
    get devices() {
      if (parts) return parts.registry
      throw new Error('the operator has not started: await operator.start() before you use its devices')
    },
    get statuses() {
      if (parts?.recorder) return parts.recorder
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

/** The parts that the operator's own code may use. */
interface Parts {
  readonly registry: Registry
  readonly recorder: StatusRecorder | undefined
  readonly trail: AuditTrail
  readonly keys: AcceptedKeys<ApiKey>
  readonly adminKeys: AcceptedKeys<AccessKey>
  readonly storedKeys: StoredKeys
}

async function compose(
  options: OperatorOptions,
  limits: typeof operatorLimits,
  signal: AbortSignal,
  onParts: (parts: Parts) => void,
): Promise<Composed> {
  const store = await openStore(options)
  try {
    return await composeOn(store, options, limits, signal, onParts)
  } catch (error) {
    await store.database.close()
    throw error
  }
}

async function composeOn(
  store: OperatorStore,
  options: OperatorOptions,
  limits: typeof operatorLimits,
  signal: AbortSignal,
  onParts: (parts: Parts) => void,
): Promise<Composed> {
  const { attributes, push, site, content } = options
  const { database, queue, registry, outbox, statuses, erased } = store
  const suppression =
    attributes && options.suppression !== 'none'
      ? createSuppression(attributes, signal, options.suppression)
      : undefined
  const maxDevices = withDefaults(deviceLimits, options.deviceLimits)
  const recorder = statuses?.recorder
  const deliveries = createSidePaths({
    push,
    site,
    content: withDefaults(defaultContentMapping, content),
    stores: [{ database, erased }],
    registry,
    devicesPerUser: maxDevices.services,
    limits,
    checkMessage: suppression?.checkMessage,
    settledOps: (channel) => statuses?.settledOps(channel),
  })
  const [channelPaths] = deliveries.ofStores
  const paths = { push: channelPaths?.push?.path, site: channelPaths?.site?.path }
  const brands = [...new Set(options.keys.flatMap((key) => key.brands))]
  const allBrands = [...brands, ...(options.publish ?? []).map(({ brand }) => brand)]
  const bodies = { ...limits, ...options.testing }
  const trail = createAuditTrail([{ name: '0', database }], () => database)
  const app = createHttp('operator', limits.bodyBytes, bodies)
  const keys = createAcceptedKeys(options.keys, trail.refusedKeys.countUnknown)
  const adminKeys = createAcceptedKeys(options.adminKeys ?? [], trail.refusedKeys.countUnknown)
  const storedKeys = createStoredKeys(database, 'operator', adminKeys, placesOf(options))
  await storedKeys.start()
  sendRoutes(app, { keys, paths, limits, signal })
  reconciliationRoute(app, {
    keys,
    source: attributes,
    limits: { ...reconciliationLimits, ...options.testing?.reconciliation },
    signal,
  })
  const statusPages = hasStatusPages(options.status)
    ? [statusRoutes(app, { pages: createStatusPages(database), keys })]
    : []
  const receipts = providerReceiptRoutes(app, {
    receipts: options.status?.receiptsFrom,
    brands,
    recorder,
    setting: 'operator.status.receipts_from',
  })
  const revocations = createRevocations([database])
  const adminApp = createHttp('operator', limits.bodyBytes, bodies)
  const lanes = [...outbox.lanes, ...(statuses?.lanes ?? [])]
  const people = { database, parts: operatorPersonParts.map((part) => ({ database, part })) }
  const admin = operatorRoutes({
    audited: trail.stores,
    queue,
    lanes: () => lanes,
    database,
    registry,
    deviceChecks: {
      judge: options.judgeDevice,
      reaches: isProviderKnown(pushServices(options), options.publish ?? []),
    },
    services: deliveries.services,
    removals: deliveries.removals,
    brands,
    exclusionsOf: async (brand) => {
      if (!attributes) throw new Error('the operator has no attribute source')
      return readSourceExclusions(attributes, brand, signal)
    },
    statuses: recorder,
    countMessages: () => database.readMerged(op(countMessages, [[]])),
    revocations,
    keyLists: { 'operator.keys': keys, 'operator.admin_keys': adminKeys },
    storedKeys,
    configuration: options.configuration,
    tokenSecret: options.app?.secrets[0],
    appBrands: allBrands,
    people: { storeOf: (brand) => (allBrands.includes(brand) ? people : undefined), stores: [people] },
  })
  const signInPeople = createPeople(options.console?.people ?? [])
  const authentication = registerAdmin(adminApp, signInPeople.join(adminKeys), admin, trail)
  await serveConsole(adminApp, {
    side: 'operator',
    keys: options.adminKeys ?? [],
    authentication,
    routes: admin,
    people: signInPeople,
    signIn: options.console,
    readSecret: () => readSideSecret(database, 'console'),
  })
  const appApi = options.app
    ? await serveAppApi(app, {
        ...options.app,
        brands: allBrands,
        databaseOf: () => database,
        registryOf: () => registry,
        suppression,
        statusOps: recorder?.changeOps,
        statusRoutes: recorder && { app: [appStatusRoute(recorder)], receipts: [receiptRoute(recorder)] },
        services: pushServices(options),
        publish: options.publish ?? [],
        judge: options.judgeDevice,
        devices: { app: maxDevices.app, appPerMinute: options.testing?.appPerMinute ?? appPerMinute },
        revocations,
        signal,
      })
    : []
  healthRoutes(adminApp, {
    check: () => database.checkWrites(),
    signal,
  })
  documentRoutes(
    adminApp,
    'operator',
    adminKeys,
    operatorDocuments({ admin, app: appApi, status: statusPages, receipts, publicUrl: options.publicUrl }),
  )
  if (options.app) await revocations.start()
  await Promise.all([app.ready(), adminApp.ready()])

  const eraser = createEraser(database, people.parts)
  const retention = createStoreRetention(store.database, store.queue, options, store.statuses ? [forgetStatuses] : [])
  await deliveries.removals?.start()
  retention.start()
  trail.start(options.auditKeptMs)
  eraser.start()
  outbox.start()
  statuses?.start()
  metrics().allow('brand', allBrands)
  metrics().allow('kind', knownKinds(pushServices(options)))
  const stopAlerts = alertsOf(options.alerts, { lanes: () => lanes, store: options.store, database })
  const stopMetrics = [
    ...measureStores('operator', [{ number: 0, database }], options.store),
    measureExpiries([keys, adminKeys]),
  ]
  onParts({ registry, recorder, trail, keys, adminKeys, storedKeys })

  return {
    app,
    admin: adminApp,
    // With a full disk, a file is opened nevertheless.
    checkStores: async () => database.engine === 'postgres' && database.checkWrites(),
    async close(withinMs) {
      for (const stop of stopMetrics) stop()
      await stopAlerts()
      await Promise.all([retention.stop(), eraser.stop(), erased.stop()])
      await atMost(withinMs, deliveries.idle())
      await Promise.all([app.close(), adminApp.close()])
      await trail.stop()
      await revocations.stop()
      await storedKeys.stop()
      await outbox.stop(withinMs)
      await statuses?.stop(withinMs)
      await Promise.all([deliveries.close(), attributes?.close?.()])
      await database.close()
    },
  }
}

const pushServices = ({ push }: OperatorOptions) => (push && 'devices' in push ? push.devices.services : [])
