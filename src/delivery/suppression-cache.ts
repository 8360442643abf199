/** About 15 MB. */
const maxEntries = 100_000

export interface AllowedCache {
  isAllowed(key: string, now: number): boolean
  add(key: string, readAt: number): void
}

/** Caches permissions to send, for `maxStalenessMs`. Refusals are not cached: a new permission takes effect at once. */
export function createAllowedCache(maxStalenessMs: number): AllowedCache {
  const readTimes = new Map<string, number>()
  return {
    isAllowed: (key, now) =>
      maxStalenessMs > 0 && now - (readTimes.get(key) ?? Number.NEGATIVE_INFINITY) <= maxStalenessMs,
    add(key, readAt) {
      if (maxStalenessMs === 0) return
      readTimes.delete(key)
      readTimes.set(key, readAt)
      if (readTimes.size > maxEntries) readTimes.delete(readTimes.keys().next().value as string)
    },
  }
}
