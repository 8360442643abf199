// Failures of single channels: killed consumers, unavailable stores, missing queues. The proof device-links kills brokers too.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Admin } from '@platformatic/kafka'
import { connect } from 'amqplib'
import { amqpConsumer } from '../../../src/base/brokers/amqp-consumer.ts'
import type { BrokerConsumer, Received } from '../../../src/base/brokers/consumer.ts'
import { kafkaConsumer } from '../../../src/base/brokers/kafka-consumer.ts'
import type { DeviceMessage, DevicePublisher } from '../../../src/subjects/devices/device-publisher.ts'
import { amqpPublisher } from '../../../src/subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../../src/subjects/devices/publishers/kafka-publisher.ts'
import { restPublisher } from '../../../src/subjects/devices/publishers/rest-publisher.ts'
import { message, uniqueName } from '../../suites/device-channel.ts'
import { contextOf } from '../../support/context.ts'
import { listenLocally } from '../../support/listen-locally.ts'
import { kafka, withoutKafka } from '../../support/services/kafka.ts'
import { rabbitmq, withoutRabbitmq } from '../../support/services/rabbitmq.ts'
import { event, until } from '../../support/wait.ts'

const noRabbitmq = await withoutRabbitmq()
const noKafka = await withoutKafka()
const messages = (count: number): DeviceMessage[] =>
  Array.from({ length: count }, (_, n) => message('link', { user: `user ${n % 7}`, token: `t${n}` }))
const tokenOf = ({ body }: Received): string => JSON.parse(Buffer.from(body).toString()).tokens[0].token

async function deleteQueues(t: TestContext, url: string, queue: string): Promise<void> {
  t.after(async () => {
    const connection = await connect(url)
    const channel = await connection.createChannel()
    await channel.deleteQueue(queue)
    await channel.deleteQueue(`${queue}.dead`)
    await connection.close()
  })
}

/** Publishes each message once, in order: the first alone, retried until the consumer has declared the queue, then the others. */
async function publishAll(publisher: DevicePublisher, [first, ...others]: readonly DeviceMessage[]): Promise<void> {
  const accepted = async (batch: readonly DeviceMessage[]): Promise<boolean> =>
    (await publisher.publish(batch, contextOf())).every(({ category }) => category === 'successful')
  await until(() => accepted([first as DeviceMessage]), { awaited: 'the queue exists', withinMs: 30_000 })
  assert.ok(await accepted(others), 'all messages are accepted')
}

/** Consumes until the test ends. */
function consume(
  t: TestContext,
  consumer: BrokerConsumer,
  take: (received: readonly Received[]) => void | Promise<void>,
) {
  const stop = new AbortController()
  const done = consumer.consume(async (received) => {
    await take(received)
    return received.map(() => 'taken' as const)
  }, stop.signal)
  const end = async (): Promise<void> => {
    stop.abort()
    await done
  }
  t.after(end)
  return end
}

test('no message is lost when consumers are killed more often than the delivery limit', {
  skip: noRabbitmq,
  timeout: 90_000,
}, async (t) => {
  const url = await rabbitmq()
  const queue = uniqueName('1')
  await deleteQueues(t, url, queue)
  const limit = 3
  const all = messages(60)
  // This consumer declares the queues.
  const first = consume(t, amqpConsumer({ url, queue, prefetch: 60, deliveryLimit: limit }), () => {})
  const publisher = amqpPublisher({ url, routingKey: queue })
  t.after(() => publisher.close())
  await publishAll(publisher, [message('link', { token: 'the first' })])
  await first()
  await publishAll(publisher, all)

  const dead = new Set<string>()
  for (let kill = 0; kill < 2 * limit + 2; kill++) {
    const child = fork(fileURLToPath(new URL('unacknowledging-consumer.ts', import.meta.url)), [
      url,
      queue,
      '60',
      String(limit),
    ])
    const [{ from }] = (await once(child, 'message')) as [{ from: string }]
    if (from.endsWith('.dead')) dead.add(from)
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  assert.equal(dead.size, 1, 'the broker has dead-lettered messages')

  const got = new Map<string, number>()
  consume(t, amqpConsumer({ url, queue, prefetch: 60, deliveryLimit: limit }), (received) => {
    for (const one of received) got.set(tokenOf(one), received.length)
    if (received[0]?.from.endsWith('.dead')) assert.equal(received.length, 1, 'dead letters are received one at a time')
  })
  await until(() => all.every((_, n) => got.has(`t${n}`)), { awaited: 'all messages are stored', withinMs: 30_000 })
})

const brokers = [
  {
    name: 'amqp',
    skip: noRabbitmq,
    async open(t: TestContext, { declare = true } = {}) {
      const url = await rabbitmq()
      const queue = uniqueName('1')
      await deleteQueues(t, url, queue)
      return {
        consumer: amqpConsumer({ url, queue, prefetch: 10, declare }),
        publisher: amqpPublisher({ url, routingKey: queue }),
        async createDestination() {
          const connection = await connect(url)
          const channel = await connection.createChannel()
          for (const each of [queue, `${queue}.dead`]) await channel.assertQueue(each, { durable: true })
          await connection.close()
        },
        missing: /NOT_FOUND.*no queue/,
      }
    },
  },
  {
    name: 'kafka',
    skip: noKafka,
    async open(_t: TestContext, { declare = true } = {}) {
      const at = { brokers: [await kafka()], topic: uniqueName('1') }
      return {
        consumer: kafkaConsumer({ ...at, group: at.topic, most: 10, declare }),
        publisher: kafkaPublisher(at),
        async createDestination() {
          const admin = new Admin({ clientId: 'test', bootstrapBrokers: at.brokers })
          await admin.createTopics({ topics: [at.topic], partitions: 1, replicas: 1 })
          await admin.close()
        },
        missing: new RegExp(at.topic),
      }
    },
  },
] as const

for (const { name, skip, open } of brokers) {
  test(`${name}: while the store is unavailable messages are held, and none is lost, duplicated or reordered`, {
    skip,
    timeout: 90_000,
  }, async (t) => {
    const { consumer, publisher } = await open(t)
    t.after(() => publisher.close())
    let unavailable = true
    let attempts = 0
    const got: string[] = []
    const held = event('consumer.held', (report) => report.consumer === consumer.name, { withinMs: 60_000 })
    consume(t, consumer, (received) => {
      attempts++
      if (unavailable) throw new Error('the store is unavailable')
      got.push(...received.map(tokenOf))
    })
    await publishAll(publisher, messages(50))
    await held
    await until(() => attempts >= 3, { awaited: 'the batch is retried', withinMs: 20_000 })
    assert.equal(got.length, 0)
    const released = event('consumer.released', (report) => report.consumer === consumer.name, { withinMs: 20_000 })
    unavailable = false
    await released
    await until(() => new Set(got).size === 50, { awaited: 'all messages are stored', withinMs: 20_000 })
    assert.equal(got.length, 50)
    for (let user = 0; user < 7; user++) {
      const ofUser = got.map((token) => Number(token.slice(1))).filter((n) => n % 7 === user)
      assert.deepEqual(
        ofUser,
        ofUser.toSorted((a, b) => a - b),
      )
    }
  })

  test(`${name}: messages held by a stopped consumer go to the next one`, { skip, timeout: 90_000 }, async (t) => {
    const { consumer, publisher } = await open(t)
    t.after(() => publisher.close())
    const held = event('consumer.held', (report) => report.consumer === consumer.name, { withinMs: 60_000 })
    const end = consume(t, consumer, () => {
      throw new Error('the store is unavailable')
    })
    await publishAll(publisher, messages(20))
    await held
    await end()
    const got: string[] = []
    consume(t, consumer, (received) => void got.push(...received.map(tokenOf)))
    await until(() => new Set(got).size === 20, { awaited: 'all messages are stored', withinMs: 30_000 })
  })

  test(`${name}: with declare: false, a missing queue or topic is reported until it is created`, {
    skip,
    timeout: 90_000,
  }, async (t) => {
    const { consumer, publisher, createDestination, missing } = await open(t, { declare: false })
    t.after(() => publisher.close())
    const lost = event('consumer.lost', ({ error }) => missing.test(error), { withinMs: 30_000 })
    const got: string[] = []
    consume(t, consumer, (received) => void got.push(...received.map(tokenOf)))
    await lost
    await createDestination()
    await publishAll(publisher, messages(5))
    await until(() => got.length === 5, { awaited: 'all messages are stored', withinMs: 30_000 })
  })

  test(`${name}: after a stop the next consumer continues where the last one ended`, {
    skip,
    timeout: 90_000,
  }, async (t) => {
    const { consumer, publisher } = await open(t)
    t.after(() => publisher.close())
    const got: string[] = []
    const end = consume(t, consumer, (received) => void got.push(...received.map(tokenOf)))
    await publishAll(publisher, messages(30))
    await until(() => new Set(got).size === 30, { awaited: 'all messages are stored', withinMs: 20_000 })
    await end()
    const next: string[] = []
    consume(t, consumer, (received) => void next.push(...received.map(tokenOf)))
    await publishAll(publisher, [message('link', { token: 'the last' })])
    await until(() => next.includes('the last'), {
      awaited: 'the next consumer receives the last message',
      withinMs: 30_000,
    })
    assert.deepEqual(next, ['the last'], 'acknowledged messages are not delivered again')
  })
}

test('amqp: an unroutable message is fatal', { skip: noRabbitmq }, async (t) => {
  const publisher = amqpPublisher({ url: await rabbitmq(), routingKey: uniqueName('1') })
  t.after(() => publisher.close())
  const [one, two] = await publisher.publish(messages(2), contextOf())
  assert.partialDeepStrictEqual(one, {
    category: 'fatal',
    blame: 'provider',
    reason: 'misconfigured',
    rule: 'amqp returned',
  })
  assert.match((one as { error: string }).error, /create the queue/)
  assert.equal(two?.category, 'fatal')
  const unknownExchange = amqpPublisher({ url: await rabbitmq(), exchange: uniqueName('1'), routingKey: 'x' })
  t.after(() => unknownExchange.close())
  const [lost] = await unknownExchange.publish(messages(1), contextOf())
  assert.partialDeepStrictEqual(lost, { category: 'fatal', blame: 'provider' })
  assert.match((lost as { error: string }).error, /no exchange/)
})

test('kafka: only the message that is too large is rejected', { skip: noKafka, timeout: 60_000 }, async (t) => {
  const at = { brokers: [await kafka()], topic: uniqueName('1') }
  consume(t, kafkaConsumer({ ...at, group: at.topic }), () => {})
  const publisher = kafkaPublisher(at)
  t.after(() => publisher.close())
  await publishAll(publisher, messages(1))
  const batch = [...messages(3), message('link', { note: 'x'.repeat(2_000_000) }), ...messages(3)]
  const outcomes = await publisher.publish(batch, contextOf())
  assert.deepEqual(
    outcomes.map(({ category }) => category),
    ['successful', 'successful', 'successful', 'failed', 'successful', 'successful', 'successful'],
  )
  assert.partialDeepStrictEqual(outcomes[3], { reason: 'too_large' })
})

test('kafka: no message is skipped when partitions move between processes', {
  skip: noKafka,
  timeout: 90_000,
}, async (t) => {
  const at = { brokers: [await kafka()], topic: uniqueName('1') }
  const consumerOptions = { ...at, sessionTimeoutMs: 6_000, most: 20 }
  const publisher = kafkaPublisher(at)
  t.after(() => publisher.close())
  const got = new Map<string, Set<string>>()
  const consumeAs = (name: string) =>
    consume(t, kafkaConsumer(consumerOptions), (received) => {
      for (const one of received) got.set(tokenOf(one), (got.get(tokenOf(one)) ?? new Set()).add(name))
    })
  const consumedBy = (name: string): boolean => [...got.values()].some((names) => names.has(name))
  const all = Array.from({ length: 600 }, (_, n) => message('link', { user: `user ${n % 40}`, token: `t${n}` }))
  let sent = 0
  let extra = 0
  const publishUpTo = async (until: number): Promise<void> => {
    for (; sent < until; sent += 10) await publishAll(publisher, all.slice(sent, sent + 10))
  }
  const first = consumeAs('first')
  await publishUpTo(100)
  await until(() => consumedBy('first'), { awaited: 'the first consumer has messages', withinMs: 20_000 })
  const second = consumeAs('second')
  await until(
    async () => {
      extra++
      await publishAll(publisher, [message('link', { user: `user ${extra % 40}`, token: `extra ${extra}` })])
      return consumedBy('second')
    },
    { awaited: 'the second consumer has partitions', withinMs: 30_000 },
  )
  await first()
  await publishUpTo(500)
  consumeAs('third')
  await publishUpTo(600)
  await until(() => got.size === 600 + extra, { awaited: 'all messages are stored', withinMs: 40_000 })
  await second()
})

test('kafka: the error names a missing topic', { skip: noKafka }, async (t) => {
  const publisher = kafkaPublisher({ brokers: [await kafka()], topic: uniqueName('1') })
  t.after(() => publisher.close())
  const [one] = await publisher.publish(messages(1), contextOf())
  assert.partialDeepStrictEqual(one, { category: 'fatal', blame: 'provider', reason: 'misconfigured' })
  assert.match((one as { error: string }).error, /create the topic /)
})

test('an unreachable or silent broker gives a fatal outcome before the deadline, never a rejection', async (t) => {
  const silent = createServer(() => {})
  const { port } = await listenLocally(t, silent)
  for (const at of [port, 1]) {
    const publishers = [
      amqpPublisher({ url: `amqp://guest:guest@127.0.0.1:${at}`, routingKey: 'q' }),
      kafkaPublisher({ brokers: [`127.0.0.1:${at}`], topic: 't' }),
      restPublisher({ url: `http://127.0.0.1:${at}`, apiKey: 'k' }),
    ]
    const outcomes = await Promise.all(publishers.map((publisher) => publisher.publish(messages(2), contextOf(1_000))))
    for (const [one, two] of outcomes) {
      assert.partialDeepStrictEqual(one, { category: 'fatal', blame: 'provider' })
      assert.equal(two?.category, 'fatal')
    }
    await Promise.all(publishers.map((publisher) => publisher.close()))
  }
})
