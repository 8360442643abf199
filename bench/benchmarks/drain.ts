import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import { profiled } from '../harness/profile.ts'
import { postgresStore, type Store, sqliteStore } from '../harness/stores.ts'

const rows = 100_000
const replayed = 200_000

/** The fastest settings of pg-boss here (tried: fetches of 100, 500 and 1,000, by one to four loops). */
const pgBossSettings = ['1000', '4']

/** A round has a fixed number of rows: both sides are filled in the same way, analysed, and drained. */
export const drain: Benchmark = {
  name: 'drain',
  goal: 3,
  baseline: 'pg-boss, fetch and complete, on the same PostgreSQL',
  about: `draining a lane of ${rows.toLocaleString('en')} messages of 400 B`,
  async start(options) {
    return {
      subject: await startDrainer({ name: 'a lane', nodeArgs: profiled(options.profileTo, 'subject') }),
      baseline: await startDrainer({ name: 'pg-boss', program: 'drain-pg-boss.ts', args: pgBossSettings }),
    }
  },
}

/** Replaying Failed Actions against draining as many new items, in the same run. */
export const replayBenchmarks: readonly Benchmark[] = (
  [
    ['replay', postgresStore],
    ['replay-sqlite', sqliteStore],
  ] as const
).map(([name, newStore]) => ({
  name,
  goal: 0.5,
  baseline: 'draining as many new items',
  about: `draining ${replayed.toLocaleString('en')} replayed Failed Actions of 400 B; the decision to replay is measured separately`,
  async start({ size = replayed, profileTo }) {
    const nodeArgs = profiled(profileTo, 'subject')
    return {
      subject: await startDrainer({ name: 'a replay', newStore, rows: size, replays: true, nodeArgs }),
      baseline: await startDrainer({ name: 'a drain', newStore, rows: size }),
    }
  },
}))

interface Drainer {
  readonly name: string
  readonly program?: string
  readonly args?: readonly string[]
  readonly nodeArgs?: readonly string[]
  readonly newStore?: () => Promise<Store>
  readonly rows?: number
  /** The rows fail first and are then replayed. */
  readonly replays?: boolean
}

async function startDrainer(options: Drainer): Promise<Contender> {
  const {
    name,
    program = 'drain-lane.ts',
    args = [],
    nodeArgs = [],
    newStore = postgresStore,
    replays = false,
  } = options
  const count = options.rows ?? rows
  const store = await newStore()
  const child = await startChild(program, {
    part: 'server',
    args: [store.url, ...args],
    nodeArgs,
  })
  let notes: Readonly<Record<string, string>> = {}
  return childContender({
    name,
    child,
    async prepare() {
      await child.call('fill', count)
      if (!replays) return
      await child.call('fail', count)
      const began = performance.now()
      await child.call('replay')
      notes = { 'decided in': `${((performance.now() - began) / 1000).toFixed(1)} s` }
    },
    run: async () => ({ messages: count, seconds: await child.call<number>('drain', count), notes }),
    release: () => store.remove(),
  })
}
