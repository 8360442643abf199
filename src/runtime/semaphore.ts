export interface Semaphore {
  /** Undefined when there is one at once: the common case costs no promise. */
  take(): Promise<void> | undefined
  give(): void
}

/**
 * At most `count` at a time, first come first served.
 *
 * @example const slots = createSemaphore(2); await slots.acquire(); try { … } finally { slots.release() }
 */
export function createSemaphore(count: number): Semaphore {
  let free = count
  const waiting: (() => void)[] = []
  return {
    take() {
      if (free > 0) {
        free--
        return undefined
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    give() {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}
