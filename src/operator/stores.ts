// The operator's databases. Each store is a whole operator's storage, with the outboxes of its brands.

import { configuredStores, homeOf, type StoreSettings } from '../brands/configured-stores.ts'
import { type BrandStore, type BrandStores, findQueued, findRows, openBrandStores } from '../brands/open-stores.ts'
import { watchMoves } from '../brands/watch-moves.ts'
import { deliveryMigrations } from '../delivery/migrations.ts'
import { createOutbox, type Outbox } from '../devices/outbox.ts'
import { createRegistry, deviceMigrations, type Registry } from '../devices/registry.ts'
import { removalMigrations } from '../devices/removals/tables.ts'
import { inboxMigrations } from '../inbox/inbox.ts'
import { callMigrations } from '../providers/calls.ts'
import { createQueue, queueMigrations } from '../queue/create-queue.ts'
import { statusMigrations } from '../status/tables.ts'
import type { Migration } from '../store/database.ts'
import { deviceLimits, type OperatorOptions } from './options.ts'
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

export const operatorStores = (options: StoreSettings) => configuredStores(options, operatorMigrations)

export interface OperatorStore extends BrandStore {
  readonly registry: Registry
  /** Publishes the links of the brands of this store. */
  readonly outbox: Outbox
  /** The delivery statuses of the brands of this store. Absent: they are not recorded. */
  readonly statuses: Statuses | undefined
}

export type OperatorStores = BrandStores<OperatorStore>

export function openStores(options: OperatorOptions): Promise<OperatorStores> {
  const { stores = [], publish = [], status, site } = options
  const brands = brandsOf(options)
  // The owner of a brand's lanes notices and logs a move.
  const withLanes = new Set([...publish, ...(status?.webhooks ?? [])].map(({ brand }) => brand))
  const withoutLanes = brands.filter((brand) => !withLanes.has(brand))
  return openBrandStores<OperatorStore>(operatorStores(options), {
    side: 'operator',
    create(database, number) {
      const livesHere = (brand: string): boolean => homeOf(stores, brand) === number
      const queue = createQueue(database)
      const outbox = createOutbox(
        queue,
        publish.filter(({ brand }) => livesHere(brand)),
      )
      const webhooks = status?.webhooks?.filter(({ brand }) => livesHere(brand)) ?? []
      const moves = watchMoves(database, withoutLanes.filter(livesHere))
      return {
        number,
        database,
        queue,
        outbox,
        movedTo: moves.movedTo,
        registry: createRegistry({
          database,
          // On PostgreSQL, other processes may change the registry too.
          shared: database.engine === 'postgres',
          outbox: outbox.lanes.length > 0 ? outbox : undefined,
          devicesPerUser: options.deviceLimits?.services ?? deviceLimits.services,
        }),
        statuses:
          status && createStatuses({ database, queue, options: { ...status, webhooks }, inbox: site === 'inbox' }),
        close: moves.stop,
      }
    },
    findContents: (store) => findContents(store, brands),
  })
}

/** The brands of the operator's keys and stores. */
export const brandsOf = ({ keys, stores = [] }: Pick<OperatorOptions, 'keys' | 'stores'>): readonly string[] => [
  ...new Set([...keys, ...stores].flatMap((each) => each.brands)),
]

/** A message that is out of reach would be delivered again, and a device would not be reached. */
async function findContents({ database, queue }: OperatorStore, brands: readonly string[]) {
  const found = [findQueued(queue), findRows(database, 'messages', brands), findRows(database, 'devices', brands)]
  return (await Promise.all(found)).flat()
}
