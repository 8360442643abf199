export interface Semaphore {
  /** @returns undefined if a permit is free, so that the common case creates no promise */
  acquire(): Promise<void> | undefined
  release(): void
}

/**
 * A semaphore with `count` permits, in order of arrival.
 *
 * @example const semaphore = createSemaphore(2); await semaphore.acquire(); try { … } finally { semaphore.release() }
 */
export function createSemaphore(count: number): Semaphore {
  let free = count
  const waiting: (() => void)[] = []
  return {
    acquire() {
      if (free > 0) {
        free--
        return undefined
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    release() {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}
