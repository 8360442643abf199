/** About 15 MB. */
const most = 100_000

export interface Memory {
  knows(key: string, now: number): boolean
  keep(key: string, askedAt: number): void
}

/** Remembers who may be messaged, no longer than allowed. Refusals are never remembered: who is let in again is let in at once. */
export function createMemory(maxStalenessMs: number): Memory {
  const askedAt = new Map<string, number>()
  return {
    knows: (key, now) => maxStalenessMs > 0 && now - (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) <= maxStalenessMs,
    keep(key, at) {
      if (maxStalenessMs === 0) return
      askedAt.delete(key)
      askedAt.set(key, at)
      if (askedAt.size > most) askedAt.delete(askedAt.keys().next().value as string)
    },
  }
}
