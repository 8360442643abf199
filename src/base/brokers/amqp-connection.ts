// Connections to a message-queue broker (AMQP 0-9-1), with workarounds for the client library.

import { isIP } from 'node:net'
import { type Channel, Connection } from 'rabbitmq-client'
import { type BrokerCertificates, tlsOf } from './certificates.ts'

export interface AmqpAddress extends BrokerCertificates {
  /** amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://. */
  readonly url: string
}

/** How long opening a connection or a channel may take. */
const openTimeoutMs = 5_000

export interface AmqpConnection {
  /** Connects and reconnects by itself. */
  readonly connection: Connection
  /** Opens a channel. Rejects with the reason why the broker is unreachable, which the client's own error does not contain. */
  acquire(): Promise<Channel>
}

export function connectAmqp({ url, ...certificates }: AmqpAddress, name: string): AmqpConnection {
  const connection = new Connection({
    url: withDefaultUser(url),
    ...tlsOptions(url, certificates),
    connectionName: `bellwire ${name}`,
    acquireTimeout: openTimeoutMs,
    connectionTimeout: openTimeoutMs,
    heartbeat: 15,
    retryLow: 100,
    retryHigh: 3_000,
  })
  let connectionError: Error | undefined
  connection.on('error', (error) => {
    connectionError = error as Error
  })
  connection.on('connection', () => {
    connectionError = undefined
  })
  return {
    connection,
    async acquire() {
      try {
        return await connection.acquire({ emitErrorsFromChannel: true })
      } catch (error) {
        throw connectionError ?? error
      }
    },
  }
}

/** Adds the default user guest, which the client does not do. */
function withDefaultUser(url: string): string {
  const address = new URL(url)
  if (address.username === '') Object.assign(address, { username: 'guest', password: 'guest' })
  return address.href
}

/** With the host name in the TLS handshake (SNI), which the client omits. It selects among brokers behind one address. */
function tlsOptions(url: string, certificates: BrokerCertificates) {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'amqps:') return {}
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
  return { tls: { ...tlsOf(certificates), ...(isName && { servername: hostname }) } }
}

interface ChannelInternals {
  _onHeader(frame: { readonly fields: { contentType?: string | undefined } }): void
}

/**
 * Makes a channel deliver messages as bytes. The client would parse messages whose content type is JSON, which loses bytes that
 * are not UTF-8 and the precision of large numbers. So the content type is removed before the client reads it.
 */
export function deliverBytes(channel: Channel): Channel {
  const internals = channel as unknown as ChannelInternals
  const onHeader = internals._onHeader
  if (typeof onHeader !== 'function')
    throw new Error('the internals of rabbitmq-client have changed: see deliverBytes()')
  internals._onHeader = (frame) => {
    frame.fields.contentType = undefined
    onHeader.call(channel, frame)
  }
  return channel
}
