// The transport between operator and platform in the proof device-links: a broker that can be killed, a network that can be cut,
// and a record of the published events in order.

import { createServer } from 'node:http'
import { type ChannelModel, connect } from 'amqplib'
import { kafkaConsumer } from '../../src/base/brokers/kafka-consumer.ts'
import { closeServer, listenAt } from '../../src/base/runtime/local-server.ts'
import type { Broker } from '../../test/support/services/rabbitmq.ts'
import { apiKeys } from '../plans.ts'
import { type ChannelName, exchangeOf, linksOf, witnessOf } from '../processes/device-plan.ts'
import { type ProvedEvent, roundAt } from './device-events.ts'
import { type NetworkProxy, startNetworkProxy } from './network-proxy.ts'
import { sharedBroker } from './shared-broker.ts'

export type Arrival = Pick<ProvedEvent, 'brand' | 'user' | 'round'>

export interface DeviceTransport {
  /** The address for the plans of both processes. */
  readonly address: string
  readonly network: NetworkProxy
  /** Absent for a transport without a broker. */
  readonly broker?: Broker
  /** Declares the test's queues. Call it after the platform has declared its queues. */
  prepare(): Promise<void>
  /** Reads all published events, in the order of arrival. */
  readArrivals(): Promise<readonly Arrival[]>
  stop(): Promise<void>
}

const brands = Object.keys(apiKeys)

export function startTransport(channel: ChannelName, platformPort: number): Promise<DeviceTransport> {
  return { rest: () => startRest(platformPort), amqp: startAmqp, kafka: startKafkaTransport }[channel]()
}

function readArrival(brand: string, body: Uint8Array): Arrival {
  const { user_id: user, timestamp } = JSON.parse(Buffer.from(body).toString()) as {
    user_id: string
    timestamp: string
  }
  return { brand, user, round: roundAt(Date.parse(timestamp)) }
}

/** An HTTP proxy in front of the platform that records the accepted events. */
async function startRest(platformPort: number): Promise<DeviceTransport> {
  const accepted: Arrival[] = []
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
      if (answer.status === 200)
        accepted.push(readArrival(brands.find((brand) => apiKeys[brand] === key) as string, body))
      response.writeHead(answer.status).end(text)
    } catch {
      response.writeHead(502).end('{"error":"the platform is unavailable"}')
    }
  })
  const network = await startNetworkProxy(Number(new URL(await listenAt(front)).port))
  return {
    address: `http://127.0.0.1:${network.port}`,
    network,
    prepare: async () => {},
    readArrivals: async () => accepted,
    async stop() {
      await network.close()
      await closeServer(front)
    },
  }
}

async function startAmqp(): Promise<DeviceTransport> {
  const { broker, network, address } = await sharedBroker('amqp')
  const withConnection = async <T>(work: (connection: ChannelModel) => Promise<T>): Promise<T> => {
    const connection = await connect(broker.address)
    connection.on('error', () => {})
    try {
      return await work(connection)
    } finally {
      await connection.close()
    }
  }
  return {
    address,
    network,
    broker,
    prepare: () =>
      withConnection(async (connection) => {
        const channel = await connection.createChannel()
        for (const brand of brands) {
          await channel.assertExchange(exchangeOf(brand), 'fanout', { durable: true })
          await channel.assertQueue(witnessOf(brand), { durable: true, arguments: { 'x-queue-type': 'quorum' } })
          for (const queue of [linksOf(brand), witnessOf(brand)]) await channel.bindQueue(queue, exchangeOf(brand), '')
        }
      }),
    readArrivals: () =>
      withConnection(async (connection) => {
        const seen: Arrival[] = []
        for (const brand of brands) {
          const channel = await connection.createChannel()
          for (;;) {
            const message = await channel.get(witnessOf(brand), { noAck: true })
            if (!message) break
            seen.push(readArrival(brand, message.content))
          }
        }
        return seen
      }),
    stop: async () => {},
  }
}

async function startKafkaTransport(): Promise<DeviceTransport> {
  const { broker, network, address } = await sharedBroker('kafka')
  return {
    address,
    network,
    broker,
    prepare: async () => {},
    async readArrivals() {
      const seen = await Promise.all(brands.map((brand) => readTopic(address, brand)))
      return seen.flat()
    },
    stop: async () => {},
  }
}

/** Reads a topic from its beginning until no message arrives for 3 s. The events of one user are in one partition. */
async function readTopic(address: string, brand: string): Promise<readonly Arrival[]> {
  const seen: Arrival[] = []
  const stop = new AbortController()
  let idle = setTimeout(() => stop.abort(), 20_000)
  await kafkaConsumer({ brokers: [address], topic: linksOf(brand), group: witnessOf(brand), declare: false }).consume(
    async (received) => {
      for (const { body } of received) seen.push(readArrival(brand, body))
      clearTimeout(idle)
      idle = setTimeout(() => stop.abort(), 3_000)
      return received.map(() => 'taken')
    },
    stop.signal,
  )
  return seen
}
