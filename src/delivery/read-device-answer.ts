// What a push service answered, made sure of: services are written by strangers too. Pure.

import type { DeviceAnswer } from '../providers/push-service.ts'
import { invalidResult, readResult } from '../providers/read-results.ts'

const words = new Set<unknown>([undefined, 'gone', 'mismatch'])

/** A well-formed answer, or a fatal one that says that it made no sense: then nothing is known of the token. */
export function readDeviceAnswer(answered: unknown): DeviceAnswer {
  const answer = readResult(answered, true) as DeviceAnswer
  const { token, goneSince, providerId } = answer
  if (!words.has(token)) return invalidResult(`a token that is ${String(token)}`, 1, true)
  if (goneSince !== undefined && !Number.isFinite(goneSince))
    return invalidResult('a goneSince that is no time', 1, true)
  if (providerId !== undefined && typeof providerId !== 'string')
    return invalidResult('a providerId that is no text', 1, true)
  return answer
}
