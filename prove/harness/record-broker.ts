// The broker of the proof intake, and a publisher that waits for confirmations and repeats what was not confirmed.

import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib'
import { Kafka, logLevel, type Producer } from 'kafkajs'
import { atMost, within } from '../../src/base/runtime/within.ts'
import { startKafka } from '../../test/support/services/kafka.ts'
import { type Broker, startRabbitmq } from '../../test/support/services/rabbitmq.ts'
import type { BrokerName } from '../processes/intake-platform.ts'

export interface PublishedRecord {
  readonly channel: 'push' | 'site'
  readonly text: string
}

export interface RecordBroker {
  readonly broker: Broker
  /** Sends the records once. Rejects unless the broker confirms all of them. */
  publish(source: string, records: readonly PublishedRecord[]): Promise<void>
  stop(): Promise<void>
}

const confirmedWithinMs = 5_000

export function startRecordBroker(name: BrokerName): Promise<RecordBroker> {
  return { amqp: startAmqp, kafka: startKafkaBroker }[name]()
}

async function startAmqp(): Promise<RecordBroker> {
  const broker = await startRabbitmq()
  let open: { readonly connection: ChannelModel; readonly channel: ConfirmChannel } | undefined
  const close = async (): Promise<void> => {
    const { connection } = open ?? {}
    open = undefined
    await atMost(confirmedWithinMs, connection?.close() ?? Promise.resolve())
  }
  return {
    broker,
    async publish(source, records) {
      try {
        if (!open) {
          const connection = await connect(broker.address)
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
    async stop() {
      await close()
      await broker.stop()
    },
  }
}

async function startKafkaBroker(): Promise<RecordBroker> {
  const broker = await startKafka()
  const client = new Kafka({ clientId: 'proof', brokers: [broker.address], logLevel: logLevel.NOTHING })
  let producer: Producer | undefined
  return {
    broker,
    async publish(topic, records) {
      if (!producer) {
        producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } })
        await producer.connect()
      }
      const messages = records.map(({ channel, text }) => ({ value: text, headers: { type: channel } }))
      await within(confirmedWithinMs, producer.send({ topic, acks: -1, messages }))
    },
    async stop() {
      await atMost(confirmedWithinMs, producer?.disconnect() ?? Promise.resolve())
      await broker.stop()
    },
  }
}
