// Decides whether an answer is evidence against the token or against the credential (design §5, losing a fleet). Pure.

import type { DeviceAnswer } from '../providers/push-service.ts'

/**
 * Decides about a mismatch: the token is of another project or environment, or malformed. Before the first accepted send it is
 * evidence against the credential: the answer is fatal, and no message is lost. Afterwards it is evidence against this token.
 *
 * @param proven whether this credential has had an accepted send since it was loaded
 */
export function resolveMismatch(answer: DeviceAnswer, proven: boolean): DeviceAnswer {
  if (answer.token !== 'mismatch' || answer.category === 'successful') return answer
  if (!proven) return { ...blameCredential(answer), error: describeSuspicion(answer.error) }
  if (answer.category === 'failed' || answer.reason !== 'misconfigured') return answer
  const { rule, error, answer: text, token, providerId } = answer
  return {
    category: 'failed',
    reason: 'rejected',
    rule,
    error,
    token,
    ...(text !== undefined && { answer: text }),
    ...(providerId !== undefined && { providerId }),
  }
}

function blameCredential({ rule, answer, ...rest }: Exclude<DeviceAnswer, { category: 'successful' }>) {
  return {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'provider',
    rule: `${rule}, and nothing was accepted before`,
    ...(answer !== undefined && { answer }),
    ...(rest.category === 'fatal' && rest.retryAfterMs !== undefined && { retryAfterMs: rest.retryAfterMs }),
  } as const
}

const describeSuspicion = (error: string): string =>
  `${error}; this credential has had no accepted send since it was loaded, so the credential may be wrong: no device is removed, and no message is lost`

/**
 * Whether the answer proves that the device is dead. If the push service gave the time of its death, a later link is still valid,
 * and so is a link whose time cannot be parsed.
 */
export function isProvenDead(answer: DeviceAnswer, linkedAt: string): boolean {
  if (answer.token === undefined || answer.category !== 'failed') return false
  if (answer.token === 'mismatch') return true
  // Date.parse drops fractions of a millisecond, so a link of the same millisecond may be later.
  return answer.goneSince === undefined || timeOf(linkedAt) < answer.goneSince
}

/** Epoch milliseconds. A time without a zone is UTC, as in the registry; Date.parse would use the zone of the machine. */
function timeOf(linkedAt: string): number {
  return Date.parse(/(?:Z|[+-]\d{2}:?\d{2})$/i.test(linkedAt) ? linkedAt : `${linkedAt}Z`)
}
