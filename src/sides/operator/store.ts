// The operator's database, with the outboxes of links and statuses.

import { type ErasedPeople, openErasedPeople, peopleMigrations } from '../../base/people/erasures.ts'
import { createQueue, queueMigrations } from '../../base/queue/create-queue.ts'
import type { StoredQueue } from '../../base/queue/queue.ts'
import type { Database, Migration } from '../../base/store/database.ts'
import { sideMigration } from '../../base/store/migrate.ts'
import { openDatabase } from '../../base/store/open-database.ts'
import { secretMigrations } from '../../base/store/side-secret.ts'
import { alertMigrations } from '../../subjects/alerts/reports.ts'
import { auditMigrations } from '../../subjects/audit/table.ts'
import { deliveryMigrations } from '../../subjects/delivery/migrations.ts'
import { createDeviceOutbox } from '../../subjects/devices/outbox.ts'
import { createRegistry, deviceMigrations, type Registry } from '../../subjects/devices/registry.ts'
import { removalMigrations } from '../../subjects/devices/removals/tables.ts'
import { inboxMigrations } from '../../subjects/inbox/inbox.ts'
import { callMigrations } from '../../subjects/providers/calls.ts'
import { statusMigrations } from '../../subjects/status/tables.ts'
import { keyMigrations } from '../admin/stored-keys.ts'
import { deviceLimits, type OperatorOptions } from './options.ts'
import { createStatuses, type Statuses } from './statuses.ts'

export const operatorMigrations: readonly Migration[] = [
  sideMigration('operator'),
  ...deliveryMigrations,
  ...callMigrations,
  ...inboxMigrations,
  ...statusMigrations,
  ...removalMigrations,
  ...deviceMigrations,
  ...queueMigrations,
  ...auditMigrations,
  ...peopleMigrations,
  ...secretMigrations,
  ...keyMigrations,
  ...alertMigrations,
]

export interface OperatorStore {
  readonly database: Database
  readonly queue: StoredQueue
  readonly registry: Registry
  readonly erased: ErasedPeople
  /** Publishes links and unlinks. */
  readonly outbox: ReturnType<typeof createDeviceOutbox>
  /** Absent: delivery statuses are not recorded. */
  readonly statuses: Statuses | undefined
}

export async function openStore(options: OperatorOptions): Promise<OperatorStore> {
  const { publish = [], status, site } = options
  const database = await openDatabase(options.store, { migrations: operatorMigrations, whole: true })
  const erased = await openErasedPeople(database)
  const queue = createQueue(database, { erased })
  const outbox = createDeviceOutbox(queue, publish)
  return {
    database,
    queue,
    outbox,
    erased,
    registry: createRegistry({
      database,
      erased,
      // On PostgreSQL, other processes may change the registry too.
      shared: database.engine === 'postgres',
      outbox: outbox.lanes.length > 0 ? outbox : undefined,
      devicesPerUser: options.deviceLimits?.services ?? deviceLimits.services,
    }),
    statuses:
      status &&
      createStatuses({ database, queue, options: status, meta: options.content?.meta, inbox: site === 'inbox' }),
  }
}
