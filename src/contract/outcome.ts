// The outcome of one attempt, in the three categories of the interface (§2.4, §7): successful (delivered), failed (final, goes to
// Failed Actions), fatal (retried).

import type { Reason } from './reasons.ts'

export type { Reason } from './reasons.ts'

export interface Evidence {
  /** The rule that decided the outcome, for people: '§7.2.2 absent', 'fcm 404 UNREGISTERED'. */
  readonly rule: string
  /** The other side's answer, shortened to at most 500 characters. */
  readonly answer?: string
  /** The HTTP status of the answer to an unsuccessful message. */
  readonly status?: number
  /** The id of the provider call that decided the outcome, in the table `calls`. */
  readonly call?: string
}

export interface Successful extends Evidence {
  readonly category: 'successful'
  /** push_id or site_notification_id; absent: delivered, but untracked (row 6). */
  readonly ref?: string
}

export interface Failed extends Evidence {
  readonly category: 'failed'
  readonly reason: Reason
  readonly error: string
  /** The operator asked for a pause: the lane waits before its next message. 0: for as long as its backoff. */
  readonly retryAfterMs?: number
  readonly ref?: string
}

export interface Fatal extends Evidence {
  readonly category: 'fatal'
  readonly reason: Reason
  readonly error: string
  /** message: retry it. call: split the call to isolate the guilty message. provider: hold the lane and count no attempt. */
  readonly blame: 'message' | 'call' | 'provider'
  readonly retryAfterMs?: number
  /** There was no connection, so another attempt costs the other side nothing. */
  readonly unconnected?: true
  /** With blame 'message': the push service that the message waits for. Messages for other services go on (row 59). */
  readonly service?: string
  /** The request was written and no answer came: the message may have arrived. */
  readonly uncertain?: true
  readonly ref?: string
}

export type Outcome = Successful | Failed | Fatal
export type Category = Outcome['category']
