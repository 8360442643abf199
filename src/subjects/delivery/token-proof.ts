// Decides whether an answer is evidence against the token or against the credential (docs/contributing/decisions.md). Pure.

import type { DeviceAnswer } from '../providers/push-service.ts'

/** Who has accepted a send since the credential was loaded: the counterpart of the device, or any counterpart of the service. */
export interface Accepted {
  readonly counterpart: boolean
  readonly service: boolean
}

/**
 * Decides what an answer is evidence against.
 *
 * - A mismatch: the token is of another project or environment, or malformed. Before the first accepted send it is evidence against
 *   the credential: the answer is fatal, and no message is lost. Afterwards it is evidence against this token.
 * - A wrong configuration that concerns one counterpart. Before the first accepted send it may be our key. Afterwards it concerns
 *   some recipients, and the message alone is to blame.

 */
export function resolveEvidence(answer: DeviceAnswer, accepted: Accepted): DeviceAnswer {
  if (answer.category === 'successful') return answer
  const proven = answer.concerns === 'counterpart' ? accepted.counterpart : accepted.service
  const { rule, error, answer: text, token, providerId } = answer
  if (token !== 'mismatch') {
    const partly = answer.category === 'fatal' && answer.reason === 'misconfigured' && answer.concerns === 'counterpart'
    return partly && proven ? { ...answer, blame: 'message' } : answer
  }
  if (!proven) return { ...blameCredential(answer), error: describeSuspicion(error) }
  if (answer.category === 'failed' || answer.reason !== 'misconfigured') return answer
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
    concerns: 'counterpart',
    rule: `${rule}, and nothing was accepted before`,
    ...(answer !== undefined && { answer }),
    ...(rest.category === 'fatal' && rest.retryAfterMs !== undefined && { retryAfterMs: rest.retryAfterMs }),
  } as const
}

const describeSuspicion = (error: string): string =>
  `${error}; no such device accepted a message since this credential was loaded, so the credential may be wrong: no device is removed, and no message is lost`

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
