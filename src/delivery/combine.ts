// The outcome of a message, from its results at each device (design §2). Pure.

import type { Failed, Fatal, Outcome, Reason } from '../contract/outcome.ts'

/** The reasons from the most telling to the least: what a person can act on comes first. */
const telling: readonly Reason[] = [
  'misconfigured',
  'suppressed',
  'invalid',
  'too_large',
  'rejected',
  'expired',
  'nonsense',
  'source_down',
  'rate_limited',
  'overloaded',
  'unavailable',
  'timeout',
  'stopping',
  'in_flight',
  'absent',
  'no_device',
]

/**
 * Any device that accepted makes the message successful; else any fatal makes it fatal; else it failed.
 *
 * @param outcomes one for each device, at least one
 * @param othersWork whether another push service than those is sending now: then a service that does not is no reason to hold
 *   back messages for other devices
 * @example combine([{ category: 'failed', … }, { category: 'successful', rule: 'fcm 200' }], false) // { category: 'successful', rule: 'fcm 200', 1 of 2 devices }
 */
export function combine(outcomes: readonly Outcome[], othersWork: boolean): Outcome {
  const accepted = outcomes.filter((outcome) => outcome.category === 'successful')
  const [first] = accepted
  if (first) return { category: 'successful', rule: first.rule + share(accepted.length, outcomes.length) }
  const fatal = outcomes.filter((outcome) => outcome.category === 'fatal')
  return fatal.length > 0 ? again(fatal, outcomes.length, othersWork) : final(outcomes as readonly Failed[])
}

function again(fatal: readonly Fatal[], of: number, othersWork: boolean): Fatal {
  const { reason, rule, error, answer } = mostTelling(fatal)
  const waits = fatal.map(({ retryAfterMs = 0 }) => retryAfterMs)
  // One that asks for no wait can be tried as soon as the caller likes; its neighbor's service is not called before its time.
  const retryAfterMs = Math.min(...waits)
  return {
    category: 'fatal',
    reason,
    rule: rule + share(fatal.length, of),
    error,
    blame: !othersWork && fatal.every(({ blame }) => blame === 'provider') ? 'provider' : 'message',
    ...(answer !== undefined && { answer }),
    ...(retryAfterMs > 0 && { retryAfterMs }),
    ...(fatal.some(({ uncertain }) => uncertain) && { uncertain: true }),
  }
}

function final(failed: readonly Failed[]): Failed {
  const { reason, rule, error, answer } = mostTelling(failed)
  return {
    category: 'failed',
    reason,
    rule: rule + share(failed.length, failed.length),
    error,
    ...(answer !== undefined && { answer }),
  }
}

function mostTelling<Refused extends Failed | Fatal>(refused: readonly Refused[]): Refused {
  const rank = ({ reason }: Refused): number => telling.indexOf(reason)
  return refused.reduce((best, each) => (rank(each) < rank(best) ? each : best))
}

const share = (part: number, of: number): string => (of === 1 ? '' : ` (${part} of ${of} devices)`)
