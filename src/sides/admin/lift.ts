// Who may end a block or an exclusion: a key with the scope `lift`, with a reason.

import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'

/** Why this request must not end one. Undefined: it may. */
export function refusesLift({ name, scopes }: AccessKey, reason: string | undefined): string | undefined {
  if (!scopes.includes('lift')) return `the key ${name} lacks the scope lift: add it in the configuration`
  return reason === undefined ? 'give the reason as `reason`' : undefined
}

/**
 * @param what such as 'this ends excluded'
 * @throws HttpError 403 without the scope, 400 without the reason
 */
export function demandLift(key: AccessKey, reason: string | undefined, what: string): void {
  const refused = refusesLift(key, reason)
  if (refused === undefined) return
  throw new HttpError(key.scopes.includes('lift') ? 400 : 403, `${what}: ${refused}`)
}
