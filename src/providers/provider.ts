import type { Fatal, Outcome } from '../contract/outcome.ts'
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
  /** The request that brought it, and the place of `text` in it. Absent: it was a single request, and `text` is its body. */
  readonly part?: Part | undefined
  readonly context: { readonly traceparent?: string; readonly tracking?: Readonly<Record<string, string>> }
}

/** The body of one request, as text: stored once for all of its messages. */
export interface Request {
  readonly id: string
  readonly text: string
  /** It is in the store: delivery/requests.ts. */
  stored?: boolean
}

export interface Part {
  readonly of: Request
  /** In UTF-16 units. */
  readonly start: number
  /** The messages of a request are numbered from 0 in the order of their identifiers. */
  readonly position: number
}

export interface SendContext {
  /** Epoch milliseconds; a message without an answer by then is fatal. */
  readonly deadline: number
  /** Aborts when the process is stopping; in a call that a guard bounds, at its deadline, too. */
  readonly signal: AbortSignal
}

/** One thing that `bellwire doctor` looked at. */
export interface Check {
  readonly ok: boolean
  /** Nothing is broken, but somebody should know. */
  readonly warning?: true
  /** 'FCM accepts the service account of project p-1' */
  readonly what: string
  /** Where not ok, or a warning: how to mend it. */
  readonly remedy?: string
}

/** An outcome, and the rows the provider wants written: they are committed with the settle, never before. */
export type Result = Outcome & {
  readonly writes?: readonly Op[]
  /** Fatal because what reaches the message is paused or full: nothing was asked, so there is no evidence to keep but the rule. */
  readonly untried?: true
  /** Of a successful message: the pointers at which neither title nor body was found. */
  readonly textMissingAt?: readonly string[]
}

/** Why a message would not be sent now. */
export interface Pause {
  /** The push service, or the provider, that is paused. */
  readonly name: string
  /** How long it stays paused. 0: the time is over, and one message may find out whether it works again. */
  readonly restMs: number
  /** The outcome of a message that is refused meanwhile. */
  readonly refusal: Fatal
}

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
  /**
   * Asked before messages are claimed: for each, the pause that keeps it from being sent. Undefined: nothing is paused, all may be sent.
   */
  findPauses?(
    messages: readonly Message[],
  ): readonly (Pause | undefined)[] | Promise<readonly (Pause | undefined)[]> | undefined
  /** One result for each message, in the same order. May throw: guard() turns that, a wrong count or nonsense into fatal. */
  send(messages: readonly Message[], context: SendContext): Promise<readonly Result[]>
  check?(): Promise<readonly Check[]>
  close?(): Promise<void>
}

export type Wrap = (inner: Provider) => Provider
