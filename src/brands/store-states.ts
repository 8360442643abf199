// The state of the stores of the platform, for /readyz.

import { within } from '../runtime/within.ts'
import { ping } from '../store/ping.ts'
import type { BrandStores } from './open-stores.ts'

const pingTimeoutMs = 1_000

/** Rejects if no store answers. With one store away, this process still works for the brands of the others. */
export async function pingAny({ all }: Pick<BrandStores, 'all'>): Promise<void> {
  await Promise.any(all.map(({ database }) => ping(database))).catch(({ errors: [first] }: AggregateError) => {
    throw first
  })
}

/** The states for /readyz, by the number of the store; nothing if there is one store. */
export async function storeStates({ all }: Pick<BrandStores, 'all'>): Promise<{ readonly stores?: object }> {
  if (all.length === 1) return {}
  const states = all.map(async ({ number, database }) => {
    const state = await within(pingTimeoutMs, ping(database)).then(
      () => 'ok',
      () => 'unavailable',
    )
    return [number, state]
  })
  return { stores: Object.fromEntries(await Promise.all(states)) }
}
