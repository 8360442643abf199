import type { Behaviour, FakeEndpoint } from './behaviour.ts'

/** A received request and its answer. */
export interface Arrival {
  /** Its number, from 1. */
  readonly n: number
  /** When it was received, in epoch milliseconds. */
  readonly at: number
  readonly endpoint: FakeEndpoint
  readonly messages: readonly { readonly id: string; readonly user: string }[]
  /** Absent: no answer was sent. */
  readonly status?: number
  /** The answer to a send request, shortened. */
  readonly answer?: string
  /** How the answer deviates from that of a correct operator. */
  readonly behaviour?: Behaviour
}

/** An answer of the real operator to a send request. */
export interface RealAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}
