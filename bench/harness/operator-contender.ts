import { benchKey } from './bench-key.ts'
import type { Contender, RunOptions } from './benchmark.ts'
import { type Child, startChild } from './child.ts'
import { childContender } from './child-contender.ts'
import type { Load, Loaded } from './closed-loop.ts'
import { profiled } from './profile.ts'
import { firstId, type RequestKind } from './requests.ts'
import { noStore, type Store } from './stores.ts'

/** One shape of traffic, for both sides of a comparison. */
export interface Traffic {
  /** Messages in a request; 0: single sends. */
  readonly batch: number
  readonly connections: number
}

export const single = (connections: number): Traffic => ({ batch: 0, connections })
export const batchOf1000: Traffic = { batch: 1_000, connections: 4 }

export interface Side {
  readonly name: string
  /** A program of bench/servers/ with the procedure 'port'. */
  readonly program: string
  readonly args: readonly string[]
  readonly cleanUp: () => Promise<void>
}

export function operatorWith(name: string, store: Store): Side {
  return {
    name: `operator, ${name}`,
    program: 'operator.ts',
    args: [store.url],
    cleanUp: () => store.remove(),
  }
}

export const operatorWithoutStore: Side = operatorWith('no store', noStore)

export const bareServer: Side = {
  name: 'node:http + JSON.parse',
  program: 'bare.ts',
  args: [],
  cleanUp: async () => {},
}

/** A server that stores the same rows as the operator, and does nothing else. */
export function bareRows(store: Store): Side {
  return {
    name: 'bare rows',
    program: 'bare-rows.ts',
    args: [store.url],
    cleanUp: () => store.remove(),
  }
}

/** Two servers under the same traffic from the same generator. */
export async function compareServers(
  traffic: Traffic,
  subject: Side,
  baseline: Side,
  options: RunOptions,
): Promise<{ subject: Contender; baseline: Contender }> {
  const generator = await startGenerator()
  const profile = profiled(options.profileTo, 'subject')
  return {
    subject: await contender(traffic, subject, generator, profile),
    baseline: await contender(traffic, baseline, generator, [], () => generator.stop()),
  }
}

/** Single messages of 1 kB, or batches of messages of 400 B: the sizes at which the goals were measured. */
function trafficKind({ batch }: Traffic): Omit<RequestKind, 'host' | 'apiKey'> {
  return { path: `/channels/push/${batch ? 'batch' : 'single'}`, batch, itemBytes: batch ? 400 : 1_000 }
}

export function startGenerator(): Promise<Child> {
  return startChild('load-generator.ts', { part: 'driver' })
}

/** A server in a child process, under load from a closed loop. @param after called when the contender has stopped */
export async function contender(
  traffic: Traffic,
  side: Side,
  generator: Child,
  nodeArgs: readonly string[],
  after: () => Promise<void> = async () => {},
): Promise<Contender> {
  const child = await startChild(side.program, { part: 'server', args: side.args, nodeArgs })
  const port = await child.call<number>('port')
  const kind = { ...trafficKind(traffic), host: `127.0.0.1:${port}`, apiKey: benchKey }
  const { connections } = traffic
  let fromId = firstId
  return childContender({
    name: side.name,
    child,
    async run(seconds) {
      const load: Load = { port, kind, connections, seconds, fromId }
      const loaded = await generator.call<Loaded>('load', load)
      // Greater than every id that was sent, even if the round failed.
      fromId += loaded.messages + connections * Math.max(1, traffic.batch)
      const peakMb = await child.call<number>('peakMb')
      return { messages: loaded.messages, seconds: loaded.seconds, peakMb, notes: notes(loaded) }
    },
    async release() {
      await side.cleanUp()
      await after()
    },
  })
}

function notes(loaded: Loaded): Record<string, string> {
  const busy = loaded.cpuUs / 1e6 / loaded.seconds
  return {
    p50: `${loaded.p50Ms.toFixed(1)} ms`,
    p99: `${loaded.p99Ms.toFixed(1)} ms`,
    generator: `${(loaded.cpuUs / loaded.requests).toFixed(1)} µs/request, ${Math.round(busy * 100)} % busy`,
  }
}
