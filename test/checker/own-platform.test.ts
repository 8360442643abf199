// Our own platform passes every check, also over a restart: on SQLite with pushes in batches, on PostgreSQL with pushes one by one.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { amqpConsumer } from '../../src/base/brokers/amqp-consumer.ts'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import type { Channel, Mode } from '../../src/contract/endpoints.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import type { DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import type { LinkSource } from '../../src/subjects/devices/link-intake.ts'
import { amqpPublisher } from '../../src/subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../src/subjects/devices/publishers/kafka-publisher.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { openPlatformRun } from '../../src/tools/checker/platform/prepare.ts'
import { contraryHeader, publishingTo } from '../../src/tools/cli/check/link-channels.ts'
import { uniqueName } from '../suites/device-channel.ts'
import { onPostgres, onSqlite } from '../support/engines.ts'
import { kafka, withoutKafka } from '../support/services/kafka.ts'
import { rabbitmq, withoutRabbitmq } from '../support/services/rabbitmq.ts'
import { adminKey, get, post, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { allPlatformChecks, platformFacts, platformPace } from './check-plain-platform.ts'
import { notPassed } from './judge-run.ts'
import { statusSecret } from './plain-endpoints.ts'

const key = 'the-key-of-the-operator'
const linkKey = 'the-key-of-device-links'
const timeoutMs = 3_000
const spanMs = 50

async function text(url: string): Promise<string> {
  const response = await fetch(url, { headers: { 'x-api-key': adminKey.key } })
  return response.text()
}

/** @returns whether the list was used */
async function reconcile(url: string, field: string): Promise<boolean> {
  const { body } = await post(`${url}/admin/reconciliations`, { brand: '1', field }, adminKey.key)
  const ended = await until(
    async () => {
      const { body: run } = await get(`${url}/admin/reconciliations/${(body as { run: string }).run}`)
      return (run as { ended_at: string | null }).ended_at === null ? undefined : run
    },
    { withinMs: 60_000, awaited: 'the end of the run' },
  )
  return (ended as { refused: unknown }).refused === null
}

onSqlite('our platform passes every check: push batch, on-site single', (t, store) =>
  passesAll(t, store, { push: 'batch', site: 'single' }),
)
onPostgres('our platform passes every check: push single, on-site batch', (t, store) =>
  passesAll(t, store, { push: 'single', site: 'batch' }),
)

async function passesAll(t: TestContext, store: string, modes: Readonly<Record<Channel, Mode>>): Promise<void> {
  const brokers = await openBrokers(t)
  const opened = await openPlatformRun({
    host: '127.0.0.1',
    port: 0,
    key,
    checks: allPlatformChecks,
    facts: {
      ...platformFacts,
      platformTimeout: timeoutMs,
      batchSpan: spanMs,
      failedActions: () => text(`${platform.url}/admin/failed.csv`),
      reconcile: (field) => reconcile(platform.url, field),
      get platform() {
        return { url: platform.url, linkKey, statusSecret }
      },
      links: brokers.map(({ name, publisher, contrary }) => publishingTo(name, publisher, contrary)),
      devices: (userId) => text(`${platform.url}/admin/devices?brand=1&user_id=${userId}`),
      restart: async () => {
        await platform.stop()
        platform = await startPlatform(t, options)
      },
      pace: { ...platformPace, patience: 20_000, quiet: 250 },
    },
    rules: 'bellwire',
    mostMessages: 5_000,
    async enqueue({ channel, records }) {
      const answer = await fetch(`${platform.url}/admin/activities/${channel}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson', 'x-api-key': adminKey.key },
        body: records.map(({ text }) => `${text}\n`).join(''),
      })
      const { accepted } = (await answer.json()) as { accepted: number }
      assert.equal(accepted, records.length)
    },
  })
  t.after(() => opened.close())
  const lanes = (['push', 'site'] as const).map(
    (channel): LaneOptions => ({
      brand: '1',
      channel,
      mode: modes[channel],
      max: platformFacts.batchMax,
      spanMs,
      timeoutMs,
      retry: { firstMs: 50, mostMs: 2_000 },
      provider: operatorApi({ url: opened.url, apiKey: key }),
      status: { secrets: [statusSecret] },
    }),
  )
  const reconciliation = [{ brand: '1', url: opened.url, apiKey: key, fields: ['blocked' as const] }]
  const keys = [adminKey, { name: 'operator', key: linkKey, scopes: ['devices' as const], brands: ['1'] }]
  const options = { store, lanes, reconciliation, keys, deviceLinks: brokers.map(({ channel }) => channel) }
  let platform = await startPlatform(t, options)
  const { results, stopped } = await (await opened.prepare()).run()
  assert.equal(stopped, undefined)
  assert.deepEqual(notPassed(results), [])
}

/** A broker, with the two ends of a channel of device links. */
interface Broker {
  readonly name: string
  readonly channel: LinkSource
  readonly publisher: DevicePublisher
  readonly contrary?: DevicePublisher
}

async function openBrokers(t: TestContext): Promise<readonly Broker[]> {
  const brokers: Broker[] = []
  const name = uniqueName('1')
  if (!(await withoutRabbitmq())) {
    const url = await rabbitmq()
    const channel = { brands: '1', consumer: amqpConsumer({ url, queue: name }) }
    const to = { url, routingKey: name }
    const contrary = amqpPublisher({ ...to, headers: contraryHeader })
    brokers.push({ name: 'RabbitMQ', channel, publisher: amqpPublisher(to), contrary })
  }
  if (!(await withoutKafka())) {
    const address = { brokers: [await kafka()], topic: name }
    const channel = { brands: '1', consumer: kafkaConsumer({ ...address, group: name }) }
    brokers.push({ name: 'Kafka', channel, publisher: kafkaPublisher(address) })
  }
  t.after(() => Promise.all(brokers.flatMap(({ publisher, contrary }) => [publisher.close(), contrary?.close()])))
  return brokers
}
