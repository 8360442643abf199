// What an answer proves of a token, and what it does not (design §5, losing a fleet). Pure.

import type { DeviceAnswer } from '../providers/push-service.ts'

/**
 * "Not one of mine" (another project, another environment, malformed) speaks against the token only if the credential is
 * known to be right: it has had an accepted send since it was loaded. Until then it speaks against the credential: fatal,
 * nobody's message is burned. Once it is known to be right, the same answer means this one device only.
 *
 * @param proven whether this very credential has had an accepted send since it was loaded
 */
export function weigh(answer: DeviceAnswer, proven: boolean): DeviceAnswer {
  if (answer.token !== 'mismatch' || answer.category === 'successful') return answer
  if (!proven) return { ...accused(answer), error: suspicion(answer.error) }
  if (answer.category === 'failed' || answer.reason !== 'misconfigured') return answer
  const { rule, error, answer: said, token, providerId } = answer
  return {
    category: 'failed',
    reason: 'rejected',
    rule,
    error,
    token,
    ...(said !== undefined && { answer: said }),
    ...(providerId !== undefined && { providerId }),
  }
}

function accused({ rule, answer, ...of }: Exclude<DeviceAnswer, { category: 'successful' }>) {
  return {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'provider',
    rule: `${rule}, and nothing was accepted before`,
    ...(answer !== undefined && { answer }),
    ...(of.category === 'fatal' && of.retryAfterMs !== undefined && { retryAfterMs: of.retryAfterMs }),
  } as const
}

const suspicion = (error: string): string =>
  `${error}; this credential has had no accepted send since it was loaded, so it may be the wrong one: no device is removed, no message is lost`

/**
 * Whether the answer proves that the device is dead. The provider may know the time since when: a link made later is another
 * one, and a link whose time cannot be read gets the benefit of the doubt.
 */
export function provenDead(answer: DeviceAnswer, linkedAt: string): boolean {
  if (answer.token === undefined || answer.category !== 'failed') return false
  if (answer.token === 'mismatch') return true
  // Date.parse drops what is below a millisecond, so a link of that very millisecond may be the later one.
  return answer.goneSince === undefined || timeOf(linkedAt) < answer.goneSince
}

/** Epoch milliseconds. Without a zone it is UTC, as our registry keeps it; Date.parse would take it for this machine's. */
function timeOf(linkedAt: string): number {
  return Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(linkedAt) ? linkedAt : `${linkedAt}Z`)
}
