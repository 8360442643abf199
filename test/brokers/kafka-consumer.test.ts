import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { Kafka, logLevel, type ProducerConfig } from 'kafkajs'
import type { Received, Take } from '../../src/base/brokers/consumer.ts'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import { kafka, withoutKafka } from '../support/services/kafka.ts'
import { until } from '../support/wait.ts'

const partitions = 4
const slow = { withinMs: 45_000 }
const skip = await withoutKafka()

/** Creates a topic for a test, with a producer and consumers that end with it. */
async function openTopic(t: TestContext, numPartitions: number, options: Partial<ProducerConfig> = {}) {
  const address = await kafka()
  const topic = `consumer-test-${randomUUID()}`
  const client = new Kafka({ clientId: 'foreign', brokers: [address], logLevel: logLevel.NOTHING })
  const admin = client.admin()
  const producer = client.producer({ allowAutoTopicCreation: false, ...options })
  await Promise.all([admin.connect(), producer.connect()])
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions }] })
  const stopping = new AbortController()
  const running: Promise<void>[] = []
  t.after(async () => {
    stopping.abort()
    await Promise.all(running)
    await producer.disconnect()
    await admin.deleteTopics({ topics: [topic] })
    await admin.disconnect()
  })
  return {
    topic,
    admin,
    producer,
    start(take: (messages: readonly Received[]) => Promise<void>) {
      const consumer = kafkaConsumer({ brokers: [address], topic, sessionTimeoutMs: 6_000 })
      const takeAll: Take = async (messages) => {
        await take(messages)
        return messages.map(() => 'taken')
      }
      running.push(consumer.consume(takeAll, stopping.signal))
      return consumer
    },
    async sendToEach(count: number) {
      const messages = Array.from({ length: count }, (_, partition) => ({ partition, value: '{}' }))
      await producer.send({ topic, acks: -1, messages })
    },
  }
}

test('the lag of a process leaves out partitions that another process has now', { skip }, async (t) => {
  const { start, sendToEach } = await openTopic(t, partitions)
  let taken = 0
  const count = async ({ length }: readonly Received[]): Promise<void> => {
    taken += length
  }

  // The first process has all partitions and stores their messages when the second process has taken over half of them.
  const released = Promise.withResolvers<void>()
  let held = 0
  const first = start(async (messages) => {
    held += messages.length
    await released.promise
    await count(messages)
  })
  await until(() => first.status?.().state === 'consuming', { ...slow, awaited: 'the first process consumes' })
  await sendToEach(partitions)
  await until(() => held > 0, { ...slow, awaited: 'the first process has messages' })
  const second = start(count)
  await until(async () => (await second.readLag?.()) !== undefined && taken > 0, {
    ...slow,
    awaited: 'the second process has partitions',
  })
  released.resolve()
  await until(() => taken >= partitions, { ...slow, awaited: 'the messages are stored' })

  // The first process may still have a fetch in progress for all partitions: it receives the first of these messages too.
  for (let round = 0; round < 3; round++) {
    const before = taken
    await sendToEach(partitions)
    await until(() => taken >= before + partitions, { ...slow, awaited: 'the next messages are stored' })
  }
  for (const consumer of [first, second])
    await until(async () => (await consumer.readLag?.()) === 0, { ...slow, awaited: 'the lag is 0' })
})

test('partitions that a topic gets later are consumed', { skip }, async (t) => {
  const { topic, admin, start, sendToEach } = await openTopic(t, 1, { metadataMaxAge: 0 })
  const received: string[] = []
  start(async (messages) => void received.push(...messages.map(({ from }) => from)))
  await sendToEach(1)
  await until(() => received.length === 1, { ...slow, awaited: 'the first partition is consumed' })
  await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] })
  await until(async () => (await admin.fetchTopicOffsets(topic)).length === 2, { awaited: 'the partition exists' })
  await sendToEach(2)
  const second = `kafka ${topic}/1 at 0`
  await until(() => received.includes(second), { ...slow, awaited: 'the second partition is consumed' })
})

test('the messages of aborted transactions are not received', { skip }, async (t) => {
  const transactional = { transactionalId: randomUUID(), idempotent: true, maxInFlightRequests: 1 }
  const { topic, producer, start } = await openTopic(t, 1, transactional)
  const send = async (end: 'commit' | 'abort', values: readonly string[]): Promise<void> => {
    const transaction = await producer.transaction()
    for (const value of values) await transaction.send({ topic, acks: -1, messages: [{ value }] })
    await transaction[end]()
  }

  await send('abort', ['aborted'])
  await send('commit', ['first'])
  // The end of this transaction is in a later fetch than its beginning: a fetch has 8 MiB.
  await send('abort', new Array(12).fill('aborted '.repeat(125_000)))
  await send('commit', ['second'])
  await send('abort', ['aborted'])
  await send('commit', ['last'])
  const received: string[] = []
  start(
    async (messages) => void received.push(...messages.map(({ body }) => Buffer.from(body).toString().slice(0, 10))),
  )
  await until(() => received.includes('last'), { ...slow, awaited: 'the last message is received' })
  assert.deepEqual(received, ['first', 'second', 'last'])
})
