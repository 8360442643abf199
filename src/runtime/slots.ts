/**
 * At most `count` at a time, first come first served.
 *
 * @example const slots = createSlots(2); await slots.take(); try { … } finally { slots.give() }
 */
export function createSlots(count: number): { take(): Promise<void> | undefined; give(): void } {
  let free = count
  const waiting: (() => void)[] = []
  return {
    // Undefined when there is one at once: the common case costs no promise.
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
