// Connections to a message-queue broker (AMQP 0-9-1), and what must be minded about the client.

import { isIP } from 'node:net'
import { type Channel, Connection } from 'rabbitmq-client'

export interface AmqpAddress {
  /** amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://. */
  readonly url: string
}

/** How long a broker may take to answer a connection or a channel. */
const patienceMs = 5_000

export interface AmqpConnection {
  /** It connects, and connects again, by itself. */
  readonly connection: Connection
  /** Opens a channel. Rejects with the reason why the broker cannot be reached, which the client's own error does not name. */
  acquire(): Promise<Channel>
}

export function connectAmqp({ url }: AmqpAddress, name: string): AmqpConnection {
  const connection = new Connection({
    url: withUser(url),
    ...serverName(url),
    connectionName: `bellwire ${name}`,
    acquireTimeout: patienceMs,
    connectionTimeout: patienceMs,
    heartbeat: 15,
    retryLow: 100,
    retryHigh: 3_000,
  })
  let trouble: Error | undefined
  connection.on('error', (error) => {
    trouble = error as Error
  })
  connection.on('connection', () => {
    trouble = undefined
  })
  return {
    connection,
    async acquire() {
      try {
        return await connection.acquire({ emitErrorsFromChannel: true })
      } catch (error) {
        throw trouble ?? error
      }
    },
  }
}

/** The client does not add the user that brokers have for this machine. */
function withUser(url: string): string {
  const address = new URL(url)
  if (address.username === '') Object.assign(address, { username: 'guest', password: 'guest' })
  return address.href
}

/** Brokers behind one address are told apart by the name that a client asks for, which this client does not say by itself. */
function serverName(url: string): { readonly tls?: { readonly servername: string } } {
  const { protocol, hostname } = new URL(url)
  return protocol === 'amqps:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { tls: { servername: hostname } } : {}
}

interface Inner {
  _onHeader(frame: { readonly fields: { contentType?: string | undefined } }): void
}

/**
 * A channel whose messages arrive as bytes. The client parses what says that it is JSON, and with it loses what was sent:
 * bytes that are not UTF-8, numbers beyond a double. So the content type is taken off before it looks.
 */
export function withBytes(channel: Channel): Channel {
  const inner = channel as unknown as Inner
  const onHeader = inner._onHeader
  if (typeof onHeader !== 'function') throw new Error('rabbitmq-client has changed inside: see withBytes()')
  inner._onHeader = (frame) => {
    frame.fields.contentType = undefined
    onHeader.call(channel, frame)
  }
  return channel
}
