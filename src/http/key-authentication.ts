import type { FastifyRequest } from 'fastify'
import { createKeyFinder } from './access.ts'
import { addressOf } from './address.ts'
import { type Authentication, createAuthentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { createWrongKeys } from './wrong-keys.ts'

interface NamedKey {
  readonly name: string
  readonly key: string
}

export interface KeyAuthenticationOptions<Key extends NamedKey> {
  readonly keys: readonly Key[]
  /** The error for a request without a key. */
  readonly missing: string
  /** The error for a request with an unknown key. */
  readonly unknown: string
  /** Throws if the key must not call this route. */
  readonly check?: (key: Key, request: FastifyRequest) => void
}

const header = 'x-api-key'

/** Authenticates callers by the key in X-Api-Key, and limits the rate at which keys can be guessed (wrong-keys.ts). */
export function keyAuthentication<Key extends NamedKey>(options: KeyAuthenticationOptions<Key>): Authentication<Key> {
  const { keys, missing, unknown, check } = options
  const findKey = createKeyFinder(keys)
  const wrongKeys = createWrongKeys()
  return createAuthentication((request) => {
    const presented = request.headers[header]
    const address = addressOf(request.raw)
    if (typeof presented !== 'string') {
      wrongKeys.countMissing(address)
      throw new HttpError(401, missing, undefined, { counted: true })
    }
    const key = findKey(presented)
    const verdict = wrongKeys.judge(address, key?.name)
    // Not a 4xx: the key may be correct, and on a 4xx the platform would drop the message for good (§7.1).
    if (verdict === 'wait') throw new HttpError(503, tooManyWrong, 1, { counted: true })
    if (verdict === 'wrong' || key === undefined) throw new HttpError(401, unknown, undefined, { counted: true })
    check?.(key, request)
    return key
  })
}

const tooManyWrong = 'too many wrong API keys from this address: its other keys are not checked now, retry later'
