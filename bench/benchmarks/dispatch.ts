import type { Benchmark, Contender, RunOptions } from '../harness/benchmark.ts'
import { type Child, startChild } from '../harness/child.ts'
import { ndjsonSender } from '../harness/ndjson-sender.ts'
import { profiled } from '../harness/profile.ts'
import type { Measure } from '../harness/ratios.ts'
import { sqliteStore } from '../harness/stores.ts'

const server = (file: string): URL => new URL(`../servers/${file}`, import.meta.url)

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
      subject: await startPlatform(mode, perSecond, options),
      baseline: await startLoop(mode, perSecond),
    }),
  }
}

export const dispatchBenchmarks: readonly Benchmark[] = [
  dispatch({ mode: 'batch', goal: 0.8, perSecond: 40_000 }),
  dispatch({ mode: 'single', goal: 0.5, perSecond: 5_000 }),
]

async function startOperator(): Promise<{ readonly child: Child; readonly url: string }> {
  const child = await startChild(server('bare.ts'), { part: 'driver' })
  return { child, url: `http://127.0.0.1:${await child.call<number>('port')}` }
}

async function startPlatform(mode: Mode['mode'], perSecond: number, { profileTo }: RunOptions): Promise<Contender> {
  const operator = await startOperator()
  const store = await sqliteStore()
  const platform = await startChild(server('platform.ts'), {
    part: 'server',
    args: [store.url, operator.url, mode],
    nodeArgs: profiled(profileTo, 'subject'),
  })
  const sender = ndjsonSender(await platform.call<number>('port'))
  let sent = 0
  const round = async (seconds: number): Promise<Measure> => {
    const requests = sender.prepare(seconds * perSecond)
    const messages = requests.length * 1_000
    const cpuBefore = await platform.call<number>('cpu')
    const began = performance.now()
    await sender.send(requests)
    sent += messages
    await platform.call('settled', sent)
    return {
      messages,
      seconds: (performance.now() - began) / 1000,
      cpuUs: (await platform.call<number>('cpu')) - cpuBefore,
      peakMb: await platform.call<number>('peakMb'),
    }
  }
  return {
    name: 'platform, SQLite',
    warm: async (seconds) => void (await round(seconds)),
    round,
    async stop() {
      await sender.close()
      await Promise.all([platform.stop(), operator.child.stop()])
      await store.remove()
    },
  }
}

async function startLoop(mode: Mode['mode'], perSecond: number): Promise<Contender> {
  const operator = await startOperator()
  const loop = await startChild(server('pool-loop.ts'), {
    part: 'server',
    args: [operator.url, mode === 'batch' ? '1000' : '0'],
  })
  const round = async (seconds: number): Promise<Measure> => {
    const messages = Math.ceil((seconds * perSecond) / 1_000) * 1_000
    const cpuBefore = await loop.call<number>('cpu')
    const took = await loop.call<number>('send', messages)
    return { messages, seconds: took, cpuUs: (await loop.call<number>('cpu')) - cpuBefore }
  }
  return {
    name: 'a loop of undici',
    warm: async (seconds) => void (await round(seconds)),
    round,
    async stop() {
      await Promise.all([loop.stop(), operator.child.stop()])
    },
  }
}
