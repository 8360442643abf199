// The common interface of the stand-ins: doubles of FCM, APNs and a Web Push service that speak the real protocol. They share no
// code with the providers and receive only their HTTP requests.

import type { Fault } from './faults.ts'

/** A received request, accepted or not. Tokens and bodies are not shortened, because stand-ins are for tests and demos. */
export interface Arrival {
  /** Epoch milliseconds. */
  readonly at: number
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
  /** The body. With Web Push it is the decrypted text if the stand-in made the subscription. */
  readonly body: string
  /** The status of the answer; 0 if a fault discarded the answer. */
  readonly status: number
  readonly accepted: boolean
}

/** A notification that a device shows. A later message with the same collapse identity replaces it. */
export interface ShownNotification {
  readonly at: number
  readonly title?: string
  readonly body?: string
  readonly image?: string
  readonly url?: string
  readonly data: Readonly<Record<string, string>>
  /** The collapse identity, if the message has one. */
  readonly tag?: string
  /** How many notifications with the same tag were replaced. */
  readonly replaced: number
}

export type PendingNotification = Omit<ShownNotification, 'at' | 'replaced'>

/** The devices of a stand-in, by their tokens. */
export interface Devices {
  /** The notifications that a device shows, oldest first. */
  shown(token: string): readonly ShownNotification[]
  /** The notifications stored for an offline device, oldest first. They are shown when it is online again, unless they expire. */
  kept(token: string): readonly PendingNotification[]
  /** Calls the listener for each new notification. @returns a function that removes the listener */
  onShown(listener: (token: string, shown: ShownNotification) => void): () => void
  /** Switches a device online or offline. Back online, it gets the stored notifications that have not expired. */
  setOnline(token: string, online: boolean): void
  /** Makes a token invalid from now on, as if the app was removed. */
  forget(token: string): void
}

export interface StandIn extends Devices {
  /** The URL to configure for the provider. */
  readonly url: string
  /** The certificate authority of its TLS certificate, as PEM. Absent without TLS. */
  readonly ca?: string
  /** All received requests, in order of arrival. */
  readonly arrivals: readonly Arrival[]
  /** Adds a fault. @returns a function that removes it */
  play(fault: Fault): () => void
  close(): Promise<void>
}
