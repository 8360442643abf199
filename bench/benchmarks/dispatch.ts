import type { Benchmark, Contender, RunOptions } from '../harness/benchmark.ts'
import { type Child, startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import { ndjsonSender } from '../harness/ndjson-sender.ts'
import { profiled } from '../harness/profile.ts'
import { ownPostgresServer, type Store, sqliteStore } from '../harness/stores.ts'

interface Mode {
  readonly mode: 'single' | 'batch'
  readonly goal: number
  /** The approximate rate. A round has a fixed number of messages and ends when all are settled. */
  readonly perSecond: number
}

/** The platform's way of a message: enqueued, read, sent, settled. The operator does nothing but answer. */
function dispatch({ mode, goal, perSecond }: Mode): Benchmark {
  return {
    name: `dispatch-${mode}`,
    goal,
    baseline: `a bare loop of undici's Pool with prepared requests, ${mode} mode, the same connections`,
    about: `the platform on SQLite, ${mode} mode: from the first record enqueued to the last answer settled`,
    start: async (options) => ({
      subject: await startPlatform({ mode, perSecond, stores: [sqliteStore], profileTo: options.profileTo }),
      baseline: await startLoop(mode, perSecond),
    }),
  }
}

/** Two brands in two PostgreSQL servers, against both brands in one. On one machine the servers share its cores and its disk. */
const twoStores: Benchmark = {
  name: 'dispatch-stores',
  goal: 0.9,
  baseline: 'the same platform with both brands in one PostgreSQL server',
  about:
    'the platform on two PostgreSQL servers, batch mode: from the first record enqueued to the last answer settled',
  start: async ({ profileTo }) => ({
    subject: await startPlatform({
      mode: 'batch',
      perSecond: 15_000,
      stores: [ownPostgresServer, ownPostgresServer],
      profileTo,
    }),
    baseline: await startPlatform({ mode: 'batch', perSecond: 15_000, stores: [ownPostgresServer] }),
  }),
}

export const dispatchBenchmarks: readonly Benchmark[] = [
  dispatch({ mode: 'batch', goal: 0.8, perSecond: 40_000 }),
  dispatch({ mode: 'single', goal: 0.5, perSecond: 5_000 }),
  twoStores,
]

async function startOperator(): Promise<{ readonly child: Child; readonly url: string }> {
  const child = await startChild('bare.ts', { part: 'driver' })
  return { child, url: `http://127.0.0.1:${await child.call<number>('port')}` }
}

interface PlatformOf {
  readonly mode: Mode['mode']
  readonly perSecond: number
  /** One store for both brands, or one for each. */
  readonly stores: readonly (() => Promise<Store>)[]
  readonly profileTo?: RunOptions['profileTo']
}

async function startPlatform({ mode, perSecond, stores: newStores, profileTo }: PlatformOf): Promise<Contender> {
  const operator = await startOperator()
  const stores = await Promise.all(newStores.map((create) => create()))
  const [store, second] = stores as [Store, Store?]
  const platform = await startChild('platform.ts', {
    part: 'server',
    args: [store.url, operator.url, mode, ...(second ? [second.url] : [])],
    nodeArgs: profiled(profileTo, 'subject'),
  })
  const sender = ndjsonSender(await platform.call<number>('port'))
  let sent = 0
  return childContender({
    name: `platform, ${stores.length === 1 ? 'one store' : `${stores.length} stores`}`,
    child: platform,
    async run(seconds) {
      const requests = sender.prepare(seconds * perSecond)
      const messages = requests.length * 1_000
      const began = performance.now()
      await sender.send(requests)
      sent += messages
      await platform.call('settled', sent)
      const took = (performance.now() - began) / 1000
      return { messages, seconds: took, peakMb: await platform.call<number>('peakMb') }
    },
    async release() {
      await Promise.all([sender.close(), operator.child.stop()])
      await Promise.all(stores.map((each) => each.remove()))
    },
  })
}

async function startLoop(mode: Mode['mode'], perSecond: number): Promise<Contender> {
  const operator = await startOperator()
  const loop = await startChild('pool-loop.ts', {
    part: 'server',
    args: [operator.url, mode === 'batch' ? '1000' : '0'],
  })
  return childContender({
    name: 'a loop of undici',
    child: loop,
    async run(seconds) {
      const messages = Math.ceil((seconds * perSecond) / 1_000) * 1_000
      return { messages, seconds: await loop.call<number>('send', messages) }
    },
    release: () => operator.child.stop(),
  })
}
