// The platform's databases: one, or several with a part of the brands each. A brand lives in exactly one of them, and nothing is
// joined across brands, so each store is a whole platform's storage with its own queue, registry and CRM.

import { conversionMigrations } from '../conversions/tables.ts'
import { deliveryMigrations } from '../delivery/migrations.ts'
import { createRegistry, deviceMigrations, type Registry } from '../devices/registry.ts'
import { removalMigrations } from '../devices/removals/tables.ts'
import { inboxMigrations } from '../inbox/inbox.ts'
import { callMigrations } from '../providers/calls.ts'
import { type BrandMove, phraseMoved, readMoves } from '../queue/brand-moves.ts'
import { createQueue, queueMigrations } from '../queue/create-queue.ts'
import { joinQueues } from '../queue/join-queues.ts'
import type { Queue, StoredQueue } from '../queue/queue.ts'
import { createReadAheadBudget } from '../queue/read-ahead-budget.ts'
import { numberingMigration } from '../queue/store-numbers.ts'
import { type CrmStore, crmFileOf, crmStoreMigrations, openCrmStore } from '../reconcile/crm/store.ts'
import { ConfigError } from '../runtime/problem.ts'
import type { Database, Migration } from '../store/database.ts'
import { openDatabase } from '../store/open-database.ts'
import { openWhenReachable } from '../store/open-later.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import type { PlatformOptions, StoreOptions } from './options.ts'

const mainMigrations: readonly Migration[] = [
  ...queueMigrations,
  ...callMigrations,
  ...deviceMigrations,
  ...conversionMigrations,
  ...deliveryMigrations,
  ...removalMigrations,
  ...inboxMigrations,
]

export interface StoreUrl {
  readonly url: string
  readonly migrations: readonly Migration[]
}

/** The databases of the platform, with their migrations. With SQLite, the CRM has a second file. */
export function platformStores({ store, stores = [] }: Pick<PlatformOptions, 'store' | 'stores'>): readonly StoreUrl[] {
  const numbering = (number: number): readonly Migration[] => (stores.length > 0 ? [numberingMigration(number)] : [])
  const crm = crmFileOf(store)
  const main = { url: store, migrations: [...mainMigrations, ...(crm ? [] : crmStoreMigrations), ...numbering(0)] }
  return [
    main,
    ...stores.map(({ number, url }) => ({
      url,
      migrations: [...mainMigrations, ...crmStoreMigrations, ...numbering(number)],
    })),
    ...(crm ? [{ url: crm, migrations: crmStoreMigrations }] : []),
  ]
}

/** One database, with everything of its brands. */
export interface BrandStore {
  /** 0: the database of all brands that no other store lists. */
  readonly number: number
  readonly database: Database
  readonly crm: Database
  readonly queue: StoredQueue
  readonly registry: Registry
}

export interface BrandStores {
  /** Sorted by number. */
  readonly all: readonly BrandStore[]
  /** The queue of all stores. */
  readonly queue: Queue
  /** The store of a brand. @throws StoreUnavailable if the brand has moved to another store since the start */
  of(brand: string | undefined): BrandStore
  close(): Promise<void>
}

export async function openStores(options: PlatformOptions): Promise<BrandStores> {
  const { stores: further = [], devicesPerUser } = options
  const configured: readonly StoreOptions[] = [{ number: 0, url: options.store, brands: [] }, ...further]
  const { databases, crm } = await openAll(options, configured)
  const readAhead = createReadAheadBudget(options.readAheadBytes)
  const all = configured.map(({ number }, i): BrandStore => {
    const database = databases[i] as Database
    return {
      number,
      database,
      crm: i === 0 ? crm.database : database,
      queue: createQueue(database, { readAhead }),
      registry: createRegistry({
        database,
        // On PostgreSQL, other processes change the registry too.
        shared: database.engine === 'postgres',
        ...(devicesPerUser !== undefined && { devicesPerUser }),
      }),
    }
  })
  const [main] = all as [BrandStore]
  const byBrand = new Map(configured.flatMap(({ brands }, i) => brands.map((brand) => [brand, all[i] as BrandStore])))
  function storeOf(brand = ''): BrandStore {
    const store = byBrand.get(brand) ?? main
    // This process still has the old settings. The rows are gone, so an answer from this store would be wrong.
    const to = store.queue.movedTo(brand)
    if (to !== undefined) throw new StoreUnavailable(phraseMoved(brand, to))
    return store
  }
  const sorted = all.toSorted((a, b) => a.number - b.number)
  const stores: BrandStores = {
    all: sorted,
    // No brand can leave a SQLite file.
    queue: main.database.engine === 'sqlite' ? main.queue : joinQueues(sorted, storeOf),
    of: storeOf,
    async close() {
      await crm.close()
      await Promise.all(databases.map((database) => database.close()))
    },
  }
  try {
    const moves = await refuseMovedBrands(stores)
    if (further.length > 0) await refuseStrayMessages(stores, moves)
  } catch (error) {
    await stores.close()
    throw error
  }
  return stores
}

/** Opens all databases, or none. Of several, those that cannot be reached now are opened later. */
async function openAll(
  options: PlatformOptions,
  configured: readonly StoreOptions[],
): Promise<{ readonly databases: readonly Database[]; readonly crm: CrmStore }> {
  const urls = platformStores(options)
  const opening = await Promise.allSettled(
    configured.map(({ number }, i) => {
      const { url, migrations } = urls[i] as StoreUrl
      if (configured.length === 1 || url.startsWith('sqlite:')) return openDatabase(url, { migrations })
      return openWhenReachable(url, { migrations }, `store ${number}`)
    }),
  )
  const databases = opening.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  try {
    for (const [i, each] of opening.entries())
      if (each.status === 'rejected') throw i === 0 ? each.reason : inStore(configured[i] as StoreOptions, each.reason)
    return { databases, crm: await openCrmStore(options.store, databases[0] as Database) }
  } catch (error) {
    await Promise.all(databases.map((database) => database.close()))
    throw error
  }
}

const inStore = ({ number }: StoreOptions, error: Error): Error =>
  new Error(`store ${number}: ${error.message}`, { cause: error.cause ?? error })

/** The moves of brands that each store has recorded, by its number. */
type MovesByStore = ReadonlyMap<number, readonly BrandMove[]>

/** Refuses to start with settings that contradict a move. A store that cannot be reached now is not examined. */
async function refuseMovedBrands({ all, of }: BrandStores): Promise<MovesByStore> {
  const found = new Map<number, readonly BrandMove[]>()
  for (const { number, database } of all) {
    const moves = await readMoves(database).catch(emptyIfAway)
    found.set(number, moves)
    for (const { brand, state, other } of moves) {
      const home = of(brand).number
      if (state === 'moved' && home === number)
        throw refusal(
          `brand ${brand} has moved from store ${number} to store ${other}`,
          other === 0
            ? `remove ${brand} from the brands of store ${number}`
            : `list ${brand} in the brands of store ${other}`,
        )
      if ((state === 'moving' || state === 'committing') && home !== number)
        throw refusal(
          `brand ${brand} is being moved from store ${number} to store ${other}`,
          `wait for the end of bellwire platform move-brand, or repeat it if it was interrupted`,
        )
    }
  }
  return found
}

/**
 * Refuses to start while a store has messages of a brand that lives in another store: nobody would send or find them. Messages that
 * were moved and are not deleted yet do not count. A store that cannot be reached now is not examined.
 */
async function refuseStrayMessages({ all, of }: BrandStores, moves: MovesByStore): Promise<void> {
  for (const { number, queue } of all) {
    const [counts, failed] = await Promise.all([
      queue.countItems().catch(emptyIfAway),
      queue.summarizeFailed({ state: 'pending' }).catch(emptyIfAway),
    ])
    const lanes = [
      ...counts.filter(({ category, items }) => (category === 'waiting' || category === 'paused') && items > 0),
      ...failed.filter(({ pending }) => pending > 0),
    ].map(({ lane }) => lane)
    const moved = new Set(moves.get(number)?.flatMap(({ brand, state }) => (state === 'moved' ? [brand] : [])))
    const stray = lanes.find((lane) => of(brandOf(lane)).number !== number && !moved.has(brandOf(lane)))
    if (stray === undefined) continue
    const brand = brandOf(stray)
    throw refusal(
      `store ${number} has messages of lane ${stray} that wait or are pending in Failed Actions, but brand ${brand} is in store ${of(brand).number}`,
      `leave brand ${brand} in store ${number}, and move it with: bellwire platform move-brand ${brand} --to ${of(brand).number}`,
    )
  }
}

const brandOf = (lane: string): string => lane.split('/', 1)[0] as string

function emptyIfAway(error: unknown): readonly never[] {
  if (error instanceof StoreUnavailable) return []
  throw error
}

const refusal = (description: string, remedy: string): ConfigError =>
  new ConfigError([{ path: 'stores', where: 'createPlatform', description, remedy }])
