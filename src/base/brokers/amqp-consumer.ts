// Consumes messages from a queue of a message-queue broker (AMQP 0-9-1).

import type { AsyncMessage, Channel } from 'rabbitmq-client'
import { type Check, fails, passes } from '../runtime/check.ts'
import { atMost, within } from '../runtime/within.ts'
import { type AmqpAddress, type AmqpConnection, connectAmqp, deliverBytes } from './amqp-connection.ts'
import { type BrokerConsumer, mostTypeBytes, type Received, readTraceparent, type Take, truncate } from './consumer.ts'
import { createHold, type Hold } from './hold.ts'
import { messageOf } from './reasons.ts'

export interface AmqpConsumerOptions extends AmqpAddress {
  readonly queue: string
  /** The dead-letter queue, which is consumed too. 'none': it is not consumed. Default: QUEUE.dead. */
  readonly deadQueue?: string | 'none'
  /** Declare both as quorum queues. If false, they must exist. Default: true. */
  readonly declare?: boolean
  /** Unacknowledged deliveries of a message before the broker moves it to the dead-letter queue. Default: 20. */
  readonly deliveryLimit?: number
  /**
   * AMQP prefetch: the most unacknowledged messages. A batch has at most half of them, while the rest arrive. Each occupies at
   * most 1 MiB of memory. Default: 1,000.
   */
  readonly prefetch?: number
}

/** Gives up on a broker that became silently unreachable, before its heartbeat times out. */
const openTimeoutMs = 20_000
const defaultDeliveryLimit = 20
/** No delivery limit on the dead-letter queue, where messages are tried one at a time. (Old brokers reject -1.) */
const noLimit = 1_000_000_000

/**
 * Acknowledges a message only after it is stored. When a consumer is killed, the broker counts a failed delivery for each
 * message that it had prefetched, and after several of them dead-letters valid messages too. So the dead-letter queue is also
 * consumed, one message at a time: valid messages are stored, and the others are parked as usual.
 *
 * @example
 * const consumer = amqpConsumer({ url: 'amqp://bellwire:secret@broker/', queue: 'device-links.1' })
 * await consumer.consume(take, stopping)
 */
export function amqpConsumer(options: AmqpConsumerOptions): BrokerConsumer {
  const { queue, deadQueue = `${queue}.dead`, deliveryLimit = defaultDeliveryLimit, prefetch = 1_000 } = options
  const name = `amqp ${queue}`
  const subscriptions = [{ queue, prefetch, name }]
  if (deadQueue !== 'none') subscriptions.push({ queue: deadQueue, prefetch: 1, name: `amqp ${deadQueue}` })
  const consumed = subscriptions.map((each) => ({ ...each, deliveryLimit, hold: createHold(each.name) }))
  const channels = new Map<string, Channel>()

  return {
    name,
    async consume(take, signal) {
      // An error of the connection closes its channels, which ends the sessions.
      const connected = connectAmqp(options, name)
      await Promise.all(
        consumed.map((subscription) =>
          subscription.hold.runSessions(signal, (established) =>
            runSession({
              connected,
              subscription,
              take,
              signal,
              declareQueues: (channel) => declareQueues(channel, options),
              established(channel) {
                channels.set(subscription.queue, channel)
                established()
              },
            }),
          ),
        ),
      )
      await atMost(1_000, connected.connection.close())
      connected.connection.unsafeDestroy()
    },
    status() {
      const all = consumed.map(({ hold }) => hold.status())
      return all.find(({ state }) => state !== 'consuming') ?? (all[0] as ReturnType<Hold['status']>)
    },
    async readLag() {
      const channel = channels.get(queue)
      if (channel?.active !== true) return undefined
      const { messageCount } = await channel.queueDeclare({ queue, passive: true })
      return messageCount
    },
    check: () => checkQueue(options),
  }
}

interface Subscription {
  readonly queue: string
  readonly prefetch: number
  readonly name: string
  readonly deliveryLimit: number
  readonly hold: Hold
}

interface Session {
  readonly connected: AmqpConnection
  readonly subscription: Subscription
  readonly take: Take
  readonly signal: AbortSignal
  readonly established: (channel: Channel) => void
  readonly declareQueues: (channel: Channel) => Promise<void>
}

/** Opens a channel and consumes until the signal aborts. Rejects if the channel is lost. */
async function runSession({
  connected,
  subscription,
  take,
  signal,
  established,
  declareQueues,
}: Session): Promise<void> {
  const { queue, prefetch, hold } = subscription
  const channel = deliverBytes(await within(openTimeoutMs, connected.acquire()))
  const arrived: Arrived[] = []
  let lost: Error | undefined
  let wake = (): void => {}
  const lose = (error: Error): void => {
    lost ??= error
    wake()
  }
  channel.on('error', lose)
  channel.on('basic.cancel', () => lose(new Error(`the queue ${queue} was deleted`)))
  channel.once('close', () => lose(new Error('the connection to the broker was lost')))
  const stop = (): void => wake()
  signal.addEventListener('abort', stop)
  try {
    const opening = async (): Promise<void> => {
      await declareQueues(channel)
      await channel.basicQos({ prefetchCount: prefetch })
      await channel.basicConsume({ queue }, (message) => {
        if (arrived.push(toArrived(message, subscription)) === 1) wake()
      })
    }
    await within(openTimeoutMs, opening())
    established(channel)
    while (!lost && !signal.aborted) {
      if (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (lost || signal.aborted) resolve()
        })
        // Collects the messages of one socket read into one batch.
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      const batch = arrived.splice(0, Math.ceil(prefetch / 2))
      const received = batch.map(({ message }) => message)
      if (!(await hold.takeWithRetries(take, received, signal))) break
      // If the channel was lost meanwhile, the messages are delivered again, which has no effect.
      if (!lost) channel.basicAck({ deliveryTag: (batch.at(-1) as Arrived).deliveryTag, multiple: true })
    }
    if (lost && !signal.aborted) throw lost
  } finally {
    signal.removeEventListener('abort', stop)
    await atMost(1_000, channel.close())
  }
}

interface Arrived {
  readonly deliveryTag: number
  readonly message: Received
}

/** Drops everything that is not needed, so that a waiting message occupies little memory. */
function toArrived(
  { deliveryTag, type, contentEncoding, headers = {}, body }: AsyncMessage,
  { name, deliveryLimit }: Subscription,
): Arrived {
  const failedDeliveries = Number(headers['x-delivery-count'] ?? 0)
  const message = {
    type: type?.slice(0, mostTypeBytes),
    ...readTraceparent(headers.traceparent),
    body: body as Buffer,
    ...(contentEncoding && { encoding: contentEncoding.slice(0, mostTypeBytes) }),
    from: name,
    ...(failedDeliveries > deliveryLimit && { failedDeliveries }),
  }
  return { deliveryTag, message: truncate(message) }
}

async function declareQueues(channel: Channel, options: AmqpConsumerOptions): Promise<void> {
  const { queue, deadQueue = `${queue}.dead`, declare = true, deliveryLimit = defaultDeliveryLimit } = options
  if (!declare) return
  const quorum = { 'x-queue-type': 'quorum' } as const
  try {
    if (deadQueue !== 'none')
      await channel.queueDeclare({
        queue: deadQueue,
        durable: true,
        arguments: { ...quorum, 'x-delivery-limit': noLimit },
      })
    const dead = {
      'x-delivery-limit': deliveryLimit,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': deadQueue,
      // Dead-lettering without loss, which requires the overflow policy below.
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    } as const
    await channel.queueDeclare({
      queue,
      durable: true,
      // No limit without a dead-letter queue, because the broker would drop messages beyond it.
      arguments: deadQueue === 'none' ? { ...quorum, 'x-delivery-limit': noLimit } : { ...quorum, ...dead },
    })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== 'PRECONDITION_FAILED') throw error
    throw new Error(`${message}: the queue exists with other arguments; set declare: false to use it as it is`)
  }
}

async function checkQueue(options: AmqpConsumerOptions): Promise<readonly Check[]> {
  const { queue, declare = true } = options
  const { connection, acquire } = connectAmqp(options, 'doctor')
  try {
    const channel = await acquire()
    const { messageCount, consumerCount } = await channel.queueDeclare({ queue, passive: true })
    const description = `the queue ${queue} has ${messageCount} waiting messages and ${consumerCount} consumers`
    return [passes(description)]
  } catch (error) {
    const missing = (error as { code?: string }).code === 'NOT_FOUND'
    if (missing && declare) return [passes(`the queue ${queue} is declared when the platform starts`)]
    const remedy = missing ? 'declare it, or set declare: true' : 'check the address, the user and the password'
    return [fails(messageOf(error), remedy)]
  } finally {
    connection.unsafeDestroy()
  }
}
