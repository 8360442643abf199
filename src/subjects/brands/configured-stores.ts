// The databases of the platform: one, or several with a part of the brands each. A brand lives in exactly one of them, and nothing
// is joined across brands.

import { numberingMigration } from '../../base/queue/store-numbers.ts'
import type { Migration } from '../../base/store/database.ts'

/** A database for some of the brands. */
export interface StoreOptions {
  /** From 1 to 99, and never changed: the numbers of its messages begin with it. */
  readonly number: number
  /** 'postgres://…' */
  readonly url: string
  readonly brands: readonly string[]
}

export interface StoreSettings {
  /** 'sqlite:PATH' or 'postgres://…', for all brands that no other store lists. Its number is 0. */
  readonly store: string
  readonly stores?: readonly StoreOptions[]
}

export interface ConfiguredStore extends StoreOptions {
  readonly migrations: readonly Migration[]
}

/** All databases, `store` first. Of several, each database records its number. */
export function configuredStores(
  { store, stores = [] }: StoreSettings,
  migrations: readonly Migration[],
): readonly [ConfiguredStore, ...ConfiguredStore[]] {
  const configured = (options: StoreOptions): ConfiguredStore => ({
    ...options,
    migrations: stores.length > 0 ? [...migrations, numberingMigration(options.number)] : migrations,
  })
  return [configured({ number: 0, url: store, brands: [] }), ...stores.map(configured)]
}

/** The number of the store in which the brand lives by the settings. */
export const homeOf = (stores: readonly StoreOptions[], brand: string): number =>
  stores.find(({ brands }) => brands.includes(brand))?.number ?? 0
