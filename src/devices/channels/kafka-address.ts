import { isIP } from 'node:net'

/** How a streaming platform (Kafka) is reached. */
export interface KafkaAddress {
  /** 'host:port' of some of its brokers. */
  readonly brokers: readonly string[]
  readonly tls?: boolean
  readonly sasl?: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
}
export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'

const hostOf = (broker: string): string => broker.slice(0, broker.lastIndexOf(':')).replace(/^\[|\]$/g, '')

/** How long a broker may take to answer. */
const patienceMs = 5_000

/** What producers and consumers have in common, as the client wants it. */
export function clientOptions({ brokers, tls, sasl }: KafkaAddress, clientId: string) {
  return {
    clientId,
    bootstrapBrokers: [...brokers],
    connectTimeout: patienceMs,
    timeout: patienceMs,
    // Longer than a group may take to agree, which is what the longest answer waits for.
    requestTimeout: 15_000,
    retryDelay: 250,
    // Clusters behind one address tell brokers apart by the name that a client asks for; an address is no name.
    ...(tls && { tls: {}, tlsServerName: !brokers.some((broker) => isIP(hostOf(broker))) }),
    ...(sasl && { sasl }),
  }
}
