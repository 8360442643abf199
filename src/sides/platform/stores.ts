// The platform's databases. Each store is a whole platform's storage with its own queue, registry and CRM.

import { type ErasedPeople, openErasedPeople, peopleMigrations } from '../../base/people/erasures.ts'
import { createQueue, queueMigrations } from '../../base/queue/create-queue.ts'
import { createReadAheadBudget } from '../../base/queue/lane/read-ahead-budget.ts'
import type { Database, Migration } from '../../base/store/database.ts'
import { sideMigration } from '../../base/store/migrate.ts'
import { secretMigrations } from '../../base/store/side-secret.ts'
import { alertMigrations } from '../../subjects/alerts/reports.ts'
import { auditMigrations } from '../../subjects/audit/table.ts'
import type { AuditStore } from '../../subjects/audit/trail.ts'
import { type ConfiguredStore, configuredStores } from '../../subjects/brands/configured-stores.ts'
import { type BrandStore, type BrandStores, openBrandStores } from '../../subjects/brands/open-stores.ts'
import { conversionMigrations } from '../../subjects/conversions/tables.ts'
import { deliveryMigrations } from '../../subjects/delivery/migrations.ts'
import { createRegistry, deviceMigrations, type Registry } from '../../subjects/devices/registry.ts'
import { removalMigrations } from '../../subjects/devices/removals/tables.ts'
import { inboxMigrations } from '../../subjects/inbox/inbox.ts'
import { callMigrations } from '../../subjects/providers/calls.ts'
import { crmFileOf, crmStoreMigrations, openCrmStore } from '../../subjects/reconcile/crm/store.ts'
import { keyMigrations } from '../admin/stored-keys.ts'
import { storedLaneMigrations } from '../admin/stored-lanes.ts'
import type { PlatformOptions } from './options.ts'

const mainMigrations: readonly Migration[] = [
  sideMigration('platform'),
  ...queueMigrations,
  ...callMigrations,
  ...deviceMigrations,
  ...conversionMigrations,
  ...deliveryMigrations,
  ...removalMigrations,
  ...inboxMigrations,
  ...auditMigrations,
  ...peopleMigrations,
  ...secretMigrations,
  ...keyMigrations,
  ...alertMigrations,
  ...storedLaneMigrations,
]

/** The databases of the platform. With SQLite, the CRM has a second file, which is not one of them. */
export function platformStores(options: Pick<PlatformOptions, 'store' | 'stores'>) {
  const migrations = crmFileOf(options.store) ? mainMigrations : [...mainMigrations, ...crmStoreMigrations]
  return configuredStores(options, migrations)
}

/** The files and databases of the platform, to migrate them. */
export function platformDatabases(
  options: Pick<PlatformOptions, 'store' | 'stores'>,
): readonly Pick<ConfiguredStore, 'url' | 'migrations'>[] {
  const crm = crmFileOf(options.store)
  return [...platformStores(options), ...(crm ? [{ url: crm, migrations: crmStoreMigrations }] : [])]
}

export interface PlatformStore extends BrandStore {
  readonly crm: Database
  readonly registry: Registry
  readonly erased: ErasedPeople
}

export type PlatformStores = BrandStores<PlatformStore>

export function openStores(options: PlatformOptions): Promise<PlatformStores> {
  const { devicesPerUser } = options
  const readAhead = createReadAheadBudget()
  return openBrandStores<PlatformStore>(platformStores(options), async (database, number) => {
    const crm = number === 0 ? await openCrmStore(options.store, database) : undefined
    const erased = await openErasedPeople(database)
    const queue = createQueue(database, { readAhead, erased })
    return {
      number,
      database,
      crm: crm?.database ?? database,
      queue,
      erased,
      movedTo: queue.movedTo,
      registry: createRegistry({
        database,
        erased,
        // On PostgreSQL, other processes change the registry too.
        shared: database.engine === 'postgres',
        ...(devicesPerUser !== undefined && { devicesPerUser }),
      }),
      async close() {
        await erased.stop()
        await crm?.close()
      },
    }
  })
}

/** The databases with an audit trail. The file of the CRM has one of its own, because a commit is of one database. */
export const auditedStores = ({ all }: PlatformStores): readonly AuditStore[] =>
  all.flatMap(({ number, database, crm }) => [
    { name: String(number), database },
    ...(crm === database ? [] : [{ name: 'crm', database: crm }]),
  ])
