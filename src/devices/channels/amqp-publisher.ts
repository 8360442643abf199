// Publishing to a message-queue broker (§4.3 rule 1): the type is a property of the message, never a header.

import type { Channel, ReturnedMessage } from 'rabbitmq-client'
import { deviceMessageType } from '../../contract/endpoints.ts'
import type { Fatal, Outcome } from '../../contract/outcome.ts'
import { shortened } from '../../contract/storable.ts'
import { atMost, within } from '../../runtime/within.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-channel.ts'
import { type AmqpAddress, type AmqpConnection, connectAmqp } from './amqp-connection.ts'
import { messageOf } from './reasons.ts'

export interface AmqpPublisherOptions extends AmqpAddress {
  /** '' is the broker's default exchange: the routing key is then the name of a queue. */
  readonly exchange?: string
  readonly routingKey: string
}

/**
 * Persistent, mandatory, confirmed; declares nothing: queues, exchanges and bindings are the platform's. A message that no
 * queue took is fatal, as one that was not confirmed.
 *
 * @example amqpPublisher({ url: 'amqp://bellwire:secret@broker/', routingKey: 'device-links.1' })
 */
export function amqpPublisher({ exchange = '', routingKey, ...address }: AmqpPublisherOptions): DevicePublisher {
  let open: Promise<Publishing> | undefined
  let connected: AmqpConnection | undefined

  /** One channel until it fails; then another. */
  function publishing(): Promise<Publishing> {
    if (open) return open
    const opening = openChannel(() => forget(opening))
    opening.catch(() => forget(opening))
    open = opening
    return opening
  }

  function forget(opening: Promise<Publishing>): void {
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

  /** A broker that is silent, or cut off without a word: another connection finds out sooner. */
  function drop(): void {
    connected?.connection.unsafeDestroy()
    connected = undefined
    open = undefined
  }

  function send(channel: Channel, { id, what, body }: DeviceMessage): Promise<void> {
    const type = deviceMessageType[what]
    const properties = { type, messageId: id, contentType: 'application/json', durable: true, mandatory: true }
    return channel.basicPublish({ ...properties, exchange, routingKey }, Buffer.from(body))
  }

  return {
    name: 'amqp',
    max: 1_000,
    // The wire is not idle while the store takes what was confirmed; a user is never in two calls.
    concurrency: 3,

    async publish(messages, { deadline, signal }) {
      let current: Publishing
      const opening = publishing()
      try {
        current = await within(Math.max(1, deadline - Date.now()), opening)
      } catch (error) {
        if (open === opening) drop()
        return messages.map(() => away(error, false))
      }
      const { channel, returned } = current
      const confirms = messages.map((message) => send(channel, message))
      const settled = await confirmed(confirms, deadline, signal)
      // Returns are told a turn after the confirmation that they come with.
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
      if (settled.includes(undefined) && open === opening) drop()
      const outcomes = settled.map((result, i): Outcome => {
        const { id } = messages[i] as DeviceMessage
        const refusal = returned.get(id)
        returned.delete(id)
        if (refusal !== undefined) return unroutable(refusal, exchange, routingKey)
        if (result === undefined) return away(new Error('the broker did not confirm in time'), true)
        return result.status === 'fulfilled' ? accepted : away(result.reason, true)
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
      drop()
    },
  }
}

interface Publishing {
  readonly channel: Channel
  /** By message id: why the broker gave it back. */
  readonly returned: Map<string, string>
}

/** How each ended; undefined: it had not by the deadline. */
async function confirmed(
  confirms: readonly Promise<void>[],
  deadline: number,
  signal: AbortSignal,
): Promise<readonly (PromiseSettledResult<void> | undefined)[]> {
  const settled = new Array<PromiseSettledResult<void> | undefined>(confirms.length).fill(undefined)
  const all = confirms.map(async (confirm, i) => {
    const [result] = await Promise.allSettled([confirm])
    settled[i] = result
  })
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, Math.max(0, deadline - Date.now()))
  const abort = (): void => late.resolve()
  signal.addEventListener('abort', abort)
  await Promise.race([Promise.all(all), late.promise])
  clearTimeout(timer)
  signal.removeEventListener('abort', abort)
  return [...settled]
}

const accepted: Outcome = { category: 'successful', rule: 'amqp confirmed' }

function away(error: unknown, written: boolean): Fatal {
  return {
    category: 'fatal',
    reason: /ACCESS_REFUSED/.test(messageOf(error)) ? 'misconfigured' : 'unavailable',
    blame: 'provider',
    rule: 'amqp not confirmed',
    error: shortened(`the broker did not take it: ${messageOf(error)}`),
    ...(written && { uncertain: true }),
  }
}

function unroutable(refusal: string, exchange: string, routingKey: string): Fatal {
  const where = exchange === '' ? `the queue ${routingKey}` : `a queue bound to ${exchange} for ${routingKey}`
  return {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'provider',
    rule: 'amqp returned',
    error: `no queue took it (${refusal}): ${where} must exist before anything can be published to it`,
  }
}
