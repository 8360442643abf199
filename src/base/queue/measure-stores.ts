// The stores of a side, for the metrics.

import { clock } from '../runtime/clock.ts'
import { metrics } from '../runtime/metrics.ts'
import type { Database } from '../store/database.ts'
import { readDiskFree } from '../store/disk-free.ts'
import { readSizes } from '../store/sizes.ts'
import { readOldest } from './lane/state.ts'
import { countItems } from './read-outcomes.ts'

export interface MeasuredStore {
  /** 0: the first one. */
  readonly number: number
  readonly database: Database
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
  const { depths, oldest, sizes, storeUp, diskFree } = metrics()
  const databases = new Set([...stores.map(({ database }) => database), ...further])
  return [
    ...stores.flatMap(({ number, database }) => [
      depths(async () =>
        (await countItems(database)).map(({ lane, category, items }) => ({ lane, state: category, count: items })),
      ),
      oldest(async () => {
        const now = clock.now()
        return (await readOldest(database)).map(({ lane, at }) => ({ lane, ageMs: Math.max(0, now - at) }))
      }),
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
