// Publishes device links to a streaming platform (§4.3 rule 2). The type is a header. The key is the user, so that all messages
// of one user are in one partition, in order.

import { clientOptions, type KafkaAddress } from '../../../base/brokers/kafka-address.ts'
import { loadKafka } from '../../../base/brokers/kafka-client.ts'
import { messageOf } from '../../../base/brokers/reasons.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { atMost, unlessLate } from '../../../base/runtime/within.ts'
import { deviceMessageType, deviceMessageTypeName } from '../../../contract/endpoints.ts'
import type { Failed, Fatal, Outcome } from '../../../contract/outcome.ts'
import { shortened } from '../../../contract/storable.ts'
import { type DeviceMessage, type DevicePublisher, inOrder } from '../device-publisher.ts'

export interface KafkaPublisherOptions extends KafkaAddress {
  readonly topic: string
}

/** Brokers accept about 1 MB per request (message.max.bytes), and a record is larger than its text. */
const maxRequestBytes = 512 * 1024

/**
 * Publishes with acknowledgement by all replicas. The producer is idempotent: a message that the client retries is written once.
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
  // Connection errors are reported by the outcomes.
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

  /** Sends one request after the other until one fails. */
  async function sendAll(messages: readonly DeviceMessage[], leftMs: number, signal: AbortSignal): Promise<Outcome[]> {
    const endsAt = clock.monotonic() + leftMs
    const outcomes: Outcome[] = []
    const requests = splitBySize(messages)
    for (let request = requests.shift(); request; request = requests.shift()) {
      if (signal.aborted || clock.monotonic() >= endsAt) {
        outcomes.push(...request.map(() => brokerFailure('not sent: no time was left', false)))
        continue
      }
      try {
        await demandSent(endsAt - clock.monotonic(), signal, send(request))
        outcomes.push(...request.map((): Outcome => ({ category: 'successful', rule: 'kafka acknowledged by all' })))
      } catch (error) {
        if (!isTooLarge(error)) outcomes.push(...request.map(() => brokerFailure(messageOf(error), true, topic)))
        // Send the messages one by one to find the one that is too large.
        else if (request.length > 1) requests.unshift(...request.map((message) => [message]))
        else outcomes.push(tooLarge)
      }
      if (outcomes.at(-1)?.category !== 'fatal') continue
      return [...outcomes, ...requests.flat().map(() => brokerFailure('not sent', false))]
    }
    return outcomes
  }

  return {
    name: 'kafka',
    max: 1_000,
    // Several calls, so that the next messages are sent while the store commits confirmed ones. No user is in two calls.
    concurrency: 3,
    publish: async (messages, { deadline, signal }) => inOrder(await sendAll(messages, deadline - clock.now(), signal)),
    close: () => atMost(2_000, producer.close()),
  }
}

function splitBySize(messages: readonly DeviceMessage[]): DeviceMessage[][] {
  const requests: DeviceMessage[][] = []
  let bytes = maxRequestBytes
  for (const message of messages) {
    const more = Buffer.byteLength(message.body)
    if (bytes + more > maxRequestBytes) {
      requests.push([])
      bytes = 0
    }
    requests.at(-1)?.push(message)
    bytes += more
  }
  return requests
}

async function demandSent(ms: number, signal: AbortSignal, sending: Promise<void>): Promise<void> {
  const sent = sending.then(() => true)
  if (!(await unlessLate(ms, sent, signal)))
    throw new Error(signal.aborted ? 'this process is stopping' : 'the broker did not answer in time')
}

function isTooLarge(error: unknown): boolean {
  const { findErrorBy } = loadKafka()
  const ids = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']
  return ids.some((id) => findErrorBy(error as Error, 'apiId', id) !== null)
}

/** Like 413 over REST (row 19): the message is parked, and the next one is sent. */
const tooLarge: Failed = {
  category: 'failed',
  reason: 'too_large',
  rule: 'kafka MESSAGE_TOO_LARGE',
  error: 'the message is larger than the topic allows: raise its max.message.bytes, then replay the message',
}

function brokerFailure(error: string, written: boolean, topic?: string): Fatal {
  const missing = topic !== undefined && /UNKNOWN_TOPIC|Unknown topic|does not host this topic-partition/.test(error)
  return {
    category: 'fatal',
    reason: missing || /authentication|not authorized/i.test(error) ? 'misconfigured' : 'unavailable',
    blame: 'provider',
    rule: 'kafka not acknowledged',
    error: shortened(`the broker did not accept the message: ${error}${missing ? `: create the topic ${topic}` : ''}`),
    ...(written && { uncertain: true }),
  }
}
