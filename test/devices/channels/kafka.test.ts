import { Kafka, logLevel } from 'kafkajs'
import { kafkaConsumer } from '../../../src/base/brokers/kafka-consumer.ts'
import { kafkaPublisher } from '../../../src/subjects/devices/publishers/kafka-publisher.ts'
import { type Brand, brands, deviceChannelSuite, uniqueName } from '../../suites/device-channel.ts'
import { kafka, withoutKafka } from '../../support/services/kafka.ts'

deviceChannelSuite({
  name: 'kafka',
  skip: await withoutKafka(),
  async open(t) {
    const address = await kafka()
    const topics = new Map(brands.map((brand) => [brand, uniqueName(brand)]))
    const topicOf = (brand: Brand): string => topics.get(brand) as string
    const client = new Kafka({ clientId: 'foreign', brokers: [address], logLevel: logLevel.NOTHING })
    // The suite publishes a message of 5 MB, which is over the default limit.
    const admin = client.admin()
    await admin.connect()
    await admin.createTopics({
      waitForLeaders: true,
      topics: brands.map((brand) => ({
        topic: topicOf(brand),
        numPartitions: 3,
        configEntries: [{ name: 'max.message.bytes', value: '10000000' }],
      })),
    })
    const producer = client.producer({ allowAutoTopicCreation: false })
    await producer.connect()
    t.after(async () => {
      await producer.disconnect()
      await admin.deleteTopics({ topics: [...topics.values()] })
      await admin.disconnect()
    })
    return {
      channels: brands.map((brand) => ({
        brands: brand,
        consumer: kafkaConsumer({ brokers: [address], topic: topicOf(brand), group: topicOf(brand) }),
      })),
      publisher: (_, brand) => kafkaPublisher({ brokers: [address], topic: topicOf(brand) }),
      async sendForeign(_, brand, { type, headers, body }) {
        const withType = { ...(headers && { ...headers, type: undefined }), ...(type !== undefined && { type }) }
        const message = { key: null, value: body, headers: withType }
        await producer.send({ topic: topicOf(brand), acks: -1, messages: [message] })
        return 'accepted'
      },
    }
  },
})
