// A publisher of records that waits for confirmations and repeats what was not confirmed.

import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib'
import { Kafka, logLevel, type Producer } from 'kafkajs'
import { atMost, within } from '../../src/base/runtime/within.ts'
import type { BrokerName } from '../processes/intake-platform.ts'
import { type SharedBroker, sharedBroker } from './shared-broker.ts'

export interface PublishedRecord {
  readonly channel: 'push' | 'site'
  readonly text: string
}

export interface RecordBroker extends Pick<SharedBroker, 'broker' | 'address'> {
  /** Sends the records once. Rejects unless the broker confirms all of them. */
  publish(source: string, records: readonly PublishedRecord[]): Promise<void>
  stop(): Promise<void>
}

const confirmedWithinMs = 5_000

export function startRecordBroker(name: BrokerName): Promise<RecordBroker> {
  return { amqp: startAmqp, kafka: startKafkaBroker }[name]()
}

async function startAmqp(): Promise<RecordBroker> {
  const { broker, address } = await sharedBroker('amqp')
  let open: { readonly connection: ChannelModel; readonly channel: ConfirmChannel } | undefined
  const close = async (): Promise<void> => {
    const { connection } = open ?? {}
    open = undefined
    await atMost(confirmedWithinMs, connection?.close() ?? Promise.resolve())
  }
  return {
    broker,
    address,
    async publish(source, records) {
      try {
        if (!open) {
          const connection = await connect(address)
          connection.on('error', () => {})
          const channel = await connection.createConfirmChannel()
          channel.on('error', () => {})
          open = { connection, channel }
        }
        const { channel } = open
        for (const { channel: type, text } of records)
          channel.sendToQueue(source, Buffer.from(text), { persistent: true, mandatory: true, type })
        await within(confirmedWithinMs, channel.waitForConfirms())
      } catch (error) {
        void close()
        throw error
      }
    },
    stop: close,
  }
}

async function startKafkaBroker(): Promise<RecordBroker> {
  const { broker, address } = await sharedBroker('kafka')
  const client = new Kafka({ clientId: 'proof', brokers: [address], logLevel: logLevel.NOTHING })
  let producer: Producer | undefined
  return {
    broker,
    address,
    async publish(topic, records) {
      if (!producer) {
        producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } })
        await producer.connect()
      }
      const messages = records.map(({ channel, text }) => ({ value: text, headers: { type: channel } }))
      await within(confirmedWithinMs, producer.send({ topic, acks: -1, messages }))
    },
    stop: async () => void (await atMost(confirmedWithinMs, producer?.disconnect() ?? Promise.resolve())),
  }
}
