// Composes the platform: lanes that call operators, and the API that fills and shows the lanes.

import { isDeepStrictEqual } from 'node:util'
import { consumerStates, readLag, statusOf } from '../../base/brokers/consumer-state.ts'
import { type AcceptedKeys, createAcceptedKeys, measureExpiries } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { documentRoutes } from '../../base/http/documents.ts'
import { healthRoutes } from '../../base/http/health.ts'
import { createHttp } from '../../base/http/http.ts'
import { type Composed, createService, type Service } from '../../base/http/service.ts'
import { createEraser } from '../../base/people/eraser.ts'
import { laneName } from '../../base/queue/lane-name.ts'
import { measureStores } from '../../base/queue/measure-stores.ts'
import { metrics } from '../../base/runtime/metrics.ts'
import { keptByDefaultMs } from '../../base/runtime/retention.ts'
import { atMost } from '../../base/runtime/within.ts'
import { readSideSecret } from '../../base/store/side-secret.ts'
import { deviceLink, deviceUnlink, messageStatusPath } from '../../contract/endpoints.ts'
import { alertsOf } from '../../subjects/alerts/options.ts'
import { type ActRecorder, type AuditTrail, createAuditTrail } from '../../subjects/audit/trail.ts'
import { checkAnyStore, storeStates } from '../../subjects/brands/store-states.ts'
import { createConversions, forgetStatuses, type StatusLane } from '../../subjects/conversions/conversions.ts'
import { appPaths, serveAppApi } from '../../subjects/delivery/app-api.ts'
import { createStoreRetention } from '../../subjects/delivery/retention.ts'
import { createRevocations } from '../../subjects/delivery/revoked-tokens.ts'
import { deviceIntegrationRoutes } from '../../subjects/devices/integration-routes.ts'
import { createLinkIntake } from '../../subjects/devices/link-intake.ts'
import { knownKinds } from '../../subjects/devices/reachable.ts'
import type { Findings } from '../../subjects/reconcile/findings.ts'
import { createReconciler } from '../../subjects/reconcile/reconciler.ts'
import { forgetRuns } from '../../subjects/reconcile/retention.ts'
import { appStatusRoute, receiptRoute } from '../../subjects/status/app-routes.ts'
import { providerReceiptRoutes } from '../../subjects/status/provider-receipts.ts'
import { registerAdmin } from '../admin/route.ts'
import { platformRoutes } from '../admin/routes.ts'
import { createStoredKeys, keyPlaces, type StoredKeys } from '../admin/stored-keys.ts'
import { openStoredLanes, type StoredLane, type StoredLanes } from '../admin/stored-lanes.ts'
import { createPeople } from '../console/people.ts'
import { serveConsole } from '../console/serve-console.ts'
import { checkPlatformOptions } from './check-options.ts'
import { platformDocuments } from './documents.ts'
import { enqueueBody } from './enqueue.ts'
import { createIntake } from './intake.ts'
import { createMessageLanes } from './message-lanes.ts'
import { appDevices, type LaneOptions, type PlatformOptions } from './options.ts'
import { createOwnDelivery } from './own-delivery.ts'
import { createOwnStatuses } from './own-statuses.ts'
import { peopleIn } from './people.ts'
import { auditedStores, openStores, type PlatformStore } from './stores.ts'

export interface Platform extends Service, ActRecorder {
  /** The lanes of the store as this process read them last, each with its settings as JSON. */
  storedLanes(): readonly StoredLane[]
  /** @throws ConfigError: a key of the store has the name of one of these */
  demandFreeNames(lists: KeyLists): void
  /**
   * Accepts these keys from now on, beside the keys of the store, and serves these lanes, with the lanes of the store. A lane that is the same object
   * as before goes on.
   *
   * @returns false: nothing was changed, because /app serves other brands; this needs another platform
   * @throws ConfigError: nothing was changed
   */
  change(next: KeyLists & Pick<PlatformOptions, 'lanes'>): boolean
}

type KeyLists = Pick<PlatformOptions, 'keys' | 'console'>

const placesOf = ({ keys, console }: KeyLists) =>
  keyPlaces({ 'platform.keys': keys, 'platform.console.people': console?.people })

/**
 * Creates a platform that can be mounted in an HTTP server. It reads only its store, no other file and no environment variable.
 *
 * @example
 * import { createServer } from 'node:http'
 *
 * const { CRM_KEY = '', OPERATOR_KEY = '' } = process.env
 * const platform = createPlatform({
 *   store: 'sqlite:./platform.db',
 *   keys: [{ name: 'crm', key: CRM_KEY, scopes: ['enqueue', 'counts'] }],
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
  const paths = [
    deviceLink.path,
    deviceUnlink.path,
    ...(options.storedLanes || options.lanes.some(({ status }) => status?.secrets?.length) ? [messageStatusPath] : []),
    ...(options.own?.app ? appPaths : []),
    ...(options.own?.receiptsFrom?.length ? ['/receipts/*'] : []),
  ]
  let parts: Parts | undefined
  const service = createService('platform', paths, (stopping) =>
    composePlatform(options, stopping, (composed) => {
      parts = composed
    }),
  )
  return {
    ...service,
    storedLanes: () => parts?.storedLanes?.known() ?? [],
    demandFreeNames: (lists) => parts?.storedKeys.demandFree(placesOf(lists)),
    change({ keys, lanes }) {
      const next = { ...options, keys, lanes }
      checkPlatformOptions(next)
      if (!parts) throw new Error('the platform has not started')
      parts.storedKeys.demandFree(placesOf(next))
      if (!parts.changeLanes(lanes)) return false
      parts.storedKeys.configure(placesOf(next))
      parts.keys.replace(keys)
      return true
    },
    async recordAct(entry) {
      if (!parts) throw new Error('the platform has not started: await platform.start() before you record an act')
      await parts.trail.record(entry)
    },
  }
}

interface Parts {
  readonly keys: AcceptedKeys<AccessKey>
  readonly storedKeys: StoredKeys
  readonly storedLanes: StoredLanes | undefined
  readonly trail: AuditTrail
  /** @returns false: nothing was changed. @throws before it changes anything */
  changeLanes(lanes: readonly LaneOptions[]): boolean
}

async function composePlatform(
  given: PlatformOptions,
  signal: AbortSignal,
  onParts: (parts: Parts) => void,
): Promise<Composed> {
  const stores = await openStores(given)
  const { database: firstDatabase } = stores.all[0] as PlatformStore
  const closeStores = async (error: unknown): Promise<never> => {
    await stores.close()
    throw error
  }
  const storedLanes = given.storedLanes && (await openStoredLanes(firstDatabase, given.storedLanes).catch(closeStores))
  const options = { ...given, lanes: [...given.lanes, ...(storedLanes?.lanes ?? [])] }
  const { queue } = stores
  const { reconciliation = [] } = options
  const trail = createAuditTrail(auditedStores(stores), (brand) => stores.of(brand).database)
  const links = createLinkIntake({
    sources: options.deviceLinks ?? [],
    registryOf: (brand) => stores.of(brand).registry,
    queue,
    judge: options.judgeDevice,
  })
  const statuses = createOwnStatuses((brand) => stores.of(brand).database, options.own?.content?.meta)
  const own =
    options.own && createOwnDelivery(options.own, stores, { perUser: options.devicesPerUser, signal, statuses })
  const conversions = createConversions({
    stores: stores.all,
    databaseOf: (brand) => stores.of(brand).database,
    erased: { find: (brand, userId) => stores.of(brand).erased.find(brand, userId) },
    queue,
    lanes: statusLanes(options),
    mayChange: options.storedLanes !== undefined,
  })
  const lanes = createMessageLanes({ queue, own, createPoller: conversions.createPoller }, options.lanes)
  const intake = createIntake({
    sources: options.intake ?? [],
    queue,
    databaseOf: (brand) => stores.of(brand).database,
    brands: options.lanes.map(({ brand }) => brand),
    rulesOf: lanes.rulesOf,
  })
  const consumers = [...links.consumers, ...intake.consumers]

  const crmOf = (brand: string) => stores.of(brand).crm
  const bodyBytes = options.bodyBytes ?? 16 * 1024 * 1024
  const bodies = {
    ...(options.bodyBytesInFlight !== undefined && { bodyBytesInFlight: options.bodyBytesInFlight }),
    ...options.testing,
  }
  const app = createHttp('platform', bodyBytes, bodies)
  const revocations = createRevocations(stores.all.map(({ database }) => database))
  const adminApp = createHttp('platform', bodyBytes, bodies)
  const ownBrands = ownBrandsOf(options.lanes)
  const keys = createAcceptedKeys(options.keys, trail.refusedKeys.countUnknown)
  const storedKeys = createStoredKeys(firstDatabase, 'platform', keys, placesOf(options))
  await storedKeys.start().catch(closeStores)
  onParts({
    keys,
    storedKeys,
    storedLanes: storedLanes?.stored,
    trail,
    changeLanes(next) {
      if (!isDeepStrictEqual(ownBrandsOf(next), ownBrands)) return false
      lanes.replace(next)
      conversions.replaceLanes(statusLanes({ ...options, lanes: next }))
      intake.replaceBrands(next.map(({ brand }) => brand))
      metrics().allow('brand', brandsOf({ ...options, lanes: next }))
      return true
    },
  })
  const admin = platformRoutes({
    audited: trail.stores,
    queue,
    lanes: () => [...lanes.list(), ...links.lanes(), ...intake.lanes(), ...conversions.lanes()],
    messageLanes: lanes.list,
    storedLanes: storedLanes?.stored,
    enqueue: (body, request) => enqueueBody(body, { ...request, queue, rulesOf: lanes.rulesOf }),
    databaseOf: (brand) => stores.of(brand).database,
    registryOf: (brand) => stores.of(brand).registry,
    crmOf,
    crms: stores.all.map(({ crm }) => crm),
    reconciliation,
    consumers,
    services: own?.services ?? [],
    removals: own?.removals,
    app: options.own?.app !== undefined,
    revocations,
    keyLists: { 'platform.keys': keys },
    storedKeys,
    configuration: options.configuration,
    tokenSecret: options.own?.app?.secrets[0],
    appBrands: ownBrands,
    people: { storeOf: (brand) => peopleIn(stores.of(brand)), stores: stores.all.map(peopleIn) },
  })
  const signInPeople = createPeople(options.console?.people ?? [])
  const authentication = registerAdmin(adminApp, signInPeople.join(keys), admin, trail)
  await serveConsole(adminApp, {
    side: 'platform',
    keys: options.keys,
    authentication,
    routes: admin,
    people: signInPeople,
    signIn: options.console,
    readSecret: () => readSideSecret(firstDatabase, 'console'),
  })
  deviceIntegrationRoutes(app, {
    registryOf: (brand) => stores.of(brand).registry,
    keys,
    judge: options.judgeDevice,
  })
  conversions.routes(app)
  const appApi = options.own?.app
    ? await serveAppApi(app, {
        ...options.own.app,
        brands: ownBrands,
        databaseOf: (brand) => stores.of(brand).database,
        registryOf: (brand) => stores.of(brand).registry,
        suppression: own?.suppression,
        statusOps: statuses.inboxOps,
        statusRoutes: { app: [appStatusRoute(statuses)], receipts: [receiptRoute(statuses)] },
        services: pushServicesOf(options),
        judge: options.judgeDevice,
        devices: appDevices,
        revocations,
        signal,
      })
    : []
  const receipts = providerReceiptRoutes(app, {
    receipts: options.own?.receiptsFrom,
    brands: ownBrands,
    recorder: statuses,
    setting: 'platform.own.status.receipts_from',
  })
  healthRoutes(adminApp, {
    // With one store away, this process still works for the brands of the others.
    check: () => checkAnyStore(stores),
    signal,
    details: async () => ({ ...(await storeStates(stores)), ...consumerStates(consumers) }),
  })
  documentRoutes(
    adminApp,
    'platform',
    keys,
    platformDocuments({ admin, app: appApi, receipts, publicUrl: options.publicUrl }),
  )
  if (options.own?.app) await revocations.start()
  await Promise.all([app.ready(), adminApp.ready()])
  await own?.start()
  lanes.start()
  storedLanes?.start()
  const reconcilers = stores.all.map((store) =>
    createReconciler(
      store.crm,
      reconciliation.filter(({ brand }) => stores.of(brand) === store),
    ),
  )
  for (const reconciler of reconcilers) reconciler.start()
  links.start()
  intake.start()
  conversions.start()
  const retentions = stores.all.map(({ database, crm, queue: ofStore }) =>
    createStoreRetention(database, ofStore, options, [...forgetStatuses, (_, before) => forgetRuns(crm, before)]),
  )
  for (const retention of retentions) retention.start()
  const erasers = stores.all.map((store) => createEraser(store.database, peopleIn(store).parts))
  for (const eraser of erasers) eraser.start()
  trail.start(options.auditKeptMs)
  metrics().allow('brand', brandsOf(options))
  metrics().allow('kind', knownKinds(pushServicesOf(options)))
  const readFindings = async (): Promise<readonly Findings[]> =>
    (await Promise.all(reconcilers.map((reconciler) => reconciler.findings()))).flat()
  const stopAlerts = alertsOf(options.alerts, {
    lanes: lanes.list,
    store: options.store,
    database: firstDatabase,
    findings: readFindings,
  })
  const unregisterMetrics = [
    ...measureStores(
      'platform',
      stores.all,
      options.store,
      stores.all.map(({ crm }) => crm),
    ),
    measureExpiries([keys]),
    metrics().discrepancies(readFindings),
    ...consumers.map((consumer) =>
      metrics().consumer(consumer.name, {
        up: () => statusOf(consumer).state === 'consuming',
        lag: () => readLag(consumer),
      }),
    ),
  ]

  return {
    app,
    admin: adminApp,
    // With a full disk, a file is opened nevertheless.
    checkStores: async () => firstDatabase.engine === 'postgres' && checkAnyStore(stores),
    async close(withinMs) {
      for (const unregister of unregisterMetrics) unregister()
      await stopAlerts()
      await Promise.all([...retentions, ...reconcilers, ...erasers].map((loop) => loop.stop()))
      await Promise.all([links.stop(withinMs), intake.stop(withinMs), conversions.stop(withinMs), lanes.stop(withinMs)])
      if (own) await atMost(withinMs, own.idle())
      await Promise.all([app.close(), adminApp.close()])
      await trail.stop()
      await revocations.stop()
      await storedKeys.stop()
      await storedLanes?.stop()
      await own?.close()
      await stores.close()
    },
  }
}

/** The brands whose users /app serves, and whose devices providers report. */
const ownBrandsOf = (lanes: readonly LaneOptions[]): readonly string[] =>
  [...new Set(lanes.filter(({ provider }) => provider === 'own').map(({ brand }) => brand))].sort()

const statusLanes = ({ lanes, testing, keptMs = keptByDefaultMs }: PlatformOptions): readonly StatusLane[] =>
  lanes.map(({ brand, channel, provider, status }) => ({
    name: laneName(brand, channel),
    ...status,
    ...(testing?.statusWaitMs !== undefined && { waitMs: testing.statusWaitMs }),
    // Such a status has a message: it waits while its lane is paused or the platform is stopped.
    ...(provider === 'own' && { isOwn: true, waitMs: keptMs }),
  }))

function brandsOf({ lanes, keys, reconciliation = [], deviceLinks = [] }: PlatformOptions): string[] {
  const linked = deviceLinks.flatMap(({ brands }) => (typeof brands === 'string' ? [brands] : Object.values(brands)))
  const named = [...lanes, ...reconciliation].map(({ brand }) => brand)
  return [...named, ...linked, ...keys.flatMap((key) => key.brands ?? [])]
}

const pushServicesOf = ({ own }: PlatformOptions) =>
  own?.push && 'devices' in own.push ? own.push.devices.services : []
