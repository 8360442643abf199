import type { Outcome } from '../contract/outcome.ts'
import type { Op } from '../store/database.ts'

export type Channel = 'push' | 'site'

/** One message on its way, the same on every attempt but for `attempt`. */
export interface Message {
  readonly brand: string
  readonly channel: Channel
  /** The text of activity.id (§2.1), digits exactly as they came, or the string. */
  readonly id: string
  readonly userId: string
  /** Row 29: what makes it this message and no other. See contract/message-key.ts. */
  readonly key: string
  /** push_id or site_notification_id: ours, made before the first attempt, never changes. */
  readonly ref: string
  /** The request element exactly as it came. */
  readonly text: string
  readonly attempt: number
  readonly context: { readonly traceparent?: string; readonly tracking?: Readonly<Record<string, string>> }
}

export interface SendContext {
  /** Epoch milliseconds; what is not answered by then is fatal. */
  readonly deadline: number
  /** Aborts when the process is stopping. */
  readonly signal: AbortSignal
  /** On the send path: who claimed these messages. See delivery/depart.ts. */
  readonly owner?: string
}

/** An outcome, and the rows the provider wants written: they are committed with the settle, never before. */
export type Result = Outcome & { readonly writes?: readonly Op[] }

/**
 * Anything that can deliver a message: a push service, the on-site inbox, the operator's API, the operator's whole send path.
 *
 * @example
 * const printer: Provider = {
 *   name: 'printer', max: 1,
 *   async send(messages) { return messages.map((m) => (console.log(m.text), { category: 'successful', ref: m.ref, rule: 'printed' })) },
 * }
 */
export interface Provider {
  readonly name: string
  /** Most messages in one call; 1: a hang costs one message. */
  readonly max: number
  /** It delivers by its `writes` alone: nothing leaves the process before the settle, so a lost attempt is never uncertain. */
  readonly transactional?: true
  /** One result for each message, in the same order. May throw: guard() turns that, a wrong count or nonsense into fatal. */
  send(messages: readonly Message[], context: SendContext): Promise<readonly Result[]>
  check?(): Promise<readonly { readonly ok: boolean; readonly what: string; readonly remedy?: string }[]>
  close?(): Promise<void>
}

export type Wrap = (inner: Provider) => Provider
