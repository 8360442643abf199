// What the driver tells the two processes of the proof device-links.

import { on } from '../../src/runtime/events.ts'

export type ChannelName = 'rest' | 'amqp' | 'kafka'

/** How the processes reach what lies between them. */
export interface Between {
  readonly channel: ChannelName
  /** rest: the platform's address; amqp: the broker's url; kafka: host:port. */
  readonly address: string
}

export interface DeviceOperatorPlan {
  readonly store: string
  readonly port: number
  readonly between: Between
}

export interface DevicePlatformPlan {
  readonly store: string
  readonly port: number
  readonly between: Between
  /** Takes what arrives, never ends with it, and waits to be killed. */
  readonly stall?: true
}

/** The same names at both ends. */
export const linksOf = (brand: string): string => `links.${brand}`
/** RabbitMQ: what is published goes to the platform's queue and to the witness's. */
export const exchangeOf = (brand: string): string => `news.${brand}`
export const witnessOf = (brand: string): string => `witness.${brand}`
export const deliveryLimit = 3
export const prefetch = 200

/** Tells the driver what happens, and ends with it. */
export function report(): void {
  on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
  process.on('disconnect', () => process.exit(0))
  for (const name of ['channel.held', 'channel.lost', 'lane.held', 'batch.sent', 'device.parked'] as const)
    on(name, () => process.send?.({ happened: name }))
}
