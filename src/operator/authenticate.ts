import type { Authentication } from '../runtime/authentication.ts'
import { HttpError } from '../runtime/http.ts'
import { keyAuthentication } from '../runtime/key-authentication.ts'
import type { ApiKey } from './options.ts'

/** The owner of a request's key (§5.1, row 14). */
export function authentication(keys: readonly ApiKey[]): Authentication<ApiKey> {
  return keyAuthentication({
    keys,
    missing: 'no API key: send the token that the operator gave you in the header X-Api-Key (§5.1)',
    unknown: 'this API key is not known here: ask the operator for the token of this environment (§5.1)',
  })
}

/**
 * Where the wire names no brand, the credential decides, and to exactly one (row 31).
 *
 * @throws 403 for a key of several brands
 */
export function onlyBrandOf({ name, brands }: ApiKey): string {
  const [brand, ...others] = new Set(brands)
  if (brand !== undefined && others.length === 0) return brand
  throw new HttpError(
    403,
    `the API key ${name} opens ${brands.length} brands, and this request names none: call with the key of one brand (row 31)`,
  )
}
