// A broker that can be killed, behind a network that can be cut. The proofs of a process share it, because the start of a broker costs
// seconds of processor time. Each proof has its own queues or topics. The broker ends with the process.

import { startKafka } from '../../test/support/services/kafka.ts'
import { type Broker, startRabbitmq } from '../../test/support/services/rabbitmq.ts'
import type { BrokerName } from '../processes/intake-platform.ts'
import { type NetworkProxy, startNetworkProxy } from './network-proxy.ts'

export interface SharedBroker {
  readonly broker: Broker
  readonly network: NetworkProxy
  /** The address of the broker through the network. amqp: a URL; kafka: host:port. */
  readonly address: string
}

const started = new Map<BrokerName, Promise<SharedBroker>>()

export function sharedBroker(name: BrokerName): Promise<SharedBroker> {
  const broker = started.get(name) ?? { amqp: startAmqp, kafka: startKafkaBehindProxy }[name]()
  started.set(name, broker)
  return broker
}

async function startAmqp(): Promise<SharedBroker> {
  const broker = await startRabbitmq()
  const address = new URL(broker.address)
  const network = await startNetworkProxy(Number(address.port))
  address.port = String(network.port)
  return { broker, network, address: address.href }
}

/** Kafka names its own address to its clients, so that of the network. */
async function startKafkaBehindProxy(): Promise<SharedBroker> {
  const network = await startNetworkProxy()
  const broker = await startKafka({ advertised: network.port })
  network.forwardTo(Number(broker.address.split(':')[1]))
  return { broker, network, address: `127.0.0.1:${network.port}` }
}
