import { hash, timingSafeEqual } from 'node:crypto'

export type Scope = 'enqueue' | 'read' | 'manage'

/** A key for /admin: what it may do, and for which brands (absent: all). */
export interface AccessKey {
  readonly name: string
  readonly key: string
  readonly scopes: readonly Scope[]
  readonly brands?: readonly string[]
}

/**
 * Finds whose key this is, in a time that does not depend on how much of it is right.
 *
 * @example const whose = keyring([{ name: 'crm', key: 'k1', brands: ['1'] }]); whose('k1')?.name // 'crm'
 */
export function keyring<Key extends { readonly name: string; readonly key: string }>(
  keys: readonly Key[],
): (presented: string | undefined) => Key | undefined {
  const known = keys.map((key) => ({ key, digest: digest(key.key) }))
  return (presented) => {
    if (presented === undefined) return undefined
    const given = digest(presented)
    let found: Key | undefined
    // No early exit: every key is compared.
    for (const { key, digest } of known) if (timingSafeEqual(given, digest)) found = key
    return found
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
