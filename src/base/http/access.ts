import { timingSafeEqual } from 'node:crypto'

/** The permissions of a key for /admin. None includes another. */
export const allScopes = [
  'enqueue', // put messages into the queue
  'counts', // numbers and states, without texts and persons
  'read', // texts, users and their devices
  'decide', // pause, cancel, replay, dismiss and correct, with the previews of these acts
  'attributes', // import and change the attributes of users
  'lift', // with `attributes` or `decide`: end a block or an exclusion
  'people', // export and erase the data of a person
  'devices', // link and unlink
  'audit', // read the audit trail, with the users whom it names
  'tokens', // create subscriber tokens, and so act for every user of the brands of the key
] as const

export type Scope = (typeof allScopes)[number]

/** A key for /admin, with its permissions and its brands (absent: all brands). */
export interface AccessKey {
  readonly name: string
  readonly key: string
  readonly scopes: readonly Scope[]
  readonly brands?: readonly string[]
}

/** Keys are compared in buffers of this size, so that the comparison time does not reveal the key's length. */
const longestKey = 512

/**
 * Returns a function that finds a presented key. Its time does not depend on how many characters of the key are correct.
 *
 * @throws for a key that is empty or longer than 512 bytes
 * @example const findKey = createKeyFinder([{ name: 'crm', key: 'k1', brands: ['1'] }]); findKey('k1')?.name // 'crm'
 */
export function createKeyFinder<Key extends { readonly name: string; readonly key: string }>(
  keys: readonly Key[],
): (presented: string | undefined) => Key | undefined {
  const paddedKeys = keys.map((key) => ({ key, padded: padKey(key) }))
  const candidate = Buffer.alloc(longestKey)
  return (presented) => {
    // A header cannot contain NUL, so two keys padded with NUL are equal only if the keys are equal.
    if (presented === undefined || presented === '' || Buffer.byteLength(presented) > longestKey) return undefined
    candidate.fill(0, candidate.write(presented))
    let found: Key | undefined
    // No early exit: every key is compared.
    for (const { key, padded } of paddedKeys) if (timingSafeEqual(candidate, padded)) found = key
    return found
  }
}

function padKey({ name, key }: { readonly name: string; readonly key: string }): Buffer {
  const bytes = Buffer.byteLength(key)
  if (bytes < 1 || bytes > longestKey) throw new Error(`the key ${name} must have 1 to ${longestKey} bytes`)
  const buffer = Buffer.alloc(longestKey)
  buffer.write(key)
  return buffer
}
