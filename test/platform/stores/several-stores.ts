// A platform with brand 1 in `store` and brand 2 in a further database, each behind a proxy that can be cut.

import type { TestContext } from 'node:test'
import type { LaneOptions, PlatformOptions } from '../../../src/platform/options.ts'
import { freshSchema } from '../../support/services/postgres.ts'
import { type Answer, adminKey, post, startPlatform, type Witness, witness } from '../../support/sides.ts'
import { type TcpProxy, tcpProxy } from '../../support/tcp-proxy.ts'

export interface TwoStores {
  /** Direct addresses, for SQL. */
  readonly schemas: readonly [string, string]
  /** Addresses through the proxies. */
  readonly urls: readonly [string, string]
  readonly proxies: readonly [TcpProxy, TcpProxy]
  /** Called when the test ends, before the schemas are dropped. */
  readonly stops: (() => Promise<void>)[]
}

export async function twoStores(t: TestContext): Promise<TwoStores> {
  const stops: (() => Promise<void>)[] = []
  t.after(() => Promise.all(stops.map((stop) => stop())))
  const [main, east] = [await behindProxy(t), await behindProxy(t)]
  return {
    schemas: [main.schema, east.schema],
    urls: [main.url, east.url],
    proxies: [main.proxy, east.proxy],
    stops,
  }
}

async function behindProxy(t: TestContext) {
  const schema = await freshSchema()
  const url = new URL(schema)
  const proxy = await tcpProxy(t, Number(url.port || 5432))
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  return { schema, url: url.href, proxy }
}

export const lane = (brand: string, provider: LaneOptions['provider']): LaneOptions => ({
  brand,
  channel: 'push',
  mode: 'batch',
  provider,
  spanMs: 5,
  retry: { firstMs: 20, mostMs: 100 },
})

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
    store,
    stores: [{ number: 1, url, brands: ['2'] }],
    ...options,
    lanes: [lane('1', provider), lane('2', provider)],
  })
  stops.push(platform.stop)
  const enqueue = (records: readonly object[]) => post(`${platform.url}/admin/activities/push`, records, adminKey.key)
  return { ...platform, provider, enqueue }
}
