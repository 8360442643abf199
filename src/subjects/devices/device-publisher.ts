// The interface by which operators publish device links to platforms (§4.2, §4.3): over REST, a message-queue broker or a streaming
// platform. The implementations are in publishers/; the platform consumes with those of brokers/. test/suites/device-channel.ts
// tests each of them.

import type { Fatal, Outcome } from '../../contract/outcome.ts'
import { refuseFatal } from '../../contract/refusals.ts'

/** A link or unlink to be published. */
export interface DeviceMessage {
  /** The same on every attempt. */
  readonly id: string
  readonly what: 'link' | 'unlink'
  /** The messages of one user arrive in the order in which they were published. */
  readonly userId: string
  /** The record of row 18, as JSON text. */
  readonly body: string
}

export interface DevicePublisher {
  readonly name: string
  /** Most messages in one call, and most concurrent calls. Concurrent calls must not have messages of the same user. */
  readonly max: number
  readonly concurrency: number
  /**
   * Returns one outcome for each message, in order. Every message after the first fatal one is fatal too, even if it was
   * accepted: it is published again after that one. `failed` means rejected for good (row 19). Never rejects.
   */
  publish(
    messages: readonly DeviceMessage[],
    context: { readonly deadline: number; readonly signal: AbortSignal },
  ): Promise<readonly Outcome[]>
  close(): Promise<void>
}

/** Makes every outcome after the first fatal one fatal too. */
export function inOrder(outcomes: readonly Outcome[]): readonly Outcome[] {
  const first = outcomes.findIndex(({ category }) => category === 'fatal')
  if (first === -1) return outcomes
  const { retryAfterMs, reason, blame, error } = outcomes[first] as Fatal
  const notYet = refuseFatal('earlier_first', {
    reason,
    blame,
    error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
  return outcomes.map((outcome, i) => (i <= first || outcome.category === 'fatal' ? outcome : notYet))
}
