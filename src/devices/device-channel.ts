// The joint to what carries device links from operators to platforms (§4.2, §4.3): REST, a message-queue broker, a streaming
// platform. Implementations are in channels/; test/suites/device-channel.ts is run by all of them.

import type { Fatal, Outcome } from '../contract/outcome.ts'

/** A link or unlink on its way out. */
export interface DeviceMessage {
  /** The same on every attempt. */
  readonly id: string
  readonly what: 'link' | 'unlink'
  /** What belongs to one user arrives in the order of publishing. */
  readonly userId: string
  /** The record of row 18, as JSON text. */
  readonly body: string
}

/** The operator's end. */
export interface DevicePublisher {
  readonly name: string
  /** Most messages in one call, and calls at a time; whoever calls sees to it that a user is in one of them only. */
  readonly max: number
  readonly concurrency: number
  /**
   * One outcome for each message, in order. What follows the first fatal is fatal too, whatever became of it: it is
   * published again behind it. Never rejects. Failed: the other side will never take it (row 19).
   */
  publish(
    messages: readonly DeviceMessage[],
    context: { readonly deadline: number; readonly signal: AbortSignal },
  ): Promise<readonly Outcome[]>
  close(): Promise<void>
}

/** A message as it arrived; nothing about it is known to be right. */
export interface Received {
  readonly type: string | undefined
  readonly body: Uint8Array
  /** The place that it came from, for people: 'kafka device-links.1/2 at 17'. */
  readonly from: string
}

/**
 * Takes messages in, in their order. Resolves when what they say is durable; what cannot be read is parked, which is as
 * durable. Never rejects for what a message contains: a rejection says that the store is away, and the same messages must be
 * taken again.
 */
export type Take = (received: readonly Received[]) => Promise<readonly ('taken' | 'parked')[]>

/** The platform's end. */
export interface DeviceConsumer {
  readonly name: string
  /**
   * Takes what arrives, in order of arrival, until `signal` aborts; recovers by itself from whatever happens to the broker.
   * A message is acknowledged, its offset committed, only after take() resolved. Resolves when it has ended, never rejects.
   */
  consume(take: Take, signal: AbortSignal): Promise<void>
}

/** What follows the first fatal is fatal too. */
export function inOrder(outcomes: readonly Outcome[]): readonly Outcome[] {
  const first = outcomes.findIndex(({ category }) => category === 'fatal')
  if (first === -1) return outcomes
  const { retryAfterMs, reason, blame, error } = outcomes[first] as Fatal
  const behind: Fatal = {
    category: 'fatal',
    reason,
    blame,
    rule: 'behind a message that must come first',
    error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  return outcomes.map((outcome, i) => (i <= first || outcome.category === 'fatal' ? outcome : behind))
}
