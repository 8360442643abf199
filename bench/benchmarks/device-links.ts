import { randomUUID } from 'node:crypto'
import { kafka } from '../../test/support/services/kafka.ts'
import { rabbitmq } from '../../test/support/services/rabbitmq.ts'
import type { Benchmark, Contender } from '../harness/benchmark.ts'
import { startChild } from '../harness/child.ts'
import { childContender } from '../harness/child-contender.ts'
import { profiled } from '../harness/profile.ts'
import { sqliteStore } from '../harness/stores.ts'

const rows = 20_000
const libraries = { amqp: 'rabbitmq-client', kafka: '@platformatic/kafka' } as const
type Channel = keyof typeof libraries

/** Measures the outbox's lane: from its store to the broker, and with the confirmation back to the store. */
const publish = (channel: Channel): Benchmark => ({
  name: `device-publish-${channel}`,
  goal: 0.8,
  baseline: `a bare ${libraries[channel]} loop over a table of SQLite: 1,000 rows read, published, confirmed, deleted`,
  about: `publishing ${rows.toLocaleString('en')} device links from the outbox over ${channel}`,
  start: (options) => startBoth('publish', channel, options.profileTo),
})

/** Measures the path from the broker through parsing and registry to the acknowledgement. */
const consume = (channel: Channel): Benchmark => ({
  name: `device-consume-${channel}`,
  goal: 0.8,
  baseline: `a bare ${libraries[channel]} loop over a table of SQLite: JSON.parse, the latest link of each token, then acknowledged`,
  about: `consuming ${rows.toLocaleString('en')} device links into the registry over ${channel}`,
  start: (options) => startBoth('consume', channel, options.profileTo),
})

export const deviceBenchmarks: readonly Benchmark[] = (['amqp', 'kafka'] as const).flatMap((channel) => [
  publish(channel),
  consume(channel),
])

async function startBoth(direction: 'publish' | 'consume', channel: Channel, profileTo: string | undefined) {
  const address = channel === 'amqp' ? await rabbitmq() : await kafka()
  return {
    subject: await startContender('subject', direction, channel, address, profiled(profileTo, 'subject')),
    baseline: await startContender('bare', direction, channel, address, []),
  }
}

async function startContender(
  role: 'subject' | 'bare',
  direction: 'publish' | 'consume',
  channel: Channel,
  address: string,
  nodeArgs: readonly string[],
): Promise<Contender> {
  const store = await sqliteStore()
  const child = await startChild('device-links.ts', {
    part: 'server',
    args: [role, channel, address, `bench-${randomUUID().slice(0, 8)}`, store.url],
    nodeArgs,
  })
  return childContender({
    name: role === 'subject' ? 'bellwire' : libraries[channel],
    child,
    prepare: () => child.call(direction === 'publish' ? 'fillOutbox' : 'fillBroker', rows),
    run: async () => ({ messages: rows, seconds: await child.call<number>(direction, rows) }),
    release: () => store.remove(),
  })
}
