import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { profiled } from '../harness/profile.ts'
import type { Measure } from '../harness/ratios.ts'
import { postgresStore, type Store, sqliteStore } from '../harness/stores.ts'

const rows = 100_000
const replayed = 200_000

/** pg-boss's fastest of those tried here (fetches of 100, 500, 1,000 by one to four loops). */
const pgBossSettings = ['1000', '4']

/** A round is so many rows, however long they take: both sides are filled alike, analysed, and emptied. */
export const drain: Benchmark = {
  name: 'drain',
  goal: 3,
  baseline: 'pg-boss, fetch and complete, on the same PostgreSQL',
  about: `draining a lane of ${rows.toLocaleString('en')} messages of 400 B`,
  async start(options) {
    return {
      subject: await drainer({ name: 'a lane', nodeArgs: profiled(options.profileTo, 'subject') }),
      baseline: await drainer({ name: 'pg-boss', program: 'drain-pg-boss.ts', args: pgBossSettings }),
    }
  },
}

/** Replaying Failed Actions against draining as many that were never sent, in the same run. */
export const replayBenchmarks: readonly Benchmark[] = (
  [
    ['replay', postgresStore],
    ['replay-sqlite', sqliteStore],
  ] as const
).map(([name, newStore]) => ({
  name,
  goal: 0.5,
  baseline: 'draining as many that were put and never sent',
  about: `draining ${replayed.toLocaleString('en')} replayed Failed Actions of 400 B; deciding to replay them is timed apart`,
  async start({ size = replayed, profileTo }) {
    const nodeArgs = profiled(profileTo, 'subject')
    return {
      subject: await drainer({ name: 'a replay', newStore, rows: size, replays: true, nodeArgs }),
      baseline: await drainer({ name: 'a drain', newStore, rows: size }),
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
  /** The rows fail first, and are replayed. */
  readonly replays?: boolean
}

async function drainer(of: Drainer): Promise<Contender> {
  const { name, program = 'drain-lane.ts', args = [], nodeArgs = [], newStore = postgresStore, replays = false } = of
  const count = of.rows ?? rows
  const store = await newStore()
  const child = await startChild(new URL(`../servers/${program}`, import.meta.url), {
    part: 'server',
    args: [store.url, ...args],
    nodeArgs,
  })
  const failAndReplay = async (): Promise<string> => {
    await child.ask('fail', count)
    const began = performance.now()
    await child.ask('replay')
    return `${((performance.now() - began) / 1000).toFixed(1)} s`
  }
  const round = async (): Promise<Measure> => {
    await child.ask('fill', count)
    const deciding = replays ? await failAndReplay() : undefined
    const cpu = await child.ask<number>('cpu')
    const seconds = await child.ask<number>('drain', count)
    const cpuUs = (await child.ask<number>('cpu')) - cpu
    return { messages: count, seconds, cpuUs, ...(deciding && { notes: { 'decided in': deciding } }) }
  }
  return {
    name,
    warm: async () => void (await round()),
    round,
    async stop() {
      await child.stop()
      await store.remove()
    },
  }
}
