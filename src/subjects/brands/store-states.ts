// The state of the stores of the platform, for /readyz.

import { canStore } from '../../base/queue/measure-stores.ts'
import type { BrandStores } from './open-stores.ts'

type Stores = Pick<BrandStores, 'all'>

/** Rejects if no store can store anything. With one store away, this process still works for the brands of the others. */
export async function checkAnyStore({ all }: Stores): Promise<void> {
  await Promise.any(all.map(({ database }) => database.checkWrites())).catch(({ errors: [first] }: AggregateError) => {
    throw first
  })
}

/** The states for /readyz, by the number of the store; nothing if there is one store. */
export async function storeStates({ all }: Stores): Promise<{ readonly stores?: object }> {
  if (all.length === 1) return {}
  const states = all.map(async ({ number, database }) => [number, (await canStore(database)) ? 'ok' : 'unavailable'])
  return { stores: Object.fromEntries(await Promise.all(states)) }
}
