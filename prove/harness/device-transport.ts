// What lies between operator and platform in the proof device-links: a broker that can be killed, a network that can be cut,
// and a witness of what was published in which order.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChannelModel, connect } from 'amqplib'
import { kafkaConsumer } from '../../src/devices/channels/kafka-consumer.ts'
import { startKafka } from '../../test/support/services/kafka.ts'
import { type Broker, startRabbitmq } from '../../test/support/services/rabbitmq.ts'
import { apiKeys } from '../plans.ts'
import { type ChannelName, exchangeOf, linksOf, witnessOf } from '../processes/device-plan.ts'
import { type Cuttable, cuttable } from './cuttable.ts'
import { roundAt } from './device-events.ts'

export interface Arrival {
  readonly brand: string
  readonly user: string
  readonly round: number
}

export interface InBetween {
  /** For the plans of both processes. */
  readonly address: string
  readonly network: Cuttable
  /** Absent: there is none. */
  readonly broker?: Broker
  /** Once the platform has declared what is its own. */
  prepare(): Promise<void>
  /** Everything published, in order of arrival. */
  witness(): Promise<readonly Arrival[]>
  stop(): Promise<void>
}

const brands = Object.keys(apiKeys)

export function lay(channel: ChannelName, platformPort: number): Promise<InBetween> {
  return { rest: () => overRest(platformPort), amqp: overAmqp, kafka: overKafka }[channel]()
}

function arrival(brand: string, body: Uint8Array): Arrival {
  const { user_id: user, timestamp } = JSON.parse(Buffer.from(body).toString()) as {
    user_id: string
    timestamp: string
  }
  return { brand, user, round: roundAt(Date.parse(timestamp)) }
}

/** A front server, as many platforms have one: it notes what the platform took. */
async function overRest(platformPort: number): Promise<InBetween> {
  const taken: Arrival[] = []
  const front = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const key = request.headers['x-api-key'] as string
      const answer = await fetch(`http://127.0.0.1:${platformPort}${request.url}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: new Uint8Array(body),
      })
      const text = await answer.text()
      if (answer.status === 200) taken.push(arrival(brands.find((brand) => apiKeys[brand] === key) as string, body))
      response.writeHead(answer.status).end(text)
    } catch {
      response.writeHead(502).end('{"error":"the platform is away"}')
    }
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const network = await cuttable((front.address() as AddressInfo).port)
  return {
    address: `http://127.0.0.1:${network.port}`,
    network,
    prepare: async () => {},
    witness: async () => taken,
    async stop() {
      await network.close()
      front.closeAllConnections()
      await new Promise((resolve) => front.close(resolve))
    },
  }
}

async function overAmqp(): Promise<InBetween> {
  const broker = await startRabbitmq()
  const address = new URL(broker.address)
  const network = await cuttable(Number(address.port))
  const within = async <T>(work: (connection: ChannelModel) => Promise<T>): Promise<T> => {
    const connection = await connect(broker.address)
    connection.on('error', () => {})
    try {
      return await work(connection)
    } finally {
      await connection.close()
    }
  }
  address.port = String(network.port)
  return {
    address: address.href,
    network,
    broker,
    prepare: () =>
      within(async (connection) => {
        const channel = await connection.createChannel()
        for (const brand of brands) {
          await channel.assertExchange(exchangeOf(brand), 'fanout', { durable: true })
          await channel.assertQueue(witnessOf(brand), { durable: true, arguments: { 'x-queue-type': 'quorum' } })
          for (const queue of [linksOf(brand), witnessOf(brand)]) await channel.bindQueue(queue, exchangeOf(brand), '')
        }
      }),
    witness: () =>
      within(async (connection) => {
        const seen: Arrival[] = []
        for (const brand of brands) {
          const channel = await connection.createChannel()
          for (;;) {
            const message = await channel.get(witnessOf(brand), { noAck: true })
            if (!message) break
            seen.push(arrival(brand, message.content))
          }
        }
        return seen
      }),
    async stop() {
      await network.close()
      await broker.stop()
    },
  }
}

async function overKafka(): Promise<InBetween> {
  const network = await cuttable()
  const broker = await startKafka({ advertised: network.port })
  network.leadsTo(Number(broker.address.split(':')[1]))
  const address = `127.0.0.1:${network.port}`
  return {
    address,
    network,
    broker,
    prepare: async () => {},
    async witness() {
      const seen = await Promise.all(brands.map((brand) => readTopic(address, brand)))
      return seen.flat()
    },
    async stop() {
      await network.close()
      await broker.stop()
    },
  }
}

/** From its beginning, until nothing comes for a while. What belongs to one user is in one partition. */
async function readTopic(address: string, brand: string): Promise<readonly Arrival[]> {
  const seen: Arrival[] = []
  const stop = new AbortController()
  let idle = setTimeout(() => stop.abort(), 20_000)
  await kafkaConsumer({ brokers: [address], topic: linksOf(brand), group: witnessOf(brand), declare: false }).consume(
    async (received) => {
      for (const { body } of received) seen.push(arrival(brand, body))
      clearTimeout(idle)
      idle = setTimeout(() => stop.abort(), 3_000)
      return received.map(() => 'taken')
    },
    stop.signal,
  )
  return seen
}
