// AsyncAPI 3.0: links and unlinks as messages (§4.3), with the record of the two endpoints (row 18).

import { DeviceEventRecord } from '../device-events.ts'
import { deviceMessageType, deviceMessageTypeName } from '../endpoints.ts'
import { createComponents, type Json } from './components.ts'

/** Who reads the document: the operator sends what the platform receives. */
export type MessagingSide = 'operator' | 'platform'

/**
 * The document of one side. It names no servers, and its addresses are those of a configuration that names none.
 *
 * @example asyncApi('operator').operations.linksOverAmqp.action // 'send'
 */
export function asyncApi(side: MessagingSide): Json {
  const { refer, schemas } = createComponents()
  const payload = refer(DeviceEventRecord)
  const action = side === 'operator' ? 'send' : 'receive'
  return {
    asyncapi: '3.0.0',
    info: {
      title: `Device links of the ${side}`,
      version: '1',
      description:
        'The same notices as POST /v1/integration/user/device/link and /unlink (§4.2), as messages (§4.3). A brand uses one of the three ways. Names of queues and topics are configuration: the address shown is the one where none is configured.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: {
      deviceLinksAmqp: {
        address,
        title: 'Message-queue broker (AMQP 0-9-1)',
        description:
          "A durable queue, by the broker's default exchange or one that is configured. The type is the message's own property `type`; message headers are ignored (§4.3 rule 1).",
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
          'The type is in the header `type` (§4.3 rule 2). The key is the user, so that what belongs to one user keeps its order.',
        parameters,
        messages: messagesOf('Kafka'),
        bindings: { kafka: { bindingVersion: '0.5.0' } },
      },
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
    },
    components: {
      schemas,
      messages: Object.fromEntries(
        kinds.flatMap((kind) => [
          [nameOf(kind, 'Amqp'), { ...common(kind, payload), bindings: { amqp: amqpBinding(kind) } }],
          [nameOf(kind, 'Kafka'), { ...common(kind, payload), headers: kafkaHeaders(kind), bindings: kafkaBinding }],
        ]),
      ),
    },
  }
}

type Kind = keyof typeof deviceMessageType
type Way = 'Amqp' | 'Kafka'

const kinds: readonly Kind[] = ['link', 'unlink']
const address = 'device-links.{brand}'
const parameters = { brand: { description: 'The number of the brand. Where one queue is for all: device-links.' } }

const amqpSummary = {
  operator: 'Published persistent and mandatory, and counted as told once the broker has confirmed it.',
  platform: 'Acknowledged once it is on disk. What cannot be read is put aside with its reason, and stops nothing.',
}
const kafkaSummary = {
  operator: 'Published idempotently, and counted as told once all replicas have acknowledged it.',
  platform:
    'Its offset is committed once it is on disk. What cannot be read is put aside with its reason, and stops nothing.',
}

const nameOf = (kind: Kind, way: Way): string => `${kind === 'link' ? 'userDeviceLink' : 'userDeviceUnlink'}${way}`

function messagesOf(way: Way): Json {
  return Object.fromEntries(
    kinds.map((kind) => [nameOf(kind, way), { $ref: `#/components/messages/${nameOf(kind, way)}` }]),
  )
}

function referencesTo(channel: string, way: Way): readonly Json[] {
  return kinds.map((kind) => ({ $ref: `#/channels/${channel}/messages/${nameOf(kind, way)}` }))
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
