// Consumes messages from a topic of a streaming platform (Kafka).

import type { Admin, Consumer, Message, MessagesStream } from '@platformatic/kafka'
import { deviceMessageTypeName } from '../../contract/endpoints.ts'
import { type Check, fails, passes } from '../runtime/check.ts'
import { clock } from '../runtime/clock.ts'
import { atMost, within } from '../runtime/within.ts'
import { type BrokerConsumer, mostTypeBytes, type Received, readTraceparent, type Take } from './consumer.ts'
import { createHold } from './hold.ts'
import { clientOptions, type KafkaAddress } from './kafka-address.ts'
import { loadKafka } from './kafka-client.ts'
import { dropAbortedMessages } from './kafka-transactions.ts'
import { messageOf } from './reasons.ts'

export interface KafkaConsumerOptions extends KafkaAddress {
  readonly topic: string
  /**
   * The consumer group, shared by the processes of one platform. Use it for this topic only: the client may assign a member
   * partitions of topics that it did not subscribe to, and these partitions are then not consumed. Default: bellwire.TOPIC.
   */
  readonly group?: string
  /** Create the topic with the brokers' defaults if it is missing. If false, it must exist. Default: true. */
  readonly declare?: boolean
  /** Most messages in one commit to the store. Default: 500. */
  readonly most?: number
  /** Kafka's session timeout: a process that sends no heartbeat for this long leaves the group. Default: 10,000. */
  readonly sessionTimeoutMs?: number
}

/** How long joining a group may take, which includes the answers of the other members. */
const joinTimeoutMs = 20_000
/** Most bytes in one fetch from one broker; a single message may be larger. */
const maxFetchBytes = 8 * 1024 * 1024
/** The next fetch starts when fewer messages than this are in memory. A message has at most max.message.bytes of its topic. */
const refetchBelow = 64

/**
 * Commits an offset only after its message is stored, so that no message is skipped: the next owner of a partition starts with
 * the first message that was not stored. Some messages are delivered twice, which has no effect.
 *
 * @example
 * const consumer = kafkaConsumer({ brokers: ['kafka-1:9092'], topic: 'device-links.1' })
 * await consumer.consume(intake.take, stopping)
 */
export function kafkaConsumer(options: KafkaConsumerOptions): BrokerConsumer {
  const { topic, group = `bellwire.${topic}`, declare = true, most = 500, sessionTimeoutMs = 10_000 } = options
  const name = `kafka ${topic}`
  const { Consumer } = loadKafka()
  const hold = createHold(name)
  let member: Consumer<Buffer, Buffer, string, Buffer> | undefined

  async function runSession(take: Take, signal: AbortSignal, established: () => void): Promise<void> {
    if (declare) await within(joinTimeoutMs, createTopic(options, topic))
    const consumer = new Consumer<Buffer, Buffer, string, Buffer>({
      ...clientOptions(options, 'bellwire'),
      groupId: group,
      // runSessions() starts a new session after a failure. The client's own retries would let a commit rejoin the group as a
      // member without topics. If that member became the group leader, it would assign no partitions at all.
      retries: 0,
      deserializers: { headerKey: (name) => name?.toString() ?? '' },
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: Math.max(sessionTimeoutMs, 10_000),
      heartbeatInterval: Math.ceil(sessionTimeoutMs / 5),
      heartbeatStallTimeout: 3 * sessionTimeoutMs,
    })
    dropAbortedMessages(consumer)
    // A member that cannot rejoin emits one error and no more events.
    const lost = Promise.withResolvers<never>()
    lost.promise.catch(() => {})
    consumer.on('error', lost.reject)
    consumer.on('consumer:heartbeat:stalled', () =>
      lost.reject(new Error('the group coordinator does not answer heartbeats')),
    )
    let stream: MessagesStream<Buffer, Buffer, string, Buffer> | undefined
    let watch: NodeJS.Timeout | undefined
    try {
      const opened = consumer.consume({
        topics: [topic],
        mode: 'committed',
        fallbackMode: 'earliest',
        autocommit: false,
        maxWaitTime: 1_000,
        maxBytes: maxFetchBytes,
        highWaterMark: refetchBelow,
      })
      stream = await within(joinTimeoutMs, Promise.race([opened, lost.promise]))
      member = consumer
      watch = watchPartitions(consumer, topic, sessionTimeoutMs, lost.reject)
      established()
      await consumeStream(stream, take, signal, lost.promise)
    } finally {
      member = undefined
      clock.clearInterval(watch)
      stream?.destroy()
      await atMost(3_000, closeWithRetries(consumer))
    }
  }

  async function consumeStream(
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
    stream.on('close', () => lose(new Error('the message stream was closed')))
    stream.on('readable', stop)
    signal.addEventListener('abort', stop)
    let committed: Promise<void> = Promise.resolve()
    try {
      while (!lost && !signal.aborted) {
        const batch = readBatch(stream, most)
        if (batch.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve
            if (lost || signal.aborted || stream.readableLength > 0) resolve()
          })
          continue
        }
        if (!(await hold.takeWithRetries(take, batch.map(toReceived), signal))) break
        // The offsets are committed while the next batch is stored; a commit covers all earlier offsets.
        await committed
        committed = commitOffsets(batch)
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
    consume: (take, signal) => hold.runSessions(signal, (established) => runSession(take, signal, established)),
    status: hold.status,
    async readLag() {
      const lags = (await member?.getLag({ topics: [topic] }))?.get(topic)
      // Only the partitions of this process count: the client keeps old offsets of partitions that another process has now.
      const own = member?.assignments?.find((assigned) => assigned.topic === topic)?.partitions ?? []
      return lags && own.reduce((sum, partition) => sum + Math.max(0, Number(lags[partition] ?? 0)), 0)
    },
    check: () => checkTopic(options),
  }
}

/** Calls `onChange` when the topic gets more partitions: the client does not consume them before it joins the group again. */
function watchPartitions(
  consumer: Consumer<Buffer, Buffer, string, Buffer>,
  topic: string,
  everyMs: number,
  onChange: (reason: Error) => void,
): NodeJS.Timeout {
  let before: number | undefined
  const compare = async (): Promise<void> => {
    const now = (await consumer.metadata({ topics: [topic] })).topics.get(topic)?.partitionsCount
    before ??= now
    if (now !== undefined && now !== before)
      onChange(new Error(`the topic ${topic} has ${now} partitions instead of ${before}`))
  }
  // While the broker is away, the stream and the heartbeats fail.
  const check = (): void => void compare().catch(() => {})
  check()
  return clock.setInterval(check, everyMs)
}

/** Retries, because a consumer that fails to leave its group keeps its partitions from other members. */
async function closeWithRetries(consumer: Consumer<Buffer, Buffer, string, Buffer>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await within(5_000, consumer.close(true))
    } catch (error) {
      if (attempt === 10) throw error
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 500).unref())
    }
  }
}

type KafkaMessage = Message<Buffer, Buffer, string, Buffer>

function readBatch(stream: MessagesStream<Buffer, Buffer, string, Buffer>, most: number): KafkaMessage[] {
  const batch: KafkaMessage[] = []
  while (batch.length < most) {
    const message = stream.read() as KafkaMessage | null
    if (message === null) break
    batch.push(message)
  }
  return batch
}

/** Commits the greatest offset of each partition. (After a rebalance, earlier messages may come again after later ones.) */
async function commitOffsets(batch: readonly KafkaMessage[]): Promise<void> {
  const last = new Map<number, KafkaMessage>()
  for (const message of batch) {
    const before = last.get(message.partition)
    if (!before || message.offset > before.offset) last.set(message.partition, message)
  }
  await Promise.all([...last.values()].map((message) => message.commit()))
}

function toReceived({ value, headerEntries, topic, partition, offset }: KafkaMessage): Received {
  // If a header is present twice, the last one counts, as in Kafka's own look-up (lastHeader).
  const header = (wanted: string) => headerEntries.findLast(([name]) => name === wanted)?.[1]
  return {
    type: header(deviceMessageTypeName)?.subarray(0, mostTypeBytes).toString(),
    ...readTraceparent(header('traceparent')),
    // A message without a value has an empty body.
    body: value ?? Buffer.alloc(0),
    from: `kafka ${topic}/${partition} at ${offset}`,
  }
}

async function createTopic(address: KafkaAddress, topic: string): Promise<void> {
  const { findErrorBy } = loadKafka()
  await withAdmin(address, async (admin) => {
    try {
      if ((await admin.listTopics()).includes(topic)) return
      await admin.createTopics({ topics: [topic], partitions: -1, replicas: -1 })
    } catch (error) {
      if (findErrorBy(error as Error, 'apiId', 'TOPIC_ALREADY_EXISTS') !== null) return
      if (findErrorBy(error as Error, 'apiId', 'TOPIC_AUTHORIZATION_FAILED') === null) throw error
      throw new Error(`the topic ${topic} cannot be created (${messageOf(error)}): create it, or set declare: false`)
    }
  })
}

async function checkTopic(options: KafkaConsumerOptions): Promise<readonly Check[]> {
  const { topic, declare = true } = options
  try {
    const topics = await withAdmin(options, (admin) => admin.listTopics())
    if (topics.includes(topic)) return [passes(`the topic ${topic} exists`)]
    if (declare) return [passes(`the topic ${topic} is created when the platform starts`)]
    return [fails(`no topic ${topic}`, 'create it, or set declare: true')]
  } catch (error) {
    return [fails(messageOf(error), 'check the address, the user and the password')]
  }
}

async function withAdmin<T>(address: KafkaAddress, work: (admin: Admin) => Promise<T>): Promise<T> {
  const { Admin } = loadKafka()
  const admin = new Admin({ ...clientOptions(address, 'bellwire'), retries: 1 })
  admin.on('error', () => {})
  try {
    return await work(admin)
  } finally {
    await atMost(2_000, admin.close())
  }
}
