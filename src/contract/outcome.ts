// What became of one message. The interface has three words for it (§2.4, §7) and so have we:
// successful (delivered), failed (final, goes to Failed Actions), fatal (again).

/** Why a message is not successful, in one word that programs may switch on. */
export type Reason =
  | 'invalid' // the message itself is malformed
  | 'suppressed' // blocked, excluded, inactive or without consent
  | 'no_device'
  | 'too_large'
  | 'rejected' // the other side said no to this message
  | 'expired'
  | 'absent' // §7.2.2: not in the batch answer
  | 'nonsense' // the other side's answer cannot be read
  | 'overloaded'
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'misconfigured' // our own settings or credentials
  | 'source_down' // the attribute source cannot answer
  | 'stopping'
  | 'in_flight' // another process is sending this very message now

export interface Evidence {
  /** The rule that decided, for people: '§7.2.2 absent', 'fcm 404 UNREGISTERED'. */
  readonly rule: string
  /** The other side's answer, shortened to at most 500 characters. */
  readonly answer?: string
  /** The call to the provider that decided, as stored in the table of calls. */
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
  readonly ref?: string
}

export interface Fatal extends Evidence {
  readonly category: 'fatal'
  readonly reason: Reason
  readonly error: string
  /** message: retry it; call: the call may be split to find the guilty message; provider: hold the lane, no attempt is counted. */
  readonly blame: 'message' | 'call' | 'provider'
  readonly retryAfterMs?: number
  /** The request was written and no answer came: the message may have arrived. */
  readonly uncertain?: true
  readonly ref?: string
}

export type Outcome = Successful | Failed | Fatal
export type Category = Outcome['category']
