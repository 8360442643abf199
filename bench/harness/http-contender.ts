import { benchKey } from './bench-key.ts'
import type { Contender } from './benchmark.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'
import type { Load, Loaded } from './closed-loop.ts'
import type { Measure } from './ratios.ts'
import { firstId, type RequestKind } from './requests.ts'

export interface HttpContender {
  readonly name: string
  /** A program with the procedure 'port'. */
  readonly server: URL
  readonly args?: readonly string[]
  readonly nodeArgs?: readonly string[]
  readonly kind: Omit<RequestKind, 'host' | 'apiKey'>
  readonly connections: number
  readonly generator: Child
  /** Removes the contender's folder or schema. */
  readonly cleanUp?: () => Promise<void>
}

export function startGenerator(): Promise<Child> {
  return startChild(new URL('./load-process.ts', import.meta.url), { part: 'driver' })
}

/** A server in a child process, under load from a closed loop. */
export async function httpContender(options: HttpContender): Promise<Contender> {
  const child = await startChild(options.server, {
    part: 'server',
    args: options.args ?? [],
    nodeArgs: options.nodeArgs ?? [],
  } satisfies ChildOptions)
  const port = await child.call<number>('port')
  let fromId = firstId
  const load = async (seconds: number): Promise<Loaded> => {
    const kind = { ...options.kind, host: `127.0.0.1:${port}`, apiKey: benchKey }
    const loaded = await options.generator.call<Loaded>('load', {
      port,
      kind,
      connections: options.connections,
      seconds,
      fromId,
    } satisfies Load)
    // Greater than every id that was sent, even if the round failed.
    fromId += loaded.messages + options.connections * Math.max(1, options.kind.batch)
    return loaded
  }
  return {
    name: options.name,
    warm: async (seconds) => void (await load(seconds)),
    async round(seconds): Promise<Measure> {
      const before = await child.call<number>('cpu')
      const loaded = await load(seconds)
      const cpuUs = (await child.call<number>('cpu')) - before
      const peakMb = await child.call<number>('peakMb')
      return { messages: loaded.messages, seconds: loaded.seconds, cpuUs, peakMb, notes: notes(loaded) }
    },
    async stop() {
      await child.stop()
      await options.cleanUp?.()
    },
  }
}

function notes(loaded: Loaded): Record<string, string> {
  const busy = loaded.cpuUs / 1e6 / loaded.seconds
  return {
    p50: `${loaded.p50Ms.toFixed(1)} ms`,
    p99: `${loaded.p99Ms.toFixed(1)} ms`,
    generator: `${(loaded.cpuUs / loaded.requests).toFixed(1)} µs/request, ${Math.round(busy * 100)} % busy`,
  }
}
