// Opens the stores of a move.

import type pg from 'pg'
import type { BrandTable } from '../../store/brand-table.ts'
import type { Database, PartitionedTable } from '../../store/database.ts'
import { openDatabase } from '../../store/open-database.ts'
import { openClient } from '../../store/postgres-copy.ts'
import { partitionedTables } from '../../store/postgres-migrate.ts'
import type { PlatformOptions } from '../options.ts'
import { platformStores, type StoreUrl } from '../stores.ts'
import { brandTables } from './brand-rows.ts'
import { MoveRefused } from './move-refused.ts'

export type MoveOptions = Pick<PlatformOptions, 'store' | 'stores'>

/** A store during a move: the connection of the command, and the store as a platform process sees it. */
export interface MoveStore {
  readonly number: number
  readonly client: pg.Client
  readonly database: Database
  /** Aborts when another command may move brands of this store. */
  readonly lost: AbortSignal
}

export interface MoveStores {
  readonly tables: readonly BrandTable[]
  readonly partitioned: readonly PartitionedTable[]
  /** The number of the store in which the brand lives by the settings. */
  homeOf(brand: string): number
  /** Opens a store once. @throws MoveRefused if another command is moving a brand from or to it */
  open(number: number): Promise<MoveStore>
  close(): Promise<void>
}

export function createMoveStores(options: MoveOptions): MoveStores {
  const { store, stores: further = [] } = options
  if (store.startsWith('sqlite:'))
    throw new MoveRefused('a brand can be moved between PostgreSQL databases only, and `store` is a SQLite file')
  const numbers = [0, ...further.map(({ number }) => number)]
  const urls = platformStores(options)
  const { migrations } = urls[0] as StoreUrl
  const opened = new Map<number, MoveStore>()
  return {
    tables: brandTables(migrations),
    partitioned: partitionedTables(migrations),
    homeOf: (brand) => further.find(({ brands }) => brands.includes(brand))?.number ?? 0,
    async open(number) {
      const url = urls[numbers.indexOf(number)]
      if (!url) throw new MoveRefused(`there is no store ${number}: add it to platform.stores`)
      const each = opened.get(number) ?? (await openStore(number, url))
      opened.set(number, each)
      return each
    },
    async close() {
      for (const { client, database } of opened.values()) {
        await client.end().catch(() => {})
        await database.close()
      }
      opened.clear()
    },
  }
}

async function openStore(number: number, { url, migrations }: StoreUrl): Promise<MoveStore> {
  const database = await openDatabase(url, { migrations })
  try {
    const owned = await database.own('moving a brand')
    if (!owned) throw new MoveRefused(`another command is moving a brand from or to store ${number}: wait for its end`)
    return { number, database, client: await openClient(url, 'bellwire move-brand'), lost: owned.lost }
  } catch (error) {
    await database.close()
    throw error
  }
}
