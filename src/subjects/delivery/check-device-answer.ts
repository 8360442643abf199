// Validates the answer of a push service, which may be third-party code. Pure.

import type { DeviceAnswer } from '../providers/push-service.ts'
import { invalidResult, readResult } from '../providers/read-results.ts'

const tokenStates = new Set<unknown>([undefined, 'gone', 'mismatch'])

/** @returns the answer, or a fatal one without a token state if it is malformed */
export function checkDeviceAnswer(returned: unknown): DeviceAnswer {
  const answer = readResult(returned, true) as DeviceAnswer
  const { token, goneSince, providerId, concerns } = answer
  if (!tokenStates.has(token)) return invalidResult(`the token state ${String(token)}`, 1, true)
  if (concerns !== undefined && concerns !== 'counterpart')
    return invalidResult('an unknown value of concerns', 1, true)
  if (goneSince !== undefined && !Number.isFinite(goneSince))
    return invalidResult('a goneSince that is not a number', 1, true)
  if (providerId !== undefined && typeof providerId !== 'string')
    return invalidResult('a providerId that is not a string', 1, true)
  return answer
}
