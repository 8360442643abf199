// Decides what a lane does when messages of a call were fatal (row 53): an outage, or a guilty message. Pure.

import type { CallKind } from './running-calls.ts'

export interface FatalCall {
  readonly kind: CallKind
  /** How many messages of the call were fatal. */
  readonly messages: number
  readonly blame: 'call' | 'provider'
  /** Whether the operator sent Retry-After. */
  readonly hasRetryAfter: boolean
  /** Each of the messages was fatal before in such a call, and another message was delivered since. */
  readonly repeated: boolean
  /** How many other messages were fatal alone since the last answer of a working provider. */
  readonly unclearFatals: number
  /** Whether the provider worked within the last minute. */
  readonly workedRecently: boolean
}

/**
 * hold: an outage. The lane is held, one message probes, no attempt is counted.
 * split: one of the messages is guilty. The batch is halved until the message is alone.
 * wait: one message alone, cause unknown. It has its own backoff, no attempt is counted.
 * guilty: this message is the cause. It has its own backoff, and the attempt counts.
 */
export type Judgement = 'hold' | 'split' | 'wait' | 'guilty'

/** After this many messages in a row that are fatal alone, the provider is assumed to be the cause. */
const maxUnclearFatals = 5

/**
 * A message that is fatal alone may be guilty, or the first of an outage. It is guilty only if it is fatal alone again after
 * another message was delivered. So a guilty message neither holds a working lane nor escapes `retry.attempts`, and an outage
 * counts no attempt. A probe never counts an attempt.
 */
export function judgeFatals(call: FatalCall): Judgement {
  const { kind, messages, blame, hasRetryAfter, repeated, unclearFatals, workedRecently } = call
  if (kind === 'probe') return 'hold'
  if (messages === 1 && repeated) return 'guilty'
  if (blame === 'provider' || hasRetryAfter) return 'hold'
  if (messages > 1) return 'split'
  return (kind === 'batch' || workedRecently) && unclearFatals < maxUnclearFatals - 1 ? 'wait' : 'hold'
}
