// Device links over a broker, through our channels or a bare loop of the same client library. argv: subject or bare, amqp or
// kafka, the broker's address, the name of the queue or topic, a store's URL.

import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { Consumer, Producer, stringSerializers } from '@platformatic/kafka'
import { Connection } from 'rabbitmq-client'
import { amqpConsumer } from '../../src/base/brokers/amqp-consumer.ts'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { DeviceEvent } from '../../src/subjects/devices/device-event.ts'
import { createLinkIntake } from '../../src/subjects/devices/link-intake.ts'
import { createDeviceOutbox } from '../../src/subjects/devices/outbox.ts'
import { amqpPublisher } from '../../src/subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../src/subjects/devices/publishers/kafka-publisher.ts'
import { createRegistry, deviceMigrations, type Registry } from '../../src/subjects/devices/registry.ts'
import { handleCalls } from '../harness/handle-calls.ts'

const [role = '', channel = '', address = '', name = '', store = ''] = process.argv.slice(2)
const database = await openDatabase(store, { migrations: [...deviceMigrations, ...queueMigrations] })
const queue = createQueue(database)
const batchSize = 1_000
let next = 0

function eventOf(n: number): DeviceEvent & { readonly at: string } {
  const token = tokenOf(n)
  const at = new Date(Date.UTC(2026, 0, 1) + n).toISOString().slice(0, -1)
  const of = { what: 'link', brand: '1', userId: String(1_000 + (n % 5_000)), id: `device ${n}`, token } as const
  return {
    ...of,
    kind: 'fcm_token',
    app: '',
    environment: '',
    channel: 'android',
    origin: 'bench',
    at,
    skipPublishing: false,
  }
}

/** As long as a token of FCM and in random order, so that an index of tokens is written at random positions. */
function tokenOf(n: number): string {
  const random = createHash('sha512').update(String(n)).digest('base64url')
  return `${random.slice(0, 22)}:APA91b${random}${random.slice(0, 48)}`
}

function bodyOf({ userId, token, at }: DeviceEvent): string {
  const tokens = [{ token, channel: 'android', provider: 'firebase' }]
  return JSON.stringify({ user_id: userId, tokens, timestamp: `${at}Z`, origin: 'bench' })
}

interface Publisher {
  publish(messages: readonly { readonly userId: string; readonly body: string }[]): Promise<unknown>
}

/** Written like the library's documentation. AMQP: persistent, mandatory, confirmed. Kafka: idempotent, acknowledged by all. */
function barePublisher(): Publisher {
  if (channel === 'kafka') {
    const producer = new Producer({
      clientId: 'bare',
      bootstrapBrokers: [address],
      serializers: stringSerializers,
      idempotent: true,
      retries: 3,
      autocreateTopics: true,
    })
    const headers = { type: 'USER_DEVICE_LINK' }
    return {
      publish: (messages) =>
        producer.send({
          messages: messages.map(({ userId, body }) => ({ topic: name, key: userId, value: body, headers })),
          acks: -1,
        }),
    }
  }
  const publisher = new Connection(address).createPublisher({ confirm: true })
  const envelope = {
    routingKey: name,
    durable: true,
    mandatory: true,
    type: 'USER_DEVICE_LINK',
    contentType: 'application/json',
  }
  return {
    publish: (messages) =>
      Promise.all(
        messages.map(({ body }, i) => publisher.send({ ...envelope, messageId: `m${i}` }, Buffer.from(body))),
      ),
  }
}
const bare = barePublisher()

const bareStore = new DatabaseSync(role === 'bare' ? `${store.slice('sqlite:'.length)}.bare` : ':memory:')
bareStore.exec(`
  pragma journal_mode = wal; pragma synchronous = full;
  create table outbox (seq integer primary key, user_id text not null, body text not null);
  create table devices (token text primary key, user_id text not null, at text not null);
  create index devices_user on devices (user_id)`)
const upsert = bareStore.prepare(`
  insert into devices values (?, ?, ?)
  on conflict (token) do update set user_id = excluded.user_id, at = excluded.at where excluded.at > at`)

const ready: { userId: string; body: string }[] = []
function makeMessages(rows: number): void {
  for (let i = 0; i < rows; i++) {
    const event = eventOf(next++)
    ready.push({ userId: event.userId, body: bodyOf(event) })
  }
}

async function publishReady(): Promise<void> {
  for (let from = 0; from < ready.length; from += batchSize) await bare.publish(ready.slice(from, from + batchSize))
  ready.length = 0
}

const publishing = {
  subject: {
    /** Fills the outbox before its lane is served. */
    async fill(rows: number) {
      const waiting = createDeviceOutbox({ ...queue, serveLane: () => ({}) as never }, [
        { brand: '1', publisher: ours },
      ])
      for (let from = 0; from < rows; from += batchSize)
        await database.commit(waiting.publishOps(Array.from({ length: batchSize }, () => eventOf(next++))))
    },
    async publish(rows: number) {
      const done = allSettled(rows)
      const outbox = createDeviceOutbox(queue, [{ brand: '1', publisher: ours }])
      const began = performance.now()
      outbox.start()
      await done
      const seconds = (performance.now() - began) / 1000
      await outbox.stop()
      return seconds
    },
  },
  /** A minimal durable outbox: a table that is read in order; confirmed rows are deleted. */
  bare: {
    fill(rows: number) {
      makeMessages(rows)
      const insert = bareStore.prepare('insert into outbox (user_id, body) values (?, ?)')
      bareStore.exec('begin')
      for (const { userId, body } of ready) insert.run(userId, body)
      bareStore.exec('commit')
      ready.length = 0
    },
    async publish() {
      const select = bareStore.prepare('select seq, user_id as userId, body from outbox order by seq limit ?')
      const remove = bareStore.prepare('delete from outbox where seq <= ?')
      const began = performance.now()
      for (;;) {
        const rows = select.all(batchSize) as { seq: number; userId: string; body: string }[]
        const last = rows.at(-1)
        if (!last) return (performance.now() - began) / 1000
        await bare.publish(rows)
        remove.run(last.seq)
      }
    },
  },
}

const publisher =
  channel === 'amqp'
    ? amqpPublisher({ url: address, routingKey: name })
    : kafkaPublisher({ brokers: [address], topic: name })
/** Shared by all rounds, so it is never closed. */
const ours = { ...publisher, close: async () => {} }

function allSettled(rows: number): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    const off = on('item.settled', () => {
      if (++count < rows) return
      off()
      resolve()
    })
  })
}

/** Measures the time from the first message to the commit of the last. */
function stopwatch(rows: number) {
  const { promise: took, resolve } = Promise.withResolvers<number>()
  let began = 0
  let count = 0
  return {
    took,
    begin(): void {
      began ||= performance.now()
    },
    committed(more: number): void {
      count += more
      if (count >= rows) resolve((performance.now() - began) / 1000)
    },
  }
}

const consuming = {
  subject: async (rows: number) => {
    const { took, begin, committed } = stopwatch(rows)
    const registry = createRegistry({ database })
    const timed: Pick<Registry, 'storeEvents'> = {
      async storeEvents(events, also) {
        begin()
        const changes = await registry.storeEvents(events, also)
        committed(events.length)
        return changes
      },
    }
    const consumer =
      channel === 'amqp'
        ? amqpConsumer({ url: address, queue: name, declare: false, deadQueue: 'none' })
        : kafkaConsumer({ brokers: [address], topic: name })
    const links = createLinkIntake({ sources: [{ consumer, brands: '1' }], registryOf: () => timed, queue })
    links.start()
    const seconds = await took
    await links.stop()
    return seconds
  },
  bare: async (rows: number) => {
    const { took, begin, committed } = stopwatch(rows)
    const take = (links: readonly Link[]): void => {
      begin()
      storeLinks(links)
      committed(links.length)
    }
    const end = channel === 'amqp' ? bareAmqp(take) : await bareKafka(take)
    const seconds = await took
    await end()
    return seconds
  },
}

interface Link {
  readonly user_id: string
  readonly timestamp: string
  readonly tokens: readonly [{ readonly token: string }]
}

/** A minimal durable registry: the latest link of each token, with an index by user, one transaction for each batch. */
function storeLinks(links: readonly Link[]): void {
  bareStore.exec('begin')
  for (const { user_id, timestamp, tokens } of links) upsert.run(tokens[0].token, user_id, timestamp)
  bareStore.exec('commit')
}

/** The messages that arrive during a commit make the next one. The library acknowledges each message. */
function bareAmqp(take: (links: readonly Link[]) => void): () => Promise<void> {
  const connection = new Connection(address)
  let waiting: { link: Link; done: () => void }[] = []
  const flush = (): void => {
    const batch = waiting
    waiting = []
    take(batch.map(({ link }) => link))
    for (const { done } of batch) done()
  }
  const consumer = connection.createConsumer(
    { queue: name, queueOptions: { passive: true }, qos: { prefetchCount: 1_000 } },
    ({ body }) =>
      new Promise<void>((done) => {
        // The library parses bodies with the content type JSON.
        if (waiting.push({ link: body as Link, done }) === 1) setImmediate(flush)
      }),
  )
  return async () => {
    await consumer.close()
    await connection.close()
  }
}

async function bareKafka(take: (links: readonly Link[]) => void): Promise<() => Promise<void>> {
  const consumer = new Consumer({ clientId: 'bare', groupId: `bare.${name}`, bootstrapBrokers: [address] })
  const stream = await consumer.consume({
    topics: [name],
    mode: 'committed',
    fallbackMode: 'earliest',
    autocommit: false,
    maxWaitTime: 1_000,
  })
  const loop = async (): Promise<void> => {
    let batch: Link[] = []
    for await (const message of stream) {
      batch.push(JSON.parse((message.value as Buffer).toString()))
      if (batch.length < 500 && stream.readableLength > 0) continue
      const links = batch
      batch = []
      take(links)
      await message.commit()
    }
  }
  loop().catch(() => {})
  return async () => {
    await consumer.close(true)
  }
}

async function emptyQueue(): Promise<void> {
  if (channel !== 'amqp') return
  const connection = new Connection(address)
  await connection.queueDeclare({ queue: name, durable: true, arguments: { 'x-queue-type': 'quorum' } })
  await connection.queuePurge(name)
  await connection.close()
}

const side = role === 'subject' ? 'subject' : 'bare'
handleCalls({
  async fillOutbox(rows: number) {
    await emptyQueue()
    // Creates the topic.
    if (next === 0) await bare.publish([{ userId: '1', body: bodyOf(eventOf(next++)) }])
    await publishing[side].fill(rows)
    return 'filled'
  },
  publish: (rows: number) => publishing[side].publish(rows),
  async fillBroker(rows: number) {
    await emptyQueue()
    makeMessages(rows)
    await publishReady()
  },
  consume: (rows: number) => consuming[side](rows),
})
