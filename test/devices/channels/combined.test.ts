// Several channels carry the same events, reordered and repeated, and lead to one state of the registry (row 20).

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { amqpConsumer } from '../../../src/base/brokers/amqp-consumer.ts'
import { kafkaConsumer } from '../../../src/base/brokers/kafka-consumer.ts'
import { amqpPublisher } from '../../../src/subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../../src/subjects/devices/publishers/kafka-publisher.ts'
import { restPublisher } from '../../../src/subjects/devices/publishers/rest-publisher.ts'
import { type Brand, brands, integrationKey, message, startSetup, uniqueName } from '../../suites/device-channel.ts'
import { kafka, kafkaService } from '../../support/services/kafka.ts'
import { rabbitmq, rabbitmqService } from '../../support/services/rabbitmq.ts'
import { without } from '../../support/services/service.ts'
import { until } from '../../support/wait.ts'
import { oracle, type TestEvent } from '../sequences.ts'

const skip = await without(rabbitmqService, kafkaService)
const devices = 60

/** Returns a generator with a fixed seed, so that a failure can be reproduced. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

test('events interleaved over REST, AMQP and Kafka, reordered and repeated, lead to the state of row 20', {
  skip,
  timeout: 120_000,
}, async (t) => {
  const [url, broker] = [await rabbitmq(), await kafka()]
  const names = new Map(brands.map((brand) => [brand, uniqueName(brand)]))
  const nameOf = (brand: Brand): string => names.get(brand) as string
  const channels = brands.flatMap((brand) => [
    { brands: brand, consumer: amqpConsumer({ url, queue: nameOf(brand) }) },
    { brands: brand, consumer: kafkaConsumer({ brokers: [broker], topic: nameOf(brand), group: nameOf(brand) }) },
  ])
  const setup = await startSetup(t, {
    channels,
    publisher: (_, brand) => amqpPublisher({ url, routingKey: nameOf(brand) }),
    sendForeign: async () => 'accepted',
  })
  await Promise.all(brands.map((brand) => publishOverAll(t, setup.url, brand)))

  async function publishOverAll(tt: TestContext, platform: string, brand: Brand): Promise<void> {
    const next = randomFrom(brand === '1' ? 1 : 2)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
    const events = Array.from({ length: devices }, () =>
      Array.from(
        { length: 6 },
        (): TestEvent => ({
          what: pick(['link', 'unlink']),
          userId: pick(['a', 'b']),
          time: 1 + Math.floor(next() * 5),
        }),
      ),
    )
    const publishers = [
      restPublisher({ url: platform, apiKey: integrationKey(brand) }),
      amqpPublisher({ url, routingKey: nameOf(brand) }),
      kafkaPublisher({ brokers: [broker], topic: nameOf(brand) }),
    ]
    tt.after(() => Promise.all(publishers.map((publisher) => publisher.close())))
    const all = events.flatMap((sequence, n) =>
      sequence.map(({ what, userId, time }) =>
        message(what, { user: `${userId}${n}`, token: `token ${n}`, at: `2026-01-01T10:00:0${time}Z` }),
      ),
    )
    const shuffled = publishers.map(() => [...all].sort(() => next() - 0.5))
    await Promise.all(
      shuffled.map(async (list, i) => {
        const publisher = publishers[i] as (typeof publishers)[number]
        // Each channel carries two thirds of the events, so that every event is published on two channels.
        const share = list.filter((one) => (Number(one.id.slice(1)) + i) % 3 !== 0)
        for (let from = 0; from < share.length; from += 40)
          await until(
            async () => {
              const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
              const outcomes = await publisher.publish(share.slice(from, from + 40), context)
              return outcomes.every(({ category }) => category === 'successful')
            },
            { awaited: `${publisher.name} accepts the events`, withinMs: 30_000 },
          )
      }),
    )
    for (const [n, sequence] of events.entries()) {
      const owner = oracle(sequence)
      await until(
        async () => {
          const [a, b] = await Promise.all(['a', 'b'].map((user) => setup.devicesOf(brand, `${user}${n}`)))
          return a?.length === (owner === 'a' ? 1 : 0) && b?.length === (owner === 'b' ? 1 : 0)
        },
        { awaited: `token ${n} of brand ${brand} belongs to ${owner ?? 'nobody'}`, withinMs: 30_000 },
      )
    }
    assert.deepEqual(await setup.failed(), [])
  }
})
