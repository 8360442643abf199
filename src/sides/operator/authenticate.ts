import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import type { Authentication } from '../../base/http/authentication.ts'
import { HttpError } from '../../base/http/http.ts'
import { keyAuthentication } from '../../base/http/key-authentication.ts'
import type { ApiKey, SendingScope } from './options.ts'

/** The owner of a request's key (§5.1, rows 14 and 15). */
export function authentication(keys: AcceptedKeys<ApiKey>, scope: SendingScope): Authentication<ApiKey> {
  return keyAuthentication({
    keys,
    acceptsAuthorization: true,
    missing: 'no API key: send the key that the operator gave you in the header X-Api-Key',
    unknown: 'unknown API key: ask the operator for the key of this environment',
    check({ name, scopes }) {
      if (scopes && !scopes.includes(scope))
        throw new HttpError(403, `the API key ${name} lacks the scope ${scope}: ask the operator for a key that has it`)
    },
  })
}

/**
 * The brand of a request that names none: the only brand of its key (row 31).
 *
 * @throws 403 if the key has several brands
 */
export function onlyBrandOf({ name, brands }: ApiKey): string {
  const [brand, ...others] = new Set(brands)
  if (brand !== undefined && others.length === 0) return brand
  throw new HttpError(
    403,
    `the API key ${name} has ${brands.length} brands, and this request names no brand: use a key of one brand only`,
  )
}
