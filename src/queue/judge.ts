// The consequence for a lane when messages of a call must be sent again (row 53): an outage, or a guilty message. Pure.

import type { Kind } from './in-flight.ts'

export interface Unanswered {
  readonly kind: Kind
  /** How many messages of the call are to be sent again. */
  readonly messages: number
  readonly blame: 'call' | 'provider'
  /** The other side asked for time (Retry-After). */
  readonly asked: boolean
  /** Each of them was fatal before in such a call, and another message got through since. */
  readonly repeated: boolean
  /** How many messages alone were fatal in a row since one got through, without this one. */
  readonly doubts: number
  /** Something got through within the last minute. */
  readonly worksOtherwise: boolean
}

/**
 * hold: an outage. The lane is held, one message probes, no attempt is counted.
 * split: one of the messages is guilty; halves, until it is alone.
 * wait: one message alone, cause unknown. It has its own backoff, no attempt is counted.
 * guilty: this message is the cause. It has its own backoff, and the attempt counts.
 */
export type Judgement = 'hold' | 'split' | 'wait' | 'guilty'

/** Messages in a row that are fatal alone before the provider counts as the cause. */
const mostDoubts = 5

/**
 * One message that is fatal alone may be poison, or the first of an outage. It is guilty only if it is fatal alone again after
 * another message got through: so poison neither holds a lane that works nor escapes `retry.attempts`, and an outage counts no attempt.
 * A probe never counts one.
 */
export function judge(call: Unanswered): Judgement {
  const { kind, messages, blame, asked, repeated, doubts, worksOtherwise } = call
  if (kind === 'probe') return 'hold'
  if (messages === 1 && repeated) return 'guilty'
  if (blame === 'provider' || asked) return 'hold'
  if (messages > 1) return 'split'
  return (kind === 'batch' || worksOtherwise) && doubts < mostDoubts - 1 ? 'wait' : 'hold'
}
