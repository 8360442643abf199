// All routes under /admin: the scope that each needs, and its act in the audit trail. The handlers are in the files beside.

import type { BrokerConsumer } from '../../base/brokers/consumer.ts'
import type { Scope } from '../../base/http/access.ts'
import type { Configuration } from '../../base/http/service.ts'
import type { LaneService, Queue } from '../../base/queue/queue.ts'
import type { Database } from '../../base/store/database.ts'
import type { AuditStore } from '../../subjects/audit/trail.ts'
import type { MessageCount } from '../../subjects/delivery/message-counts.ts'
import type { Revocations } from '../../subjects/delivery/revoked-tokens.ts'
import type { Reading } from '../../subjects/devices/device-event.ts'
import type { Registry } from '../../subjects/devices/registry.ts'
import type { RemovalKeeper } from '../../subjects/devices/removals/keeper.ts'
import { readExcludedUsers } from '../../subjects/reconcile/crm/users.ts'
import type { ReconciliationOptions } from '../../subjects/reconcile/options.ts'
import { attributeRoutes } from './attributes.ts'
import { auditRoutes } from './audit.ts'
import { backupRoute } from './backup.ts'
import { cancellationRoutes } from './cancellations.ts'
import { configurationRoutes } from './configuration.ts'
import { listConsumers } from './consumers.ts'
import { conversionCountRoutes } from './conversion-counts.ts'
import { conversionListRoutes } from './conversion-list.ts'
import { removalRoutes } from './device-removals.ts'
import { deviceChangeRoutes, deviceRoutes } from './devices.ts'
import { type Enqueue, enqueueRoutes } from './enqueue.ts'
import { failedRoutes } from './failed.ts'
import { type KeyLists, keyRoutes } from './keys.ts'
import { laneChangeRoutes } from './lane-changes.ts'
import { laneRoutes } from './lanes.ts'
import { type OperatorMessages, operatorMessageRoutes } from './operator-messages.ts'
import { operatorSummary } from './operator-summary.ts'
import { type People, peopleRoutes } from './people.ts'
import { type PermissionParts, permissionRoutes } from './permission.ts'
import { platformMessageRoutes } from './platform-messages.ts'
import { reconciliationRoutes } from './reconciliations.ts'
import type { AdminHandler } from './route.ts'
import { type ChannelServices, listServices } from './services.ts'
import type { StoredKeys } from './stored-keys.ts'
import type { StoredLanes } from './stored-lanes.ts'
import { subscriberTokenRoutes } from './subscriber-tokens.ts'

/** The parts that the routes of both sides need. */
interface SharedParts {
  /** The databases with an audit trail. */
  readonly audited: readonly AuditStore[]
  readonly queue: Queue
  /** All lanes that the side serves now. */
  readonly lanes: () => readonly LaneService[]
  /** The push services and providers of this side. */
  readonly services: readonly ChannelServices[]
  /** Absent: no push service of this side removes devices. */
  readonly removals: RemovalKeeper | undefined
  /** Signs subscriber tokens. */
  readonly tokenSecret: string | undefined
  readonly revocations: Revocations
  readonly keyLists: KeyLists
  readonly storedKeys: StoredKeys
  /** Absent: the side was created by a program, with options. */
  readonly configuration: Configuration | undefined
  /** The brands whose users have subscriber tokens. */
  readonly appBrands: readonly string[]
  readonly people: People
}

export interface OperatorParts extends SharedParts, OperatorMessages {
  readonly registry: Registry
  readonly deviceChecks: Pick<Reading, 'judge' | 'reaches'>
  readonly exclusionsOf: PermissionParts['exclusionsOf']
  readonly countMessages: () => Promise<readonly MessageCount[]>
}

export interface PlatformParts extends SharedParts {
  readonly registryOf: (brand: string) => Registry
  readonly enqueue: Enqueue
  /** The lanes of messages, without the lanes of device events and statuses. */
  readonly messageLanes: () => readonly LaneService[]
  /** Absent: the side was created by a program, with options. */
  readonly storedLanes: StoredLanes | undefined
  readonly databaseOf: (brand: string) => Database
  readonly crmOf: (brand: string) => Database
  /** The databases of all CRMs. */
  readonly crms: readonly Database[]
  readonly reconciliation: readonly ReconciliationOptions[]
  readonly consumers: readonly BrokerConsumer[]
  /** The platform has subscribers: it serves /app. */
  readonly app: boolean
}

export function operatorRoutes(parts: OperatorParts) {
  const messages = operatorMessageRoutes(parts)
  const changes = deviceChangeRoutes({ registry: parts.registry, ...parts.deviceChecks })
  return [
    route('GET /admin/summary', 'counts', null, operatorSummary(parts.countMessages)),
    ...keysIn(parts),
    route('GET /admin/backup', 'backup', 'backup', backupRoute('operator', parts.audited)),
    ...tokensIn(parts, 'operator.app.secrets', () => parts.database),
    route('GET /admin/messages', 'read', 'messages.find', messages.find),
    route('GET /admin/messages/:ref', 'read', 'messages.show', messages.show),
    ...peopleIn('operator', parts),
    ...permissionIn({
      databaseOf: (brand) => (parts.brands.includes(brand) ? parts.database : undefined),
      exclusionsOf: parts.exclusionsOf,
    }),
    route('GET /admin/services', 'counts', null, listServices(parts.services)),
    ...removalsIn(parts),
    ...devicesIn(() => parts.registry),
    route('POST /admin/devices/link', 'devices', 'devices.link', changes.link),
    route('POST /admin/devices/unlink', 'devices', 'devices.unlink', changes.unlink),
    route('POST /admin/devices/restore', 'decide', 'devices.restore', changes.restore),
    ...queueIn(parts),
  ]
}

export function platformRoutes(parts: PlatformParts) {
  const { databaseOf, crmOf, crms } = parts
  const records = enqueueRoutes(parts.queue, parts.enqueue)
  const messages = platformMessageRoutes({ databaseOf, queue: parts.queue, lanes: parts.messageLanes })
  const converted = { lanes: () => parts.messageLanes().map(({ name }) => name), databaseOf }
  const counts = conversionCountRoutes(converted)
  const conversions = conversionListRoutes(converted)
  const attributes = attributeRoutes(crmOf)
  const runs = reconciliationRoutes({ databases: crms, databaseOf: crmOf }, parts.reconciliation)
  return [
    route('POST /admin/activities/:channel', 'enqueue', null, records.enqueue),
    route('POST /admin/outcomes', 'counts', null, records.readOutcomes),
    ...storedLanesIn(parts),
    ...queueIn(parts),
    route('GET /admin/summary', 'counts', null, records.summary),
    ...keysIn(parts),
    route('GET /admin/backup', 'backup', 'backup', backupRoute('platform', parts.audited)),
    route('GET /admin/messages', 'read', 'messages.find', messages.find),
    route('GET /admin/messages/:seq', 'read', 'messages.show', messages.show),
    ...peopleIn('platform', parts),
    ...permissionIn({
      databaseOf: (brand) => (parts.appBrands.includes(brand) ? databaseOf(brand) : undefined),
      exclusionsOf: async (brand) => {
        const users = await readExcludedUsers(crmOf(brand), brand)
        return new Map([...users].map(([user, from]) => [user, [{ from, to: null }]]))
      },
    }),
    route('GET /admin/conversions', 'counts', null, counts.count),
    route('GET /admin/conversions.csv', 'counts', 'conversions.export-counts', counts.exportCounts),
    route('GET /admin/conversions/messages', 'read', 'conversions.list', conversions.list),
    route('GET /admin/conversions/messages.csv', 'read', 'conversions.export', conversions.exportList),
    route('GET /admin/consumers', 'counts', null, listConsumers(parts.consumers)),
    route('GET /admin/services', 'counts', null, listServices(parts.services)),
    ...removalsIn(parts),
    ...(parts.app ? tokensIn(parts, 'platform.own.app.secrets', databaseOf) : []),
    ...devicesIn(parts.registryOf),
    route('POST /admin/attributes/:brand', 'attributes', 'attributes.import', attributes.importUsers),
    route('GET /admin/attributes/:brand/:user', 'read', 'attributes.show', attributes.show),
    route('POST /admin/attributes/:brand/:user', 'attributes', 'attributes.change', attributes.change),
    route('POST /admin/reconciliations', 'decide', 'reconciliations.start', runs.start),
    route('GET /admin/reconciliations', 'counts', null, runs.list),
    route('GET /admin/reconciliations/:run', 'counts', null, runs.show),
    route('GET /admin/reconciliations/:run/discrepancies', 'read', 'reconciliations.list-users', runs.listUsers),
    route('GET /admin/reconciliations/:run/export', 'read', 'reconciliations.export', runs.exportDiscrepancies),
    route('POST /admin/reconciliations/:run/acknowledge', 'decide', 'reconciliations.acknowledge', runs.acknowledge),
    route('POST /admin/reconciliations/:run/correct', 'decide', 'reconciliations.correct', runs.correct),
  ]
}

function peopleIn(side: 'operator' | 'platform', { people: given }: SharedParts) {
  const people = peopleRoutes(side, given)
  return [
    route('GET /admin/people/:brand/:user', 'people', 'people.export', people.exportPerson),
    // Counts only.
    route('POST /admin/people/erase/preview', 'people', null, people.previewErasure),
    route('POST /admin/people/erase', 'people', 'people.erase', people.erase),
    route('GET /admin/people/erasures', 'people', 'people.list-erasures', people.listErasures),
    // Counts and a digest: clients ask again until it is done.
    route('GET /admin/people/erasures/:id', 'people', null, people.showErasure),
  ]
}

function keysIn({ keyLists, storedKeys, configuration }: SharedParts) {
  const { list, add, revoke } = keyRoutes(keyLists, storedKeys)
  const keys = [
    route('GET /admin/keys', 'audit', null, list),
    route('POST /admin/keys', 'keys', 'keys.add', add),
    route('POST /admin/keys/revoke', 'keys', 'keys.revoke', revoke),
  ]
  if (!configuration) return keys
  const { show, reload } = configurationRoutes(configuration)
  return [
    ...keys,
    route('GET /admin/settings', 'audit', null, show),
    route('POST /admin/reload', 'reload', 'reload', reload),
  ]
}

function storedLanesIn({ storedLanes, messageLanes }: PlatformParts) {
  if (!storedLanes) return []
  const { add, change, remove } = laneChangeRoutes(storedLanes, messageLanes)
  return [
    route('POST /admin/lanes/add', 'lanes', 'lanes.add', add),
    route('POST /admin/lanes/change', 'lanes', 'lanes.change-stored', change),
    route('POST /admin/lanes/remove', 'lanes', 'lanes.remove', remove),
  ]
}

function removalsIn({ removals }: SharedParts) {
  if (!removals) return []
  const { list, confirm } = removalRoutes(removals)
  return [
    route('GET /admin/devices/removals', 'counts', null, list),
    route('POST /admin/devices/removals/confirm', 'decide', 'removals.confirm', confirm),
  ]
}

function tokensIn(
  { tokenSecret: secret, appBrands: brands, revocations }: SharedParts,
  setting: string,
  databaseOf: (brand: string) => Database,
) {
  const { create, revoke } = subscriberTokenRoutes({ secret, setting, brands, revocations, databaseOf })
  return [
    route('POST /admin/subscriber-tokens', 'tokens', 'tokens.create', create),
    route('POST /admin/subscriber-tokens/revoke', 'tokens', 'tokens.revoke', revoke),
  ]
}

function devicesIn(registryOf: (brand: string) => Registry) {
  const { list, listRemoved } = deviceRoutes(registryOf)
  return [
    route('GET /admin/devices', 'read', 'devices.list', list),
    route('GET /admin/devices/removed', 'read', 'devices.list-removed', listRemoved),
  ]
}

function permissionIn(parts: PermissionParts) {
  const permission = permissionRoutes(parts)
  return [
    route('GET /admin/permission.csv', 'read', 'permission.export', permission.exportList),
    route('POST /admin/permission/check', 'read', 'permission.check', permission.check),
    route('GET /admin/permission/check', 'read', 'permission.check', permission.checkSource),
  ]
}

function queueIn(parts: SharedParts) {
  const failed = failedRoutes(parts.queue)
  const cancellations = cancellationRoutes(parts)
  const lanes = laneRoutes(parts)
  const audit = auditRoutes(parts.audited)
  return [
    route('GET /admin/audit', 'audit', 'audit.list', audit.list),
    route('GET /admin/audit.ndjson', 'audit', 'audit.export', audit.exportChains),
    route('GET /admin/audit/verify', 'audit', 'audit.verify', audit.verify),
    route('GET /admin/failed', 'read', 'failed.list', failed.list),
    route('GET /admin/failed/summary', 'counts', null, failed.summarize),
    route('GET /admin/failed.csv', 'read', 'failed.export', failed.exportList),
    route('GET /admin/failed/:seq', 'read', 'failed.show', failed.show),
    route('POST /admin/failed/dismiss', 'decide', 'failed.dismiss', failed.dismiss),
    route('POST /admin/failed/replay', 'decide', 'failed.replay', failed.replay),
    route('POST /admin/lanes/cancel/preview', 'decide', null, cancellations.preview),
    route('POST /admin/lanes/cancel', 'decide', 'lanes.cancel', cancellations.cancel),
    // What administrators typed, and how far it is: clients ask again until it is done.
    route('GET /admin/lanes/cancellations', 'decide', null, cancellations.list),
    route('GET /admin/lanes', 'counts', null, lanes.list),
    route('POST /admin/lanes/pause', 'decide', 'lanes.pause', lanes.pause),
    route('POST /admin/lanes/resume', 'decide', 'lanes.resume', lanes.resume),
    route('POST /admin/lanes/settings', 'decide', 'lanes.change', lanes.change),
    route('POST /admin/lanes/settings/reset', 'decide', 'lanes.reset', lanes.reset),
  ]
}

/**
 * @param act of the audit trail: each use of the route is an entry. null: nothing of persons is shown and nothing is decided, or the calls
 * are traffic: the records that a CRM enqueues, and the questions for their outcomes. An entry for each of these would be a flood.
 */
const route = <Method extends 'GET' | 'POST', Url extends string, Handler extends AdminHandler>(
  name: `${Method} ${Url}`,
  scope: Scope,
  act: string | null,
  handler: Handler,
) => {
  const [method, url] = name.split(' ') as [Method, Url]
  return { method, url, scope, act, ...handler }
}
