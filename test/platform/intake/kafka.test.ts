import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { kafkaConsumer } from '../../../src/base/brokers/kafka-consumer.ts'
import { intakeSuite } from '../../suites/intake.ts'
import { kafka, withoutKafka } from '../../support/services/kafka.ts'

intakeSuite({
  name: 'kafka',
  skip: await withoutKafka(),
  // A fetch of 8 MiB has at most 84 messages of 100 kB, and the next fetch starts at 64.
  mostHeld: 150,
  async open(t) {
    const address = await kafka()
    const topic = `activities-test-${randomUUID()}`
    const client = new Kafka({ clientId: 'foreign', brokers: [address], logLevel: logLevel.NOTHING })
    const admin = client.admin()
    const producer = client.producer({ allowAutoTopicCreation: false })
    await Promise.all([admin.connect(), producer.connect()])
    t.after(async () => {
      await producer.disconnect()
      await admin.deleteTopics({ topics: [topic] })
      await admin.disconnect()
    })
    // The suite sends a message of 2 MB, which is over the default limit.
    const configEntries = [{ name: 'max.message.bytes', value: '10000000' }]
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions: 3, configEntries }] })
    return {
      consumer: () => kafkaConsumer({ brokers: [address], topic, sessionTimeoutMs: 2_000 }),
      async send(messages) {
        for (let from = 0; from < messages.length; from += 100)
          await producer.send({
            topic,
            acks: -1,
            messages: messages.slice(from, from + 100).map(({ body, type, headers }) => ({
              key: null,
              value: body,
              headers: { ...headers, ...(type !== undefined && { type }) },
            })),
          })
      },
    }
  },
})
