// What it means for a lane when messages of a call are to be sent again and the call is not simply theirs to repeat (row 53). Pure.

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
 * split: one of them is guilty; halves, until it stands alone.
 * wait: one message alone, and nobody can tell yet. It has its own backoff, no attempt is counted.
 * guilty: it is this message. It has its own backoff, and the attempt counts.
 */
export type Judgement = 'hold' | 'split' | 'wait' | 'guilty'

/** With so many messages in a row that were fatal alone, it is the provider. */
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
