import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { profiled } from '../harness/profile.ts'
import type { Measure } from '../harness/ratios.ts'
import { sqliteStore } from '../harness/stores.ts'

const connections = 10_000
/** The events of a stream at its start (retry, counts, ready), and of each notification (notification, counts). */
const eventsAtStart = 3
const eventsOfPush = 2
const pushes = 10

export const inboxPush: Benchmark = {
  name: 'inbox-push',
  goal: 0.67,
  by: 'CPU',
  baseline: 'a loop that writes the same bytes to raw sockets',
  about: `pushing one notification to ${connections.toLocaleString('en')} open streams: from the commit on SQLite to the last write: CPU per stream`,
  async start({ profileTo }) {
    return {
      subject: await startStreams('inbox', 'bellwire', profiled(profileTo, 'subject')),
      baseline: await startStreams('bare', 'raw sockets', []),
    }
  },
}

async function startStreams(role: 'inbox' | 'bare', name: string, nodeArgs: readonly string[]): Promise<Contender> {
  const store = await sqliteStore()
  const child = await startChild('inbox-streams.ts', {
    part: 'server',
    args: [role, store.url],
    nodeArgs: ['--expose-gc', ...nodeArgs],
  })
  const clients = await startChild('inbox-clients.ts', { part: 'driver' })
  const before = await child.call<number>('memory')
  const [port, token] = [await child.call<number>('port'), await child.call<string>('token')]
  await clients.call('open', { port, token, count: connections })
  let events = connections * eventsAtStart
  await clients.call('received', events)
  const kbOfConnection = ((await child.call<number>('memory')) - before) / connections / 1024

  const push = async (procedure: 'push' | 'longestTurn'): Promise<number> => {
    events += connections * eventsOfPush
    const result = await child.call<number>(procedure, connections)
    await clients.call('received', events)
    return result
  }
  return {
    name,
    async warm() {
      for (let i = 0; i < pushes; i++) await push('push')
    },
    async round(): Promise<Measure> {
      const cpu = await child.call<number>('cpu')
      let seconds = 0
      for (let i = 0; i < pushes; i++) seconds += await push('push')
      const cpuUs = (await child.call<number>('cpu')) - cpu
      return {
        messages: pushes * connections,
        seconds,
        cpuUs,
        notes: {
          memory: `${kbOfConnection.toFixed(1)} KB/connection`,
          'longest turn': `${(await push('longestTurn')).toFixed(1)} ms of CPU`,
        },
      }
    },
    async stop() {
      await Promise.all([child.stop(), clients.stop()])
      await store.remove()
    },
  }
}
