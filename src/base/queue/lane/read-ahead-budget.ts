// The memory for items that are read ahead, shared by all lanes of a process.

export interface ReadAheadBudget {
  /** The bytes that are not used. Negative if lanes that had no items exceeded the limit. */
  readonly freeBytes: number
  /** Changes the number of bytes in use. */
  use(bytes: number): void
}

/** The default limit of a process, in bytes. */
export const defaultReadAheadBytes = 256 * 1024 * 1024

/** @example const budget = createReadAheadBudget(256 * 1024 * 1024); budget.use(1_000); budget.freeBytes // 268434456 */
export function createReadAheadBudget(limitBytes = defaultReadAheadBytes): ReadAheadBudget {
  let usedBytes = 0
  return {
    get freeBytes() {
      return limitBytes - usedBytes
    },
    use(bytes) {
      usedBytes += bytes
    },
  }
}
