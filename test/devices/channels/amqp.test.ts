import { connect } from 'amqplib'
import { amqpConsumer } from '../../../src/base/brokers/amqp-consumer.ts'
import { amqpPublisher } from '../../../src/subjects/devices/publishers/amqp-publisher.ts'
import { type Brand, brands, deviceChannelSuite, uniqueName } from '../../suites/device-channel.ts'
import { rabbitmq, withoutRabbitmq } from '../../support/services/rabbitmq.ts'
import { until } from '../../support/wait.ts'

deviceChannelSuite({
  name: 'amqp',
  skip: await withoutRabbitmq(),
  async open(t) {
    const url = await rabbitmq()
    const queues = new Map(brands.map((brand) => [brand, uniqueName(brand)]))
    const queueOf = (brand: Brand): string => queues.get(brand) as string
    const connection = await connect(url)
    const channel = await connection.createConfirmChannel()
    t.after(async () => {
      for (const queue of queues.values()) await channel.deleteQueue(queue)
      for (const queue of queues.values()) await channel.deleteQueue(`${queue}.dead`)
      await connection.close()
    })
    return {
      channels: brands.map((brand) => ({ brands: brand, consumer: amqpConsumer({ url, queue: queueOf(brand) }) })),
      publisher: (_, brand) => amqpPublisher({ url, routingKey: queueOf(brand) }),
      async sendForeign(_, brand, { type, headers, body }) {
        const properties = { ...(type !== undefined && { type }), ...(headers && { headers }) }
        // The message is unroutable until the platform has declared its queue.
        await until(
          async () => {
            let returned = false
            channel.once('return', () => {
              returned = true
            })
            channel.sendToQueue(queueOf(brand), body, {
              contentType: 'application/json',
              mandatory: true,
              ...properties,
            })
            // A queue that is being declared may reject the message: publish it again.
            const confirmed = await channel.waitForConfirms().then(
              () => true,
              () => false,
            )
            channel.removeAllListeners('return')
            return confirmed && !returned
          },
          { awaited: 'the queue exists' },
        )
        return 'accepted'
      },
    }
  },
})
