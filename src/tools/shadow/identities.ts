// The identifiers that the operator in production gave to messages, in bounded memory: the oldest are forgotten.

export interface Identities {
  /** The identifier of a message that was delivered before. */
  find(key: string): string | undefined
  /** @returns the name of another message with the same identifier */
  add(key: string, identifier: string, name: string): string | undefined
}

const mostKept = 100_000

export function createIdentities(): Identities {
  const byKey = new Map<string, string>()
  const byIdentifier = new Map<string, string>()
  return {
    find: (key) => byKey.get(key),
    add(key, identifier, name) {
      const other = byIdentifier.get(identifier)
      byKey.set(key, identifier)
      if (other === undefined) byIdentifier.set(identifier, name)
      for (const map of [byKey, byIdentifier]) forgetOldest(map, mostKept)
      return other === name ? undefined : other
    },
  }
}

/** Keeps the entries that were added last. */
export function forgetOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
