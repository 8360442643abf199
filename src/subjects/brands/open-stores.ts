// Opens the databases of the platform, and finds the one of a brand. It refuses to start with settings that contradict their contents.

import { joinQueues } from '../../base/queue/join-queues.ts'
import { type BrandMove, phraseMoved, readMoves } from '../../base/queue/owners/brand-moves.ts'
import type { Queue, StoredQueue } from '../../base/queue/queue.ts'
import { ConfigError } from '../../base/runtime/problem.ts'
import type { Database } from '../../base/store/database.ts'
import { openDatabase } from '../../base/store/open-database.ts'
import { openWhenReachable } from '../../base/store/open-later.ts'
import { StoreUnavailable } from '../../base/store/store-unavailable.ts'
import type { ConfiguredStore } from './configured-stores.ts'

/** One database, with everything of its brands. */
export interface BrandStore {
  /** 0: the database of all brands that no other store lists. */
  readonly number: number
  readonly database: Database
  readonly queue: StoredQueue
  /** The number of the store to which the brand has moved since the start. */
  movedTo(brand: string): number | undefined
  /** Ends the parts of this store, before its database is closed. */
  close?(): Promise<void>
}

export interface BrandStores<Store extends BrandStore = BrandStore> {
  /** Sorted by number. */
  readonly all: readonly Store[]
  /** The queue of all stores. */
  readonly queue: Queue
  /** The store of a brand. @throws StoreUnavailable if the brand has moved to another store since the start */
  of(brand: string | undefined): Store
  /** The store of a brand by the settings, even if the brand has moved. */
  homeOf(brand: string): Store
  close(): Promise<void>
}

/**
 * Opens all databases, or none. If there are several, an unreachable database is opened later.
 *
 * @param create creates the parts of a store on its open database
 * @throws ConfigError if a brand lives in another store than the settings have it
 */
export async function openBrandStores<Store extends BrandStore>(
  configured: readonly ConfiguredStore[],
  create: (database: Database, number: number) => Store | Promise<Store>,
): Promise<BrandStores<Store>> {
  const databases = await openDatabases(configured)
  const opened: Store[] = []
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((store) => store.close?.()))
    await Promise.all(databases.map((database) => database.close()))
  }
  try {
    for (const [i, { number }] of configured.entries()) opened.push(await create(databases[i] as Database, number))
    const stores = divide(configured, opened, close)
    const moves = await refuseMovedBrands(stores)
    if (configured.length > 1) await refuseStrayContents(stores, moves)
    return stores
  } catch (error) {
    await close()
    throw error
  }
}

function divide<Store extends BrandStore>(
  configured: readonly ConfiguredStore[],
  opened: readonly Store[],
  close: () => Promise<void>,
): BrandStores<Store> {
  const [main] = opened as readonly [Store, ...Store[]]
  const byBrand = new Map(configured.flatMap(({ brands }, i) => brands.map((brand) => [brand, opened[i] as Store])))
  const homeOf = (brand: string): Store => byBrand.get(brand) ?? main
  function storeOf(brand = ''): Store {
    const store = homeOf(brand)
    // This process still has the old settings. The rows are gone, so an answer from this store would be wrong.
    const to = store.movedTo(brand)
    if (to !== undefined) throw new StoreUnavailable(phraseMoved(brand, to))
    return store
  }
  const all = opened.toSorted((a, b) => a.number - b.number)
  return {
    all,
    // No brand can leave a SQLite file.
    queue: main.database.engine === 'sqlite' ? main.queue : joinQueues(all, storeOf),
    of: storeOf,
    homeOf,
    close,
  }
}

async function openDatabases(configured: readonly ConfiguredStore[]): Promise<readonly Database[]> {
  const opening = await Promise.allSettled(
    configured.map(({ number, url, migrations }) => {
      if (configured.length === 1 || url.startsWith('sqlite:')) return openDatabase(url, { migrations, whole: true })
      return openWhenReachable(url, { migrations, whole: true }, `store ${number}`)
    }),
  )
  const failed = opening.findIndex(({ status }) => status === 'rejected')
  const databases = opening.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  if (failed < 0) return databases
  await Promise.all(databases.map((database) => database.close()))
  const { reason } = opening[failed] as PromiseRejectedResult
  throw failed === 0 ? reason : inStore(configured[failed] as ConfiguredStore, reason)
}

const inStore = ({ number }: ConfiguredStore, error: Error): Error =>
  new Error(`store ${number}: ${error.message}`, { cause: error.cause ?? error })

/** The moves of brands that each store has recorded, by its number. */
type MovesByStore = ReadonlyMap<number, readonly BrandMove[]>

/** Refuses to start with settings that contradict a move. A store that cannot be reached now is not examined. */
async function refuseMovedBrands({ all, homeOf }: BrandStores): Promise<MovesByStore> {
  const found = new Map<number, readonly BrandMove[]>()
  for (const { number, database } of all) {
    const moves = await readMoves(database).catch(emptyIfAway)
    found.set(number, moves)
    for (const { brand, state, other } of moves) {
      const home = homeOf(brand).number
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
 * Refuses to start while a store has messages of a brand that lives in another store: nobody would send or find them. Messages
 * that were moved and are not deleted yet do not count. A store that cannot be reached now is not examined.
 */
async function refuseStrayContents({ all, homeOf }: BrandStores, moves: MovesByStore): Promise<void> {
  for (const { number, queue } of all) {
    const moved = new Set(moves.get(number)?.flatMap(({ brand, state }) => (state === 'moved' ? [brand] : [])))
    const queued = await findQueued(queue).catch(emptyIfAway)
    const stray = queued.find(({ brand }) => homeOf(brand).number !== number && !moved.has(brand))
    if (!stray) continue
    const { brand, lane } = stray
    const home = homeOf(brand).number
    throw refusal(
      `store ${number} has messages of lane ${lane} that wait or are pending in Failed Actions, but brand ${brand} is in store ${home}`,
      `leave brand ${brand} in store ${number}, and move it with: bellwire platform move-brand ${brand} --to ${home}`,
    )
  }
}

function emptyIfAway(error: unknown): readonly never[] {
  if (error instanceof StoreUnavailable) return []
  throw error
}

const refusal = (description: string, remedy: string): ConfigError =>
  new ConfigError([{ path: 'stores', where: 'createPlatform', description, remedy }])

/** The lanes with messages that wait or are pending in Failed Actions. */
async function findQueued(queue: StoredQueue): Promise<readonly { readonly brand: string; readonly lane: string }[]> {
  const [counts, failed] = await Promise.all([queue.countItems(), queue.summarizeFailed({ state: 'pending' })])
  return [
    ...counts.filter(({ category, items }) => (category === 'waiting' || category === 'paused') && items > 0),
    ...failed.filter(({ pending }) => pending > 0),
  ].map(({ lane }) => ({ brand: lane.split('/', 1)[0] as string, lane }))
}
