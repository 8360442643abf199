/** A map for short-lived entries: thousands are added and removed each second. */
export interface TransientMap<Key, Value extends object> {
  readonly size: number
  get(key: Key): Value | undefined
  /** The key must not be in the map. */
  add(key: Key, value: Value): void
  /** The key must be in the map. */
  remove(key: Key): void
}

const mostRemoved = 1_024

/**
 * Replaces its `Map` with a new one from time to time, instead of letting one `Map` grow. Once V8 has moved a `Map` to the old
 * space, its larger hash tables are allocated there too, and each outgrown table keeps removed values alive until the old space
 * is collected. A send path at 64 connections spent half of its time copying these values (docs/contributing/performance-notes.md).
 */
export function createTransientMap<Key, Value extends object>(): TransientMap<Key, Value> {
  let entries = new Map<Key, Value | undefined>()
  let size = 0
  return {
    get size() {
      return size
    },
    get: (key) => entries.get(key),
    add(key, value) {
      entries.set(key, value)
      size++
    },
    remove(key) {
      entries.set(key, undefined)
      size--
      if (entries.size < mostRemoved + 2 * size) return
      const previous = entries
      entries = new Map()
      for (const [each, value] of previous) if (value) entries.set(each, value)
    },
  }
}
