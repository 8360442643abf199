/** Entries that come and go by the thousands each second. */
export interface TransientMap<Key, Value extends object> {
  readonly size: number
  get(key: Key): Value | undefined
  /** Of a key that is not there. */
  add(key: Key, value: Value): void
  /** Of a key that is there. */
  remove(key: Key): void
}

const spare = 1_024

/**
 * A `Map` that is replaced by a new one now and then, instead of making room in itself. What V8 has once moved to its old
 * space makes its larger successors there, and each that was outgrown keeps all that it held, long gone, until the old space is
 * collected: a send path at 64 connections spent half of its time copying such values (docs/performance.md).
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
      if (entries.size < spare + 2 * size) return
      const before = entries
      entries = new Map()
      for (const [each, value] of before) if (value) entries.set(each, value)
    },
  }
}
