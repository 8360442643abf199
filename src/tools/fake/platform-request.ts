import type { PlatformBehaviour, PlatformEndpoint } from './platform-behaviour.ts'

/** A request that a fake platform sent or received, or a message that it received from a broker. */
export interface PlatformRequest {
  /** Its number, from 1. */
  readonly n: number
  /** When it began, in epoch milliseconds. */
  readonly at: number
  readonly ms: number
  /** sent: to the operator. received: a device link or unlink. */
  readonly direction: 'sent' | 'received'
  /** Or the queue or topic of a message: 'amqp device-links.1'. */
  readonly endpoint: PlatformEndpoint | (string & {})
  readonly messages: readonly PlatformMessage[]
  /** Absent: no answer. */
  readonly status?: number
  /** Why there is no complete answer. */
  readonly lost?: string
  /** The beginning of the answer. */
  readonly answer?: string
  /** Oddities of the answer that change no outcome. */
  readonly warnings?: readonly string[]
  /** How the platform deviated from a correct one. */
  readonly behaviour?: PlatformBehaviour
}

export interface PlatformMessage {
  /** activity.id. Absent: a device link. */
  readonly id?: string
  readonly user: string
  /** The reaction of the platform to it (§7). Device links: whether it was stored. */
  readonly outcome?: 'successful' | 'failed' | 'fatal' | 'stored' | 'refused'
  /** The push_id or site_notification_id. */
  readonly identifier?: string
  /** The reason, if it is not successful. */
  readonly error?: string
}
