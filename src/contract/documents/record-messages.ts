// The part of the platform's AsyncAPI document about activity request records: the same record as POST /admin/activities/CHANNEL (§2.1).

import { channels, deviceMessageTypeName } from '../endpoints.ts'
import { ActivityRequest } from '../records.ts'
import type { Components, Json } from './components.ts'

interface Described {
  readonly channels: Readonly<Record<string, Json>>
  readonly operations: Readonly<Record<string, Json>>
  readonly messages: Readonly<Record<string, Json>>
}

const stored =
  'when the record is on disk. A record that was enqueued before is not stored again. An unreadable message is stored with the reason and does not block others.'

export function recordMessages(refer: Components['refer']): Described {
  const common = {
    name: 'activity',
    title: 'An activity request record',
    contentType: 'application/json',
    payload: refer(ActivityRequest),
  }
  const channel = (title: string, message: string, description: string, bindings: Json): Json => ({
    address: 'activities.{channel}',
    title,
    description,
    parameters: {
      channel: {
        enum: [...channels],
        description: 'The channel. The default name of a queue or topic for both channels is activities.',
      },
    },
    messages: { [message]: { $ref: `#/components/messages/${message}` } },
    bindings,
  })
  const receive = (channel: string, message: string, summary: string): Json => ({
    action: 'receive',
    channel: { $ref: `#/channels/${channel}` },
    summary,
    messages: [{ $ref: `#/channels/${channel}/messages/${message}` }],
  })
  return {
    channels: {
      activitiesAmqp: channel(
        'Activity request records over a message-queue broker (AMQP 0-9-1)',
        'activityAmqp',
        'One record in each message. In a queue for both channels, the message property `type` is push or site.',
        {
          amqp: { is: 'queue', queue: { durable: true, exclusive: false, autoDelete: false }, bindingVersion: '0.3.0' },
        },
      ),
      activitiesKafka: channel(
        'Activity request records over a streaming platform (Kafka)',
        'activityKafka',
        'One record in each message. In a topic for both channels, the header `type` is push or site. The key is not read.',
        { kafka: { bindingVersion: '0.5.0' } },
      ),
    },
    operations: {
      recordsOverAmqp: receive('activitiesAmqp', 'activityAmqp', `Acknowledged ${stored}`),
      recordsOverKafka: receive('activitiesKafka', 'activityKafka', `The offset is committed ${stored}`),
    },
    messages: {
      activityAmqp: { ...common, headers: headers({}) },
      activityKafka: {
        ...common,
        headers: headers({ [deviceMessageTypeName]: { type: 'string', enum: [...channels] } }),
      },
    },
  }
}

const headers = (properties: Readonly<Record<string, Json>>): Json => ({
  type: 'object',
  properties: { ...properties, traceparent: { type: 'string', description: 'W3C Trace Context' } },
})
