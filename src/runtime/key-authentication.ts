import type { FastifyRequest } from 'fastify'
import { createKeyFinder } from './access.ts'
import { type Authentication, createAuthentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { createWrongKeys } from './wrong-keys.ts'

interface NamedKey {
  readonly name: string
  readonly key: string
}

export interface KeyAuthenticationOptions<Key extends NamedKey> {
  readonly keys: readonly Key[]
  /** What a caller without a key, or with an unknown one, is told. */
  readonly missing: string
  readonly unknown: string
  /** Throws where the key may not call this route. */
  readonly check?: (key: Key, request: FastifyRequest) => void
}

const header = 'x-api-key'

/** Callers with one of these keys in X-Api-Key; guessing is slowed down (wrong-keys.ts). */
export function keyAuthentication<Key extends NamedKey>(options: KeyAuthenticationOptions<Key>): Authentication<Key> {
  const { keys, missing, unknown, check } = options
  const findKey = createKeyFinder(keys)
  const wrongKeys = createWrongKeys()
  return createAuthentication((request) => {
    const presented = request.headers[header]
    const address = request.raw.socket.remoteAddress ?? ''
    if (typeof presented !== 'string') {
      wrongKeys.countMissing(address)
      throw new HttpError(401, missing, undefined, { counted: true })
    }
    const key = findKey(presented)
    const verdict = wrongKeys.judge(address, key?.name)
    // Never a 4xx: who calls may have the right key, and the platform would drop its message for good (§7.1).
    if (verdict === 'wait') throw new HttpError(503, tooManyWrong, 1, { counted: true })
    if (verdict === 'wrong' || key === undefined) throw new HttpError(401, unknown, undefined, { counted: true })
    check?.(key, request)
    return key
  })
}

const tooManyWrong = 'too many wrong API keys came from this address: no other key of it is looked at now, ask again'
