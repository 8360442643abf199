import type { Contender, RunOptions } from './benchmark.ts'
import type { Child } from './child.ts'
import { httpContender, startGenerator } from './http-contender.ts'
import { profiled } from './profile.ts'
import type { RequestKind } from './requests.ts'
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
  readonly server: URL
  readonly args: readonly string[]
  readonly cleanUp: () => Promise<void>
}

const operator = new URL('../servers/operator.ts', import.meta.url)

export function operatorWith(name: string, store: Store): Side {
  return {
    name: `operator, ${name}`,
    server: operator,
    args: [store.url],
    cleanUp: () => store.remove(),
  }
}

export const operatorWithoutStore: Side = operatorWith('no store', noStore)

export const bareServer: Side = {
  name: 'node:http + JSON.parse',
  server: new URL('../servers/bare.ts', import.meta.url),
  args: [],
  cleanUp: async () => {},
}

/** A server that stores the same rows as the operator, and does nothing else. */
export function bareRows(store: Store): Side {
  return {
    name: 'bare rows',
    server: new URL('../servers/bare-rows.ts', import.meta.url),
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

export function contender(
  traffic: Traffic,
  side: Side,
  generator: Child,
  nodeArgs: readonly string[],
  after: () => Promise<void> = async () => {},
): Promise<Contender> {
  return httpContender({
    name: side.name,
    server: side.server,
    args: side.args,
    nodeArgs,
    kind: trafficKind(traffic),
    connections: traffic.connections,
    generator,
    cleanUp: async () => {
      await side.cleanUp()
      await after()
    },
  })
}
