// The outcome of a message, from its results at each device (docs/contributing/decisions.md). Pure.

import type { Failed, Fatal, Outcome, Reason } from '../../contract/outcome.ts'

/** The reasons, sorted by usefulness: reasons that a person can act on come first. */
const reasonsByUsefulness: readonly Reason[] = [
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
 * One device that accepted makes the message successful. Otherwise one fatal outcome makes it fatal. Otherwise it is failed.
 *
 * @param outcomes one for each device, at least one
 * @param someServiceWorks whether some push service is sending now: then these outcomes are no reason to hold back messages for
 *   other devices
 * @example combine([{ category: 'failed', … }, { category: 'successful', rule: 'fcm 200' }], false) // { category: 'successful', rule: 'fcm 200', 1 of 2 devices }
 */
export function combine(outcomes: readonly Outcome[], someServiceWorks: boolean): Outcome {
  const accepted = outcomes.filter((outcome) => outcome.category === 'successful')
  const [first] = accepted
  if (first) return { category: 'successful', rule: first.rule + countDevices(accepted.length, outcomes.length) }
  const fatal = outcomes.filter((outcome) => outcome.category === 'fatal')
  return fatal.length > 0
    ? combineFatal(fatal, outcomes.length, someServiceWorks)
    : combineFailed(outcomes as readonly Failed[])
}

function combineFatal(fatal: readonly Fatal[], deviceCount: number, someServiceWorks: boolean): Fatal {
  const { reason, rule, error, answer } = mostUseful(fatal)
  const waits = fatal.map(({ retryAfterMs = 0 }) => retryAfterMs)
  // The shortest wait; 0 if a service asked for none. A service that asked for a longer wait is not called before its time.
  const retryAfterMs = Math.min(...waits)
  return {
    category: 'fatal',
    reason,
    rule: rule + countDevices(fatal.length, deviceCount),
    error,
    blame: !someServiceWorks && fatal.every(({ blame }) => blame === 'provider') ? 'provider' : 'message',
    ...(answer !== undefined && { answer }),
    ...(retryAfterMs > 0 && { retryAfterMs }),
    ...(fatal.some(({ uncertain }) => uncertain) && { uncertain: true }),
  }
}

function combineFailed(failed: readonly Failed[]): Failed {
  const { reason, rule, error, answer } = mostUseful(failed)
  return {
    category: 'failed',
    reason,
    rule: rule + countDevices(failed.length, failed.length),
    error,
    ...(answer !== undefined && { answer }),
  }
}

function mostUseful<Refused extends Failed | Fatal>(refused: readonly Refused[]): Refused {
  const rank = ({ reason }: Refused): number => reasonsByUsefulness.indexOf(reason)
  return refused.reduce((best, each) => (rank(each) < rank(best) ? each : best))
}

const countDevices = (part: number, all: number): string => (all === 1 ? '' : ` (${part} of ${all} devices)`)
