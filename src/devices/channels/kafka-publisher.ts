// Publishing to a streaming platform (§4.3 rule 2): the type is a header, the key is the user, so that what belongs to one
// user is in one partition, in order.

import { deviceMessageType, deviceMessageTypeName } from '../../contract/endpoints.ts'
import type { Failed, Fatal, Outcome } from '../../contract/outcome.ts'
import { shortened } from '../../contract/storable.ts'
import { atMost } from '../../runtime/within.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-channel.ts'
import { clientOptions, type KafkaAddress } from './kafka-address.ts'
import { loadKafka } from './kafka-client.ts'
import { messageOf } from './reasons.ts'

export interface KafkaPublisherOptions extends KafkaAddress {
  readonly topic: string
}

/** Brokers take about 1 MB at once (message.max.bytes), and a record needs some bytes more than its text. */
const mostBytes = 512 * 1024

/**
 * Acknowledged by all replicas, idempotent: what the client repeats by itself is written once.
 *
 * @example kafkaPublisher({ brokers: ['kafka-1:9092'], topic: 'device-links.1' })
 */
export function kafkaPublisher({ topic, ...address }: KafkaPublisherOptions): DevicePublisher {
  const { Producer, stringSerializers } = loadKafka()
  const producer = new Producer({
    ...clientOptions(address, 'bellwire'),
    serializers: stringSerializers,
    idempotent: true,
    retries: 3,
    autocreateTopics: false,
  })
  // What happens to connections shows in the outcomes.
  producer.on('error', () => {})

  async function send(messages: readonly DeviceMessage[]): Promise<void> {
    await producer.send({
      messages: messages.map(({ what, userId, body }) => ({
        topic,
        key: userId,
        value: body,
        headers: { [deviceMessageTypeName]: deviceMessageType[what] },
      })),
      acks: -1,
    })
  }

  /** One request after the other, until one fails. */
  async function sendAll(
    messages: readonly DeviceMessage[],
    deadline: number,
    signal: AbortSignal,
  ): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    const parts = chunks(messages)
    for (let part = parts.shift(); part; part = parts.shift()) {
      if (signal.aborted || Date.now() >= deadline) {
        outcomes.push(...part.map(() => away('not sent: no time was left', false)))
        continue
      }
      try {
        await sentBy(deadline, signal, send(part))
        outcomes.push(...part.map((): Outcome => ({ category: 'successful', rule: 'kafka acknowledged by all' })))
      } catch (error) {
        if (!isTooLarge(error)) outcomes.push(...part.map(() => away(messageOf(error), true, topic)))
        // Which of them is it?
        else if (part.length > 1) parts.unshift(...part.map((message) => [message]))
        else outcomes.push(tooLarge)
      }
      if (outcomes.at(-1)?.category !== 'fatal') continue
      return [...outcomes, ...parts.flat().map(() => away('not sent', false))]
    }
    return outcomes
  }

  return {
    name: 'kafka',
    max: 1_000,
    // The wire is not idle while the store takes what was confirmed; a user is never in two calls.
    concurrency: 3,
    publish: async (messages, { deadline, signal }) => inOrder(await sendAll(messages, deadline, signal)),
    close: () => atMost(2_000, producer.close()),
  }
}

function chunks(messages: readonly DeviceMessage[]): DeviceMessage[][] {
  const parts: DeviceMessage[][] = []
  let bytes = mostBytes
  for (const message of messages) {
    const more = Buffer.byteLength(message.body)
    if (bytes + more > mostBytes) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(message)
    bytes += more
  }
  return parts
}

async function sentBy(deadline: number, signal: AbortSignal, sent: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('the broker did not answer in time')), deadline - Date.now())
  const abort = (): void => late.reject(new Error('stopping'))
  signal.addEventListener('abort', abort)
  sent.catch(() => {})
  try {
    await Promise.race([sent, late.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

function isTooLarge(error: unknown): boolean {
  const { findErrorBy } = loadKafka()
  const known = error as Error
  return ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'].some((id) => findErrorBy(known, 'apiId', id) !== null)
}

/** As 413 is over REST (row 19): parked, the next one goes on. */
const tooLarge: Failed = {
  category: 'failed',
  reason: 'too_large',
  rule: 'kafka MESSAGE_TOO_LARGE',
  error: 'larger than the topic takes: raise its max.message.bytes and replay it',
}

function away(error: string, written: boolean, topic?: string): Fatal {
  const missing = topic !== undefined && /UNKNOWN_TOPIC|Unknown topic|does not host this topic-partition/.test(error)
  return {
    category: 'fatal',
    reason: missing || /authentication|not authorized/i.test(error) ? 'misconfigured' : 'unavailable',
    blame: 'provider',
    rule: 'kafka not acknowledged',
    error: shortened(
      `the broker did not take it: ${error}${missing ? `: the topic ${topic} must exist before anything can be published to it` : ''}`,
    ),
    ...(written && { uncertain: true }),
  }
}
