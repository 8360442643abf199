import type { FastifyRequest } from 'fastify'
import { apiKeyHeader } from '../../contract/endpoints.ts'
import type { AcceptedKey, AcceptedKeys } from './accepted-keys.ts'
import { addressOf, networkOf } from './address.ts'
import { type Authentication, createAuthentication } from './authentication.ts'
import { HttpError } from './http-error.ts'
import { createWrongKeys } from './wrong-keys.ts'

export interface KeyAuthenticationOptions<Key extends AcceptedKey> {
  readonly keys: AcceptedKeys<Key>
  /** The error for a request without a key. */
  readonly missing: string
  /** The error for a request with an unknown key. */
  readonly unknown: string
  /** Whether the key may also be the token of Bearer, or the password of Basic, whose user name is the name of the key. */
  readonly acceptsAuthorization?: true
  /** Throws if the key must not call this route. */
  readonly check?: (key: Key, request: FastifyRequest) => void
}

/** Authenticates callers by the key in X-Api-Key or in Authorization, and limits the rate at which keys can be guessed (wrong-keys.ts). */
export function keyAuthentication<Key extends AcceptedKey>(
  options: KeyAuthenticationOptions<Key>,
): Authentication<Key> {
  const { keys, missing, unknown, acceptsAuthorization, check } = options
  const wrongKeys = createWrongKeys()
  return createAuthentication((request) => {
    const presented = readKey(request, acceptsAuthorization)
    const address = addressOf(request.raw)
    if (presented === undefined) {
      wrongKeys.countMissing(address)
      throw new HttpError(401, missing, undefined, { counted: true })
    }
    const found = keys.find(presented.key, address)
    const key = presented.name === undefined || presented.name === found?.name ? found : undefined
    const verdict = wrongKeys.judge(address, key?.name)
    if (verdict !== 'right' || key === undefined) keys.onRefused?.(networkOf(address))
    // Not a 4xx: the key may be correct, and on a 4xx the platform would drop the message for good (§7.1).
    if (verdict === 'wait') throw new HttpError(503, tooManyWrong, 1, { counted: true })
    if (verdict === 'wrong' || key === undefined) throw new HttpError(401, unknown, undefined, { counted: true })
    if (!keys.use(key)) throw new HttpError(401, expired(key), undefined, { counted: true })
    check?.(key, request)
    return key
  })
}

interface PresentedKey {
  readonly key: string
  /** The user name of Basic. */
  readonly name?: string
}

/** X-Api-Key decides. So a proxy between may use Authorization for itself. */
function readKey({ headers }: FastifyRequest, acceptsAuthorization: true | undefined): PresentedKey | undefined {
  const key = headers[apiKeyHeader]
  if (typeof key === 'string') return { key }
  const [, scheme, credentials = ''] = /^(Bearer|Basic) +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  if (!acceptsAuthorization || scheme === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return { key: credentials }
  const [name = '', ...rest] = Buffer.from(credentials, 'base64').toString().split(':')
  return { name, key: rest.join(':') }
}

const tooManyWrong = 'too many wrong API keys from this address: its other keys are not checked now, retry later'

const expired = ({ name, expiresAt }: AcceptedKey): string =>
  `the API key ${name} expired at ${expiresAt}: ask for a new key, or extend expires_at in the configuration`
