// Consuming from a message-queue broker (§4.3 rule 1). Headers are ignored; the type is a property.

import type { AsyncMessage, Channel } from 'rabbitmq-client'
import { atMost, within } from '../../runtime/within.ts'
import type { DeviceConsumer, Received, Take } from '../device-channel.ts'
import { type AmqpAddress, type AmqpConnection, connectAmqp, withBytes } from './amqp-connection.ts'
import { sessions, takeAll } from './hold.ts'

export interface AmqpConsumerOptions extends AmqpAddress {
  readonly queue: string
  /** Where the broker puts what it delivered too often; 'none': it is not for us to look at. QUEUE.dead */
  readonly deadQueue?: string | 'none'
  /** Declare both, as quorum queues. Otherwise they must be there. true */
  readonly declare?: boolean
  /** After so many deliveries that were not acknowledged a message goes to the dead queue. 20 */
  readonly deliveryLimit?: number
  /** Messages on their way to us at once; half of them at most in one commit, so that the others come meanwhile. 1,000 */
  readonly prefetch?: number
}

/** A broker that was cut off without a word is given up before its heartbeat is missed. */
const openWithinMs = 20_000
/** On the dead queue nothing is counted: a message that is tried alone has time. Old brokers take no -1 for it. */
const noLimit = 1_000_000_000

/**
 * Acknowledges what was taken, and only that. A consumer that is killed with its hands full makes the broker count a failed
 * delivery for each message, however good; after some of those the broker puts them aside as dead. So the dead queue is
 * consumed too, one message at a time: what is good is taken, and what is not is parked like any other.
 *
 * @example
 * const consumer = amqpConsumer({ url: 'amqp://bellwire:secret@broker/', queue: 'device-links.1' })
 * await consumer.consume(intake.take, stopping)
 */
export function amqpConsumer(options: AmqpConsumerOptions): DeviceConsumer {
  const { queue, deadQueue = `${queue}.dead`, prefetch = 1_000 } = options
  const name = `amqp ${queue}`
  return {
    name,
    async consume(take, signal) {
      // What happens to the connection ends its channels, and with them a session.
      const connected = connectAmqp(options, name)
      const wanted: Reading[] = [{ queue, prefetch, name }]
      if (deadQueue !== 'none') wanted.push({ queue: deadQueue, prefetch: 1, name: `amqp ${deadQueue}` })
      await Promise.all(
        wanted.map((reading) =>
          sessions(reading.name, signal, (established) =>
            session({
              connected,
              reading,
              take,
              signal,
              established,
              prepare: (channel) => prepare(channel, options),
            }),
          ),
        ),
      )
      await atMost(1_000, connected.connection.close())
      connected.connection.unsafeDestroy()
    },
  }
}

interface Reading {
  readonly queue: string
  readonly prefetch: number
  readonly name: string
}

interface Session {
  readonly connected: AmqpConnection
  readonly reading: Reading
  readonly take: Take
  readonly signal: AbortSignal
  readonly established: () => void
  readonly prepare: (channel: Channel) => Promise<void>
}

/** From opening a channel to losing it, or to the end. Rejects where it was lost. */
async function session({ connected, reading, take, signal, established, prepare }: Session): Promise<void> {
  const { queue, prefetch, name } = reading
  const channel = withBytes(await within(openWithinMs, connected.acquire()))
  const arrived: AsyncMessage[] = []
  let lost: Error | undefined
  let wake = (): void => {}
  const lose = (error: Error): void => {
    lost ??= error
    wake()
  }
  channel.on('error', lose)
  channel.on('basic.cancel', () => lose(new Error(`the queue ${queue} is gone`)))
  channel.once('close', () => lose(new Error('the connection was lost')))
  const stop = (): void => wake()
  signal.addEventListener('abort', stop)
  try {
    const opening = async (): Promise<void> => {
      await prepare(channel)
      await channel.basicQos({ prefetchCount: prefetch })
      await channel.basicConsume({ queue }, (message) => {
        if (arrived.push(message) === 1) wake()
      })
    }
    await within(openWithinMs, opening())
    established()
    while (!lost && !signal.aborted) {
      if (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (lost || signal.aborted) resolve()
        })
        // What came in one go is taken in one go.
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      const batch = arrived.splice(0, Math.ceil(prefetch / 2))
      if (
        !(await takeAll(
          name,
          take,
          batch.map((message) => received(message, name)),
          signal,
        ))
      )
        break
      // Lost meanwhile: they come again, and say nothing new.
      if (!lost) channel.basicAck({ deliveryTag: (batch.at(-1) as AsyncMessage).deliveryTag, multiple: true })
    }
    if (lost && !signal.aborted) throw lost
  } finally {
    signal.removeEventListener('abort', stop)
    await atMost(1_000, channel.close())
  }
}

function received({ type, body }: AsyncMessage, from: string): Received {
  return { type, body: body as Buffer, from }
}

async function prepare(channel: Channel, options: AmqpConsumerOptions): Promise<void> {
  const { queue, deadQueue = `${queue}.dead`, declare = true, deliveryLimit = 20 } = options
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
      // Not lost between the two queues, which asks for this overflow.
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    } as const
    await channel.queueDeclare({
      queue,
      durable: true,
      // Without a dead queue the broker would throw away what it delivered too often.
      arguments: deadQueue === 'none' ? { ...quorum, 'x-delivery-limit': noLimit } : { ...quorum, ...dead },
    })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code !== 'PRECONDITION_FAILED') throw error
    throw new Error(`${message}: the queue is there with other arguments; set declare: false to take it as it is`)
  }
}
