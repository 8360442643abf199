// A platform with brand 1 in `store` and brand 2 in a further database.

import type { TestContext } from 'node:test'
import type { LaneOptions, PlatformOptions } from '../../../src/sides/platform/options.ts'
import { type Answer, adminKey, laneTo, post, startPlatform, type Witness, witness } from '../../support/sides.ts'
import type { TwoStores } from '../../support/two-stores.ts'

export const lane = (brand: string, provider: LaneOptions['provider']): LaneOptions => laneTo(provider, { brand })

export interface Started {
  readonly url: string
  readonly provider: Witness
  readonly stop: () => Promise<void>
  enqueue(records: readonly object[]): Promise<Answer>
}

/** Starts a platform whose brand 2 lives in store 1. */
export async function start(
  t: TestContext,
  { urls: [store, url], stops }: Pick<TwoStores, 'urls' | 'stops'>,
  { provider = witness(), ...options }: Partial<PlatformOptions> & { readonly provider?: Witness } = {},
): Promise<Started> {
  const platform = await startPlatform(t, {
    storedLanes: { read: async () => [], apply: async () => {} },
    store,
    stores: [{ number: 1, url, brands: ['2'] }],
    ...options,
    lanes: [lane('1', provider), lane('2', provider)],
  })
  stops.push(platform.stop)
  const enqueue = (records: readonly object[]) => post(`${platform.url}/admin/activities/push`, records, adminKey.key)
  return { ...platform, provider, enqueue }
}
