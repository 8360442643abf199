// The joint of the stand-ins: doubles of FCM, APNs and a Web Push service that speak the real wire protocol. Strangers to the
// rest of the project: they know nothing of ours but the HTTP that they are sent.

import type { Fault } from './faults.ts'

/** A request as it came, accepted or not. Tokens and bodies are whole: a stand-in is for tests and demos. */
export interface Arrival {
  /** Epoch milliseconds. */
  readonly at: number
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
  /** The body; Web Push: the decrypted text where the stand-in made the subscription. */
  readonly body: string
  /** What it was answered; 0 where the answer was lost on purpose. */
  readonly status: number
  readonly accepted: boolean
}

/** What a device shows its owner. A message with the collapse identity of one that is shown replaces it. */
export interface Shown {
  readonly at: number
  readonly title?: string
  readonly body?: string
  readonly image?: string
  readonly url?: string
  readonly data: Readonly<Record<string, string>>
  /** What it collapses by, where it does. */
  readonly tag?: string
  /** How often it was shown anew under the same tag. */
  readonly replaced: number
}

export type Kept = Omit<Shown, 'at' | 'replaced'>

/** Its devices, by their tokens. */
export interface Devices {
  /** What the device with this token shows, oldest first. */
  shown(token: string): readonly Shown[]
  /** What waits for a device that is away, oldest first: it is shown on its return, unless it expires before. */
  kept(token: string): readonly Kept[]
  /** Each time that something new is shown. @returns a function that ends the subscription */
  onShown(listener: (token: string, shown: Shown) => void): () => void
  /** An offline device gets what has not expired when it is back, as the real service would keep it. */
  setOnline(token: string, online: boolean): void
  /** From now on the service does not know this token, as after the app was removed. */
  forget(token: string): void
}

export interface StandIn extends Devices {
  /** What to configure as the provider's address. */
  readonly url: string
  /** The certificate authority of its TLS certificate, as PEM, where it has one. */
  readonly ca?: string
  /** Every request so far, in order of arrival. */
  readonly arrivals: readonly Arrival[]
  /** @returns a function that takes the fault back */
  play(fault: Fault): () => void
  close(): Promise<void>
}
