import { present } from '../runtime/present.ts'

/** The certificates of connections to a broker, each in PEM. */
export interface BrokerCertificates {
  /** CA certificates, used instead of those of the system. */
  readonly ca?: string
  /** Authenticates us to the broker (mutual TLS), with `clientKey`. */
  readonly clientCertificate?: string
  readonly clientKey?: string
}

/** The same as options of node:tls. */
export const tlsOf = ({ ca, clientCertificate: cert, clientKey: key }: BrokerCertificates) => present({ ca, cert, key })
