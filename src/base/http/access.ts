import { timingSafeEqual } from 'node:crypto'

/** Permission of a key. `tokens` lets the key create subscriber tokens, and so act for every user of its brands. */
export type Scope = 'enqueue' | 'read' | 'manage' | 'devices' | 'tokens'

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
