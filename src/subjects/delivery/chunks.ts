import { clock } from '../../base/runtime/clock.ts'

/**
 * Numbers the chunks of an index that would otherwise be written in random order. An index (brand, chunk, user) grows at its
 * end: only the pages of the current chunk, some 600 KB, are written. A look-up searches each chunk in turn; 100 million messages
 * are 10,000 chunks, some 20 ms.
 *
 * The number of a chunk is its start time in epoch milliseconds, so a restarted process need not read the last number. Two
 * processes may use the same number.
 *
 * @example const chunkOf = createChunks(); chunkOf('1') // 1795412345678, the same for the next 9,999 messages of brand 1
 */
export function createChunks(maxRows = 10_000): (brand: string) => number {
  const chunks = new Map<string, { number: number; rows: number }>()
  return (brand) => {
    const current = chunks.get(brand)
    if (current && current.rows < maxRows) {
      current.rows++
      return current.number
    }
    const number = Math.max(clock.now(), (current?.number ?? 0) + 1)
    chunks.set(brand, { number, rows: 1 })
    return number
  }
}
