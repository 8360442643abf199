// The plans of the two processes of the proof device-links.

import { on } from '../../src/base/runtime/events.ts'

export type ChannelName = 'rest' | 'amqp' | 'kafka'

/** How the processes reach the transport between them. */
export interface TransportAddress {
  readonly channel: ChannelName
  /** rest: the URL of the platform; amqp: the URL of the broker; kafka: host:port. */
  readonly address: string
}

export interface DeviceOperatorPlan {
  readonly store: string
  readonly port: number
  readonly transport: TransportAddress
}

export interface DevicePlatformPlan extends DeviceOperatorPlan {
  /** Receives messages and never acknowledges them, until the process is killed. */
  readonly stall?: true
}

/** The names are the same on both sides. */
export const linksOf = (brand: string): string => `links.${brand}`
/** RabbitMQ: this exchange forwards messages to the queues of the platform and of the witness. */
export const exchangeOf = (brand: string): string => `news.${brand}`
export const witnessOf = (brand: string): string => `witness.${brand}`
/** More than the kills and cuts that a readable message can meet. Each of them is a delivery without acknowledgement. */
export const deliveryLimit = 5
export const prefetch = 200

/** Reports events to the proof's process, and ends when that process ends. */
export function reportEvents(): void {
  on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
  process.on('disconnect', () => process.exit(0))
  for (const name of ['consumer.held', 'consumer.lost', 'lane.held', 'batch.sent', 'message.parked'] as const)
    on(name, () => process.send?.({ event: name }))
}
