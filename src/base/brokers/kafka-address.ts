import { isIP } from 'node:net'
import { type BrokerCertificates, tlsOf } from './certificates.ts'

/** The address and credentials of a streaming platform (Kafka). */
export interface KafkaAddress extends BrokerCertificates {
  /** 'host:port' of one or more of its brokers. */
  readonly brokers: readonly string[]
  readonly tls?: boolean
  readonly sasl?: Sasl
}
export type Sasl =
  | { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
  /** The token is asked for at each connection. */
  | { readonly mechanism: 'OAUTHBEARER'; readonly token: () => Promise<string> }
export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'

const hostOf = (broker: string): string => broker.slice(0, broker.lastIndexOf(':')).replace(/^\[|\]$/g, '')

const timeoutMs = 5_000

/** The client options that producers and consumers have in common. */
export function clientOptions({ brokers, tls, sasl, ...certificates }: KafkaAddress, clientId: string) {
  return {
    clientId,
    bootstrapBrokers: [...brokers],
    connectTimeout: timeoutMs,
    timeout: timeoutMs,
    // Longer than a rebalance may take, because the response to a join waits for it.
    requestTimeout: 15_000,
    retryDelay: 250,
    // Brokers behind one address are selected by the host name in the TLS handshake (SNI), which must not be an IP address.
    ...(tls && { tls: tlsOf(certificates), tlsServerName: !brokers.some((broker) => isIP(hostOf(broker))) }),
    ...(sasl && { sasl: sasl.mechanism === 'OAUTHBEARER' ? { ...sasl, authBytesValidator: refuseChallenge } : sasl }),
  }
}

/** A broker refuses a token by a challenge that explains why (RFC 7628 §3.2.2). The client takes any answer for an acceptance. */
function refuseChallenge(challenge: Buffer, done: (error: Error | null, challenge: Buffer) => void): void {
  done(challenge.length > 0 ? new Error(`the token was refused: ${challenge}`) : null, challenge)
}
