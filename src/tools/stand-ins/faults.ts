// Faults: the errors that a stand-in injects into its handling of requests.

import { createFaultScript, type FixedAnswer, type Repetition } from '../../base/runtime/fault-script.ts'

export interface Fault extends Repetition {
  /** Only requests for this device token. */
  readonly token?: string
  /** Only requests for these device tokens. */
  readonly tokens?: ReadonlySet<string>
  /** The time before the answer or the reset. */
  readonly delayMs?: number
  /** before: the stream is reset, and the message is not accepted. after: the message is accepted, and its answer is lost. */
  readonly reset?: 'before' | 'after'
  /** With this request, the server sends GOAWAY. Streams with higher numbers are not processed. */
  readonly goaway?: true
  /** The answer instead of the real one. The message is not accepted. */
  readonly answer?: FixedAnswer
}

export interface Faults {
  /** Adds a fault. @returns a function that removes it */
  play(fault: Fault): () => void
  /** The fault for a request to this token: the first that matches, in the order in which they were added. */
  match(token: string): Fault | undefined
}

/** @example const faults = createFaults(); faults.play({ every: 500, goaway: true }); faults.match('t-1') */
export function createFaults(seed = 1): Faults {
  const script = createFaultScript<Fault>(seed)
  return {
    play(fault) {
      const id = script.add(fault)
      return () => void script.remove(id)
    },
    match: (asked) => script.find(({ token = asked, tokens }) => token === asked && tokens?.has(asked) !== false),
  }
}
