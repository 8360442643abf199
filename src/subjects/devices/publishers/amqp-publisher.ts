// Publishes device links to a message-queue broker (§4.3 rule 1). The type is a message property, never a header.

import type { Channel, ReturnedMessage } from 'rabbitmq-client'
import { type AmqpAddress, type AmqpConnection, connectAmqp } from '../../../base/brokers/amqp-connection.ts'
import { messageOf } from '../../../base/brokers/reasons.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { atMost, unlessLate, within } from '../../../base/runtime/within.ts'
import { deviceMessageType } from '../../../contract/endpoints.ts'
import type { Fatal, Outcome } from '../../../contract/outcome.ts'
import { shortened } from '../../../contract/storable.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-publisher.ts'

export interface AmqpPublisherOptions extends AmqpAddress {
  /** Default: '', the broker's default exchange, where the routing key is the name of a queue. */
  readonly exchange?: string
  readonly routingKey: string
  /** Headers of each message. The platform ignores them (§4.3 rule 1). Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Publishes persistent, mandatory messages and waits for the broker's confirmations. It declares nothing, because queues,
 * exchanges and bindings belong to the platform. An unroutable or unconfirmed message is fatal.
 *
 * @example amqpPublisher({ url: 'amqp://bellwire:secret@broker/', routingKey: 'device-links.1' })
 */
export function amqpPublisher({
  exchange = '',
  routingKey,
  headers,
  ...address
}: AmqpPublisherOptions): DevicePublisher {
  let open: Promise<Publishing> | undefined
  let connected: AmqpConnection | undefined

  /** Returns the open channel; after a failure, opens another. */
  function currentChannel(): Promise<Publishing> {
    if (open) return open
    const opening = openChannel(() => forgetChannel(opening))
    opening.catch(() => forgetChannel(opening))
    open = opening
    return opening
  }

  function forgetChannel(opening: Promise<Publishing>): void {
    if (open === opening) open = undefined
  }

  async function openChannel(onClose: () => void): Promise<Publishing> {
    connected ??= connectAmqp(address, `publisher of ${exchange || routingKey}`)
    const channel = await connected.acquire()
    const returned = new Map<string, string>()
    channel.on('error', () => {})
    channel.on('basic.return', (message: ReturnedMessage) => {
      if (message.messageId !== undefined) returned.set(message.messageId, `${message.replyCode} ${message.replyText}`)
    })
    channel.once('close', onClose)
    await channel.confirmSelect()
    return { channel, returned }
  }

  /** Closes the connection to a silent broker, because a new connection fails sooner than the old one. */
  function dropConnection(): void {
    connected?.connection.unsafeDestroy()
    connected = undefined
    open = undefined
  }

  function sendMessage(channel: Channel, { id, what, body }: DeviceMessage): Promise<void> {
    const type = deviceMessageType[what]
    const properties = { type, messageId: id, contentType: 'application/json', durable: true, mandatory: true }
    const envelope = { ...properties, exchange, routingKey, ...(headers && { headers }) }
    return channel.basicPublish(envelope, Buffer.from(body))
  }

  return {
    name: 'amqp',
    max: 1_000,
    // Several calls, so that the next messages are sent while the store commits confirmed ones. No user is in two calls.
    concurrency: 3,

    async publish(messages, { deadline, signal }) {
      let current: Publishing
      const opening = currentChannel()
      try {
        current = await within(Math.max(1, deadline - clock.now()), opening)
      } catch (error) {
        if (open === opening) dropConnection()
        return messages.map(() => brokerFailure(error, false))
      }
      const { channel, returned } = current
      const confirms = messages.map((message) => sendMessage(channel, message))
      const settled = await waitForConfirms(confirms, deadline, signal)
      // The client emits a returned message one turn of the event loop after its confirmation.
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
      if (settled.includes(undefined) && open === opening) dropConnection()
      const outcomes = settled.map((result, i): Outcome => {
        const { id } = messages[i] as DeviceMessage
        const refusal = returned.get(id)
        returned.delete(id)
        if (refusal !== undefined) return unroutable(refusal, exchange, routingKey)
        if (result === undefined) return brokerFailure(new Error('the broker did not confirm in time'), true)
        return result.status === 'fulfilled' ? accepted : brokerFailure(result.reason, true)
      })
      return inOrder(outcomes)
    },

    async close() {
      const channel = await open?.then(
        ({ channel }) => channel,
        () => undefined,
      )
      await atMost(
        1_000,
        Promise.resolve(channel?.close()).then(() => connected?.connection.close()),
      )
      dropConnection()
    },
  }
}

interface Publishing {
  readonly channel: Channel
  /** message id → why the broker returned the message. */
  readonly returned: Map<string, string>
}

/** Waits for the confirmations until the deadline. @returns the result of each; undefined: none by the deadline */
async function waitForConfirms(
  confirms: readonly Promise<void>[],
  deadline: number,
  signal: AbortSignal,
): Promise<readonly (PromiseSettledResult<void> | undefined)[]> {
  const settled = new Array<PromiseSettledResult<void> | undefined>(confirms.length).fill(undefined)
  const all = confirms.map(async (confirm, i) => {
    const [result] = await Promise.allSettled([confirm])
    settled[i] = result
  })
  await unlessLate(deadline - clock.now(), Promise.all(all), signal)
  return [...settled]
}

const accepted: Outcome = { category: 'successful', rule: 'amqp confirmed' }

function brokerFailure(error: unknown, written: boolean): Fatal {
  return {
    category: 'fatal',
    reason: /ACCESS_REFUSED/.test(messageOf(error)) ? 'misconfigured' : 'unavailable',
    blame: 'provider',
    rule: 'amqp not confirmed',
    error: shortened(`the broker did not accept the message: ${messageOf(error)}`),
    ...(written && { uncertain: true }),
  }
}

function unroutable(refusal: string, exchange: string, routingKey: string): Fatal {
  const target = exchange === '' ? `the queue ${routingKey}` : `a queue bound to ${exchange} with ${routingKey}`
  return {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'provider',
    rule: 'amqp returned',
    error: `the message reached no queue (${refusal}): create ${target}`,
  }
}
