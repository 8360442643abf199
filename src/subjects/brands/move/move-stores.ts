// Opens the stores of a move.

import type pg from 'pg'
import type { BrandTable } from '../../../base/store/brand-table.ts'
import type { Database, PartitionedTable } from '../../../base/store/database.ts'
import { openDatabase } from '../../../base/store/open-database.ts'
import { openClient } from '../../../base/store/postgres-copy.ts'
import { partitionedTables } from '../../../base/store/postgres-migrate.ts'
import { type ConfiguredStore, homeOf } from '../configured-stores.ts'
import { brandTables } from './brand-rows.ts'
import { MoveRefused } from './move-refused.ts'

export interface MoveOptions {
  /** All stores of the platform, `store` first. */
  readonly stores: readonly [ConfiguredStore, ...ConfiguredStore[]]
  /** The longest time from the claim of a message to its settle, in milliseconds. */
  readonly attemptMs: number
}

/** A store during a move: the connection of the command, and the store as a process of the platform sees it. */
export interface MoveStore {
  readonly number: number
  readonly client: pg.Client
  readonly database: Database
  /** Aborts when another command may move brands of this store. */
  readonly lost: AbortSignal
}

export interface MoveStores {
  readonly attemptMs: number
  readonly tables: readonly BrandTable[]
  readonly partitioned: readonly PartitionedTable[]
  /** The number of the store in which the brand lives by the settings. */
  homeOf(brand: string): number
  /** Opens a store once. @throws MoveRefused if another command is moving a brand from or to it */
  open(number: number): Promise<MoveStore>
  close(): Promise<void>
}

export function createMoveStores({ stores, attemptMs }: MoveOptions): MoveStores {
  const [main] = stores
  if (main.url.startsWith('sqlite:'))
    throw new MoveRefused('a brand can be moved between PostgreSQL databases only, and `store` is a SQLite file')
  const opened = new Map<number, MoveStore>()
  return {
    attemptMs,
    tables: brandTables(main.migrations),
    partitioned: partitionedTables(main.migrations),
    homeOf: (brand) => homeOf(stores, brand),
    async open(number) {
      const store = stores.find((each) => each.number === number)
      if (!store) throw new MoveRefused(`there is no store ${number}: add it to platform.stores`)
      const each = opened.get(number) ?? (await openStore(store))
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

async function openStore({ number, url, migrations }: ConfiguredStore): Promise<MoveStore> {
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
