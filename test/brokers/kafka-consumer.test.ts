import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { Kafka, logLevel } from 'kafkajs'
import type { Take } from '../../src/base/brokers/consumer.ts'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import { kafka, withoutKafka } from '../support/services/kafka.ts'
import { until } from '../support/wait.ts'

const partitions = 4
const slow = { withinMs: 45_000 }

test('the lag of a process leaves out partitions that another process has now', {
  skip: await withoutKafka(),
}, async (t) => {
  const address = await kafka()
  const topic = `lag-test-${randomUUID()}`
  const client = new Kafka({ clientId: 'foreign', brokers: [address], logLevel: logLevel.NOTHING })
  const admin = client.admin()
  const producer = client.producer({ allowAutoTopicCreation: false })
  await Promise.all([admin.connect(), producer.connect()])
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: partitions }] })
  const stopping = new AbortController()
  const running: Promise<void>[] = []
  t.after(async () => {
    stopping.abort()
    await Promise.all(running)
    await producer.disconnect()
    await admin.deleteTopics({ topics: [topic] })
    await admin.disconnect()
  })
  const sendToEach = async (): Promise<void> => {
    const messages = Array.from({ length: partitions }, (_, partition) => ({ partition, value: '{}' }))
    await producer.send({ topic, acks: -1, messages })
  }
  const start = (take: (received: number) => Promise<void>) => {
    const consumer = kafkaConsumer({ brokers: [address], topic, sessionTimeoutMs: 6_000 })
    const takeAll: Take = async (received) => {
      await take(received.length)
      return received.map(() => 'taken')
    }
    running.push(consumer.consume(takeAll, stopping.signal))
    return consumer
  }
  let taken = 0
  const count = async (received: number): Promise<void> => {
    taken += received
  }

  // The first process has all partitions and stores their messages when the second process has taken over half of them.
  const released = Promise.withResolvers<void>()
  let held = 0
  const first = start(async (received) => {
    held += received
    await released.promise
    await count(received)
  })
  await until(() => first.status?.().state === 'consuming', { ...slow, awaited: 'the first process consumes' })
  await sendToEach()
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
    await sendToEach()
    await until(() => taken >= before + partitions, { ...slow, awaited: 'the next messages are stored' })
  }
  for (const consumer of [first, second])
    await until(async () => (await consumer.readLag?.()) === 0, { ...slow, awaited: 'the lag is 0' })
})

test('the messages of aborted transactions are not received', { skip: await withoutKafka() }, async (t) => {
  const address = await kafka()
  const topic = `transactions-test-${randomUUID()}`
  const client = new Kafka({ clientId: 'foreign', brokers: [address], logLevel: logLevel.NOTHING })
  const admin = client.admin()
  const producer = client.producer({
    allowAutoTopicCreation: false,
    transactionalId: topic,
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await Promise.all([admin.connect(), producer.connect()])
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 1 }] })
  const stopping = new AbortController()
  let consuming = Promise.resolve()
  t.after(async () => {
    stopping.abort()
    await consuming
    await producer.disconnect()
    await admin.deleteTopics({ topics: [topic] })
    await admin.disconnect()
  })
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
  const take: Take = async (messages) => {
    received.push(...messages.map(({ body }) => Buffer.from(body).toString().slice(0, 10)))
    return messages.map(() => 'taken')
  }
  consuming = kafkaConsumer({ brokers: [address], topic, sessionTimeoutMs: 6_000 }).consume(take, stopping.signal)
  await until(() => received.includes('last'), { ...slow, awaited: 'the last message is received' })
  assert.deepEqual(received, ['first', 'second', 'last'])
})
