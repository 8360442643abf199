// The real platform with lanes for two brands. argv: the store, the operator's base URL, the mode (default: batch), the store of brand
// 2. Without a URL the lanes' calls never end, so that only enqueueing takes CPU.

import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { on } from '../../src/base/runtime/events.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import { benchKey } from '../harness/bench-key.ts'
import { handleCalls } from '../harness/handle-calls.ts'

const [store = '', operatorUrl, mode = 'batch', secondStore] = process.argv.slice(2)

const neverAnswers: Provider = { name: 'never answers', max: 1_000, send: () => new Promise(() => {}) }

let settled = 0
let awaited: { count: number; resolve: () => void } | undefined
on('item.settled', () => {
  if (++settled === awaited?.count) awaited.resolve()
})

const platform = createPlatform({
  store,
  ...(secondStore && { stores: [{ number: 1, url: secondStore, brands: ['2'] }] }),
  keys: [{ name: 'bench', key: benchKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
  lanes: ['1', '2'].map((brand) => ({
    brand,
    channel: 'push' as const,
    mode: mode === 'single' ? ('single' as const) : ('batch' as const),
    max: 1_000,
    spanMs: 50,
    concurrency: 4,
    timeoutMs: 3_600_000,
    provider: operatorUrl ? operatorApi({ url: operatorUrl, apiKey: benchKey }) : neverAnswers,
  })),
})
await platform.start()
const { url } = await listen('platform', chain(platform.handler, platform.admin.handler))
handleCalls({
  port: () => Number(new URL(url).port),
  /** Resolves when this number of items has been settled since the start. */
  settled: (count: number) =>
    new Promise<void>((resolve) => {
      if (settled >= count) resolve()
      else awaited = { count, resolve }
    }),
})
