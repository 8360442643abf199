import { timingSafeEqual } from 'node:crypto'

/** What a key may do. `tokens`: make subscriber tokens, with which it can act for every user of its brands. */
export type Scope = 'enqueue' | 'read' | 'manage' | 'devices' | 'tokens'

/** A key for /admin: what it may do, and for which brands (absent: all). */
export interface AccessKey {
  readonly name: string
  readonly key: string
  readonly scopes: readonly Scope[]
  readonly brands?: readonly string[]
}

/** A key is compared in a buffer of this size, so that the time says nothing of its length either. */
const longestKey = 512

/**
 * Finds findKey key this is, in a time that does not depend on how much of it is right.
 *
 * @throws for a key that is empty or longer than 512 bytes
 * @example const findKey = createKeyFinder([{ name: 'crm', key: 'k1', brands: ['1'] }]); findKey('k1')?.name // 'crm'
 */
export function createKeyFinder<Key extends { readonly name: string; readonly key: string }>(
  keys: readonly Key[],
): (presented: string | undefined) => Key | undefined {
  const known = keys.map((key) => ({ key, padded: padded(key) }))
  const given = Buffer.alloc(longestKey)
  return (presented) => {
    // A NUL cannot stand in a header, so what is padded with it is equal only where the keys are.
    if (presented === undefined || presented === '' || Buffer.byteLength(presented) > longestKey) return undefined
    given.fill(0, given.write(presented))
    let found: Key | undefined
    // No early exit: every key is compared.
    for (const { key, padded } of known) if (timingSafeEqual(given, padded)) found = key
    return found
  }
}

function padded({ name, key }: { readonly name: string; readonly key: string }): Buffer {
  const bytes = Buffer.byteLength(key)
  if (bytes < 1 || bytes > longestKey) throw new Error(`the key ${name} must have 1 to ${longestKey} bytes`)
  const buffer = Buffer.alloc(longestKey)
  buffer.write(key)
  return buffer
}
