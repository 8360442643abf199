// Consuming from a streaming platform (§4.3 rule 2).

import type { Consumer, Message, MessagesStream } from '@platformatic/kafka'
import { deviceMessageTypeName } from '../../contract/endpoints.ts'
import { atMost, within } from '../../runtime/within.ts'
import type { DeviceConsumer, Received, Take } from '../device-channel.ts'
import { sessions, takeAll } from './hold.ts'
import { clientOptions, type KafkaAddress } from './kafka-address.ts'
import { loadKafka } from './kafka-client.ts'
import { messageOf } from './reasons.ts'

export interface KafkaConsumerOptions extends KafkaAddress {
  readonly topic: string
  /**
   * Each group gets every message once; processes of one platform share a group. No other topic may be in it: the client
   * gives members partitions of topics that they did not ask for, and nobody consumes theirs. bellwire.TOPIC
   */
  readonly group?: string
  /** Create the topic, with the brokers' defaults, where it is missing. Otherwise it must be there. true */
  readonly declare?: boolean
  /** Most messages in one commit to the store. 500 */
  readonly most?: number
  /** The brokers take a process for dead when they have not heard of it for so long. 10,000 */
  readonly sessionTimeoutMs?: number
}

/** How long joining a group may take: others must answer too. */
const openWithinMs = 20_000
/** Most bytes that the brokers send us at once; one message may be larger. */
const mostBytes = 8 * 1024 * 1024

/**
 * Offsets are committed only for what was taken, so that a message is never passed over: whoever gets a partition next
 * begins with what was not. Some messages come twice; they say nothing new.
 *
 * @example
 * const consumer = kafkaConsumer({ brokers: ['kafka-1:9092'], topic: 'device-links.1' })
 * await consumer.consume(intake.take, stopping)
 */
export function kafkaConsumer(options: KafkaConsumerOptions): DeviceConsumer {
  const { topic, group = `bellwire.${topic}`, declare = true, most = 500, sessionTimeoutMs = 10_000 } = options
  const name = `kafka ${topic}`
  const { Consumer } = loadKafka()

  async function session(take: Take, signal: AbortSignal, established: () => void): Promise<void> {
    if (declare) await within(openWithinMs, createTopic(options, topic))
    const consumer = new Consumer<Buffer, Buffer, string, Buffer>({
      ...clientOptions(options, 'bellwire'),
      groupId: group,
      // A session that failed is followed by another. The client's own retries would let a commit join the group again, as a
      // member that asks for no topic, perhaps as the one who decides who gets what: nobody would get anything.
      retries: 0,
      deserializers: { headerKey: (name) => name?.toString() ?? '' },
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: Math.max(sessionTimeoutMs, 10_000),
      heartbeatInterval: Math.ceil(sessionTimeoutMs / 5),
      heartbeatStallTimeout: 3 * sessionTimeoutMs,
    })
    // A member that cannot join again says so, and is silent from then on.
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => {})
    consumer.on('error', lost.reject)
    consumer.on('consumer:heartbeat:stalled', () => lost.reject(new Error('the group does not hear us')))
    let stream: MessagesStream<Buffer, Buffer, string, Buffer> | undefined
    try {
      const opened = consumer.consume({
        topics: [topic],
        mode: 'committed',
        fallbackMode: 'earliest',
        autocommit: false,
        maxWaitTime: 1_000,
        maxBytes: mostBytes,
        highWaterMark: most,
      })
      stream = await within(openWithinMs, Promise.race([opened, lost.promise]))
      established()
      await drain(stream, take, signal, lost.promise)
    } finally {
      stream?.destroy()
      await atMost(3_000, closeAtLast(consumer))
    }
  }

  async function drain(
    stream: MessagesStream<Buffer, Buffer, string, Buffer>,
    take: Take,
    signal: AbortSignal,
    membership: Promise<never>,
  ): Promise<void> {
    let lost: Error | undefined
    let wake = (): void => {}
    const lose = (error: Error): void => {
      lost ??= error
      wake()
    }
    const stop = (): void => wake()
    membership.catch(lose)
    stream.on('error', lose)
    stream.on('close', () => lose(new Error('the stream ended')))
    stream.on('readable', stop)
    signal.addEventListener('abort', stop)
    let committed: Promise<void> = Promise.resolve()
    try {
      while (!lost && !signal.aborted) {
        const batch = readSome(stream, most)
        if (batch.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve
            if (lost || signal.aborted || stream.readableLength > 0) resolve()
          })
          continue
        }
        if (!(await takeAll(name, take, batch.map(received), signal))) break
        // The next is taken meanwhile: a commit covers all before it.
        await committed
        committed = commit(batch)
        committed.catch(lose)
      }
      if (lost && !signal.aborted) throw lost
      await atMost(3_000, committed)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  return {
    name,
    consume: (take, signal) => sessions(name, signal, (established) => session(take, signal, established)),
  }
}

/** A consumer that could not leave its group is still in it, and would keep partitions from others. */
async function closeAtLast(consumer: Consumer<Buffer, Buffer, string, Buffer>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await within(5_000, consumer.close(true))
    } catch (error) {
      if (attempt === 10) throw error
      await new Promise((resolve) => setTimeout(resolve, 500).unref())
    }
  }
}

type Arrived = Message<Buffer, Buffer, string, Buffer>

function readSome(stream: MessagesStream<Buffer, Buffer, string, Buffer>, most: number): Arrived[] {
  const batch: Arrived[] = []
  while (batch.length < most) {
    const message = stream.read() as Arrived | null
    if (message === null) break
    batch.push(message)
  }
  return batch
}

/** The greatest offset of each partition: after a rebalance, earlier messages may come again behind later ones. */
async function commit(batch: readonly Arrived[]): Promise<void> {
  const last = new Map<number, Arrived>()
  for (const message of batch) {
    const before = last.get(message.partition)
    if (!before || message.offset > before.offset) last.set(message.partition, message)
  }
  await Promise.all([...last.values()].map((message) => message.commit()))
}

function received({ value, headerEntries, topic, partition, offset }: Arrived): Received {
  // A header that is there twice counts as it was written last, as Kafka's own lookup has it.
  const type = headerEntries.findLast(([name]) => name === deviceMessageTypeName)?.[1]
  return {
    type: type?.toString(),
    // A message without a value is an empty one.
    body: value ?? Buffer.alloc(0),
    from: `kafka ${topic}/${partition} at ${offset}`,
  }
}

async function createTopic(address: KafkaAddress, topic: string): Promise<void> {
  const { Admin, findErrorBy } = loadKafka()
  const admin = new Admin({ ...clientOptions(address, 'bellwire'), retries: 1 })
  admin.on('error', () => {})
  try {
    if ((await admin.listTopics()).includes(topic)) return
    await admin.createTopics({ topics: [topic], partitions: -1, replicas: -1 })
  } catch (error) {
    if (findErrorBy(error as Error, 'apiId', 'TOPIC_ALREADY_EXISTS') !== null) return
    if (findErrorBy(error as Error, 'apiId', 'TOPIC_AUTHORIZATION_FAILED') === null) throw error
    throw new Error(`the topic ${topic} cannot be created (${messageOf(error)}): create it, or set declare: false`)
  } finally {
    await atMost(2_000, admin.close())
  }
}
