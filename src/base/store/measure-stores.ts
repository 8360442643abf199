// The stores of a side, for the metrics.

import { metrics } from '../runtime/metrics.ts'
import type { Database } from './database.ts'
import { readDiskFree } from './disk-free.ts'
import { readSizes } from './sizes.ts'

export interface MeasuredStore {
  /** 0: the first one. */
  readonly number: number
  readonly database: Database
  readonly queue: {
    countItems(): Promise<readonly { readonly lane: string; readonly category: string; readonly items: number }[]>
  }
}

/**
 * Adds the stores to the metrics of this process.
 *
 * @param url the address of the first store
 * @param further databases without lanes
 * @returns functions that remove them
 */
export function measureStores(
  side: 'operator' | 'platform',
  stores: readonly MeasuredStore[],
  url: string,
  further: readonly Database[] = [],
): (() => void)[] {
  const { depths, sizes, storeUp, diskFree } = metrics()
  const databases = new Set([...stores.map(({ database }) => database), ...further])
  return [
    ...stores.flatMap(({ number, database, queue }) => [
      depths(async () =>
        (await queue.countItems()).map(({ lane, category, items }) => ({ lane, state: category, count: items })),
      ),
      sizes(number === 0 ? side : `${side} store ${number}`, () => readSizes(database)),
    ]),
    ...[...databases].map((database) => storeUp(() => canStore(database))),
    diskFree(side, () => readDiskFree(url)),
  ]
}

/** Whether the database can store something now. */
export const canStore = (database: Database): Promise<boolean> =>
  database.checkWrites().then(
    () => true,
    () => false,
  )
