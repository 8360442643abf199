import type { Check } from '../../base/runtime/check.ts'
import type { Op } from '../../base/store/database.ts'
import type { Fatal, Outcome } from '../../contract/outcome.ts'

export type Channel = 'push' | 'site'

/** One message to deliver. Every attempt has the same values, except `attempt`. */
export interface Message {
  readonly brand: string
  readonly channel: Channel
  /** The text of activity.id (§2.1): all digits of a number, unchanged, or the string. */
  readonly id: string
  readonly userId: string
  /** Message key (row 29): see contract/message-key.ts. */
  readonly key: string
  /** push_id or site_notification_id. The operator makes it before the first attempt; it never changes. */
  readonly ref: string
  /** The request element, byte for byte. */
  readonly text: string
  /** The parsed element, whose numbers may be rounded. Absent: parse `text`. */
  readonly element?: Readonly<Record<string, unknown>>
  readonly attempt: number
  /** The batch request of the message. Absent for a single request. */
  readonly part?: Part | undefined
  readonly context: { readonly traceparent?: string; readonly tracking?: Readonly<Record<string, string>> }
}

export interface Part {
  /** The same object for all messages of the request. `single`: the request has one message, without an array. */
  readonly of: { readonly single?: true }
  /** Number of the message within its request, from 0, in the order of the identifiers. */
  readonly position: number
}

export interface SendContext {
  /** Epoch milliseconds. A message without an answer at the deadline is fatal. */
  readonly deadline: number
  /**
   * Of a provider: aborts at the deadline of the call, and at the platform also when the process is stopping. The stop of an operator
   * waits for the call instead. Of a push service: see PushService.send().
   */
  readonly signal: AbortSignal
}

/** An outcome, and the rows that the provider adds to the store. They are committed in the transaction of the settle. */
export type Result = Outcome & {
  readonly writes?: readonly Op[]
  /** Fatal without a call, because the provider is paused or at its limit. The rule is the only evidence to store. */
  readonly untried?: true
  /** For a successful message: the JSON pointers where neither a title nor a body was found. */
  readonly textMissingAt?: readonly string[]
  /** Of the first result: the answer to a call of several messages. It is stored only with the call, because no row of a message has data of others. */
  readonly callAnswer?: string
}

/** A pause that keeps a message from being sent now. */
export interface Pause {
  /** Name of the paused push service or provider. */
  readonly name: string
  /** Remaining time of the pause. 0: the pause has elapsed, and one message may be sent as a probe. */
  readonly restMs: number
  /** The outcome of a message that is refused during the pause. */
  readonly refusal: Fatal
}

/**
 * Delivers messages. Implementations: a push provider, the on-site inbox, the operator's API, the operator's whole send path.
 *
 * @example
 * const printer: Provider = {
 *   name: 'printer', max: 1,
 *   async send(messages) { return messages.map((m) => (console.log(m.text), { category: 'successful', ref: m.ref, rule: 'printed' })) },
 * }
 */
export interface Provider {
  readonly name: string
  /** Maximum number of messages in one call. With 1, a call that hangs affects one message only. */
  readonly max: number
  /** Maximum number of calls in a second, in each process. Default: no limit, until the provider refuses a call for its quota. */
  readonly callsPerSecond?: number | undefined
  /** The provider delivers only by its `writes`. Nothing is sent before the settle, so a lost attempt is never uncertain. */
  readonly transactional?: true
  /** Called before messages are claimed. Returns the pause that applies to each message, or undefined if nothing is paused. */
  findPauses?(
    messages: readonly Message[],
  ): readonly (Pause | undefined)[] | Promise<readonly (Pause | undefined)[]> | undefined
  /**
   * Returns one result for each message, in the same order. guard() turns an exception, a wrong number of results and a malformed
   * result into fatal.
   */
  send(messages: readonly Message[], context: SendContext): Promise<readonly Result[]>
  check?(): Promise<readonly Check[]>
  close?(): Promise<void>
}
