import type { Benchmark, Contender, RunOptions } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import { ndjsonSender } from '../harness/ndjson-sender.ts'
import { batchOf1000, contender, operatorWith, startGenerator } from '../harness/operator-contender.ts'
import { profiled } from '../harness/profile.ts'
import { type Measure, perSecond } from '../harness/ratios.ts'
import { sqliteStore } from '../harness/stores.ts'

/** The approximate rate. A round has a fixed number of messages and ends when all are settled. */
const recordsPerSecond = 40_000

export const endToEnd: Benchmark = {
  name: 'end-to-end',
  goal: 0.5,
  leastPerSecond: 10_000,
  baseline: 'the slower of enqueueing alone and durable batch ingest alone',
  about:
    'platform → operator, batch mode, both durable on SQLite: from the first byte enqueued to the last message settled',
  async start(options) {
    return { subject: await startBothSides(options), baseline: await startSlowerPart() }
  },
}

/** The operator is pinned to one core, the platform to the other. The sender is not pinned. */
async function startBothSides({ profileTo }: RunOptions): Promise<Contender> {
  const [operatorStore, platformStore] = [await sqliteStore(), await sqliteStore()]
  const operator = await startChild('operator.ts', {
    part: 'server',
    args: [operatorStore.url],
    nodeArgs: profiled(profileTo, 'operator'),
  })
  const operatorUrl = `http://127.0.0.1:${await operator.call<number>('port')}`
  const platform = await startChild('platform.ts', {
    part: 'driver',
    args: [platformStore.url, operatorUrl],
    nodeArgs: profiled(profileTo, 'platform'),
  })
  const sender = ndjsonSender(await platform.call<number>('port'))
  const cpu = async (): Promise<number> => (await operator.call<number>('cpu')) + (await platform.call<number>('cpu'))
  let sent = 0

  const round = async (seconds: number): Promise<Measure> => {
    const requests = sender.prepare(seconds * recordsPerSecond)
    const messages = requests.length * 1_000
    const cpuBefore = await cpu()
    const began = performance.now()
    await sender.send(requests)
    const enqueued = performance.now()
    sent += messages
    await platform.call('settled', sent)
    const ended = performance.now()
    return {
      messages,
      seconds: (ended - began) / 1000,
      cpuUs: (await cpu()) - cpuBefore,
      peakMb: (await operator.call<number>('peakMb')) + (await platform.call<number>('peakMb')),
      notes: {
        enqueued: `after ${((enqueued - began) / 1000).toFixed(2)} s of ${((ended - began) / 1000).toFixed(2)} s`,
      },
    }
  }
  return {
    name: 'platform → operator, SQLite',
    warm: async (seconds) => void (await round(seconds)),
    round,
    async stop() {
      await sender.close()
      await Promise.all([platform.stop(), operator.stop()])
      await Promise.all([platformStore.remove(), operatorStore.remove()])
    },
  }
}

/** Measures both parts separately, one after the other. The slower one is the baseline. */
async function startSlowerPart(): Promise<Contender> {
  const store = await sqliteStore()
  const platform = await startChild('platform.ts', { part: 'driver', args: [store.url] })
  const sender = ndjsonSender(await platform.call<number>('port'))
  const generator = await startGenerator()
  const ingest = await contender(batchOf1000, operatorWith('SQLite', await sqliteStore()), generator, [])

  const enqueue = childContender({
    name: 'enqueueing',
    child: platform,
    async run(seconds) {
      const requests = sender.prepare(seconds * recordsPerSecond)
      const began = performance.now()
      await sender.send(requests)
      return { messages: requests.length * 1_000, seconds: (performance.now() - began) / 1000 }
    },
    release: () => Promise.all([sender.close(), store.remove()]),
  })
  return {
    name: 'the slower part alone',
    async warm(seconds) {
      await enqueue.warm(seconds)
      await ingest.warm(seconds)
    },
    async round(seconds) {
      const enqueued = await enqueue.round(seconds)
      const ingested = await ingest.round(seconds)
      const slower = perSecond(enqueued) < perSecond(ingested) ? enqueued : ingested
      const rate = (measure: Measure): string => `${Math.round(perSecond(measure)).toLocaleString('en')} msg/s`
      return {
        ...slower,
        // End to end, both parts take CPU.
        cpuUs: slower.messages * (enqueued.cpuUs / enqueued.messages + ingested.cpuUs / ingested.messages),
        notes: { enqueue: rate(enqueued), ingest: rate(ingested) },
      }
    },
    async stop() {
      await enqueue.stop()
      await ingest.stop()
      await generator.stop()
    },
  }
}
