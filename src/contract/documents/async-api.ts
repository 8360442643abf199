// The AsyncAPI 3.0 documents: links and unlinks as messages (§4.3), with the same record as the HTTP endpoints (row 18); on the
// platform also activity request records.

import { DeviceEventRecord } from '../device-events.ts'
import { deviceMessageType, deviceMessageTypeName } from '../endpoints.ts'
import { createComponents, type Json } from './components.ts'
import { recordMessages } from './record-messages.ts'

/** The side that the document describes: the operator sends messages, the platform receives them. */
export type MessagingSide = 'operator' | 'platform'

/**
 * The document of one side. It has no servers, and its addresses are the default names of queues and topics.
 *
 * @example asyncApi('operator').operations.linksOverAmqp.action // 'send'
 */
export function asyncApi(side: MessagingSide): Json {
  const { refer, schemas } = createComponents()
  const payload = refer(DeviceEventRecord)
  const action = side === 'operator' ? 'send' : 'receive'
  const records = side === 'platform' ? recordMessages(refer) : undefined
  return {
    asyncapi: '3.0.0',
    info: {
      title: records ? 'Messages to the platform' : 'Device links of the operator',
      version: '1',
      description:
        (records ? 'Activity request records as messages, instead of POST /admin/activities/CHANNEL. ' : '') +
        'Links and unlinks as messages, instead of POST /v1/integration/user/device/link and /unlink. A brand uses one of the three channels. The names of queues and topics are configurable; this document shows the default.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: {
      deviceLinksAmqp: {
        address,
        title: 'Message-queue broker (AMQP 0-9-1)',
        description:
          'A durable queue, reached through the default exchange or a configured one. The type is the message property `type`; message headers are ignored.',
        parameters,
        messages: messagesOf('Amqp'),
        bindings: {
          amqp: { is: 'queue', queue: { durable: true, exclusive: false, autoDelete: false }, bindingVersion: '0.3.0' },
        },
      },
      deviceLinksKafka: {
        address,
        title: 'Streaming platform (Kafka)',
        description:
          'The type is in the header `type`. The key is the user id, so that the messages of a user stay in order.',
        parameters,
        messages: messagesOf('Kafka'),
        bindings: { kafka: { bindingVersion: '0.5.0' } },
      },
      ...records?.channels,
    },
    operations: {
      linksOverAmqp: {
        action,
        channel: { $ref: '#/channels/deviceLinksAmqp' },
        summary: amqpSummary[side],
        messages: referencesTo('deviceLinksAmqp', 'Amqp'),
        bindings: { amqp: { deliveryMode: 2, mandatory: true, ack: true, bindingVersion: '0.3.0' } },
      },
      linksOverKafka: {
        action,
        channel: { $ref: '#/channels/deviceLinksKafka' },
        summary: kafkaSummary[side],
        messages: referencesTo('deviceLinksKafka', 'Kafka'),
      },
      ...records?.operations,
    },
    components: {
      schemas,
      messages: {
        ...Object.fromEntries(
          kinds.flatMap((kind) => [
            [nameOf(kind, 'Amqp'), { ...common(kind, payload), bindings: { amqp: amqpBinding(kind) } }],
            [nameOf(kind, 'Kafka'), { ...common(kind, payload), headers: kafkaHeaders(kind), bindings: kafkaBinding }],
          ]),
        ),
        ...records?.messages,
      },
    },
  }
}

type Kind = keyof typeof deviceMessageType
type Transport = 'Amqp' | 'Kafka'

const kinds: readonly Kind[] = ['link', 'unlink']
const address = 'device-links.{brand}'
const parameters = {
  brand: { description: 'The number of the brand. The default name of a queue for all brands is device-links.' },
}

const amqpSummary = {
  operator: 'Published as persistent and mandatory; it counts as published when the broker has confirmed it.',
  platform:
    'Acknowledged when it is on disk. An unreadable message is stored with the reason and does not block others.',
}
const kafkaSummary = {
  operator: 'Published idempotently; it counts as published when all replicas have acknowledged it.',
  platform:
    'Its offset is committed when it is on disk. An unreadable message is stored with the reason and does not block others.',
}

const nameOf = (kind: Kind, transport: Transport): string =>
  `${kind === 'link' ? 'userDeviceLink' : 'userDeviceUnlink'}${transport}`

function messagesOf(transport: Transport): Json {
  return Object.fromEntries(
    kinds.map((kind) => [nameOf(kind, transport), { $ref: `#/components/messages/${nameOf(kind, transport)}` }]),
  )
}

function referencesTo(channel: string, transport: Transport): readonly Json[] {
  return kinds.map((kind) => ({ $ref: `#/channels/${channel}/messages/${nameOf(kind, transport)}` }))
}

function common(kind: Kind, payload: Json): Json {
  return {
    name: deviceMessageType[kind],
    title: kind === 'link' ? 'A device token was linked to a user' : 'A device token was unlinked from a user',
    contentType: 'application/json',
    payload,
  }
}

const amqpBinding = (kind: Kind): Json => ({ messageType: deviceMessageType[kind], bindingVersion: '0.3.0' })

const kafkaBinding = { kafka: { key: { type: 'string', description: 'user_id' }, bindingVersion: '0.5.0' } }

const kafkaHeaders = (kind: Kind): Json => ({
  type: 'object',
  required: [deviceMessageTypeName],
  properties: { [deviceMessageTypeName]: { type: 'string', const: deviceMessageType[kind] } },
})
