import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { profiled } from '../harness/profile.ts'
import type { Measure } from '../harness/ratios.ts'
import { postgresStore } from '../harness/stores.ts'

const rows = 100_000

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
      subject: await drainer('a lane', 'drain-lane.ts', [], profiled(options.profileTo, 'subject')),
      baseline: await drainer('pg-boss', 'drain-pg-boss.ts', pgBossSettings, []),
    }
  },
}

async function drainer(
  name: string,
  program: string,
  args: readonly string[],
  nodeArgs: readonly string[],
): Promise<Contender> {
  const store = await postgresStore()
  const child = await startChild(new URL(`../servers/${program}`, import.meta.url), {
    part: 'server',
    args: [store.url, ...args],
    nodeArgs,
  })
  const round = async (): Promise<Measure> => {
    await child.ask('fill', rows)
    const before = await child.ask<number>('cpu')
    const seconds = await child.ask<number>('drain', rows)
    return { messages: rows, seconds, cpuUs: (await child.ask<number>('cpu')) - before }
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
