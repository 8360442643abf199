import type { BufferedItem } from './lane/buffered-item.ts'

/** Items that can be sent, in order. */
export interface Line {
  readonly length: number
  readonly bytes: number
  at(index: number): BufferedItem
  append(item: BufferedItem): void
  prepend(items: readonly BufferedItem[]): void
  appendWithSimilar(items: readonly BufferedItem[], isSimilar: (item: BufferedItem) => boolean): void
  /** Takes the first `scanned` items, except the items at the indexes `skipped`, which stay in front. */
  take(scanned: number, skipped: readonly number[]): BufferedItem[]
}

export function createLine(): Line {
  let items: BufferedItem[] = []
  let head = 0
  let bytes = 0

  // Slices off the taken items only now and then: each slice copies the line.
  function trim(): void {
    if (head < 4_096 || head * 2 < items.length) return
    items = items.slice(head)
    head = 0
  }

  return {
    get length() {
      return items.length - head
    },
    get bytes() {
      return bytes
    },
    at: (index) => items[head + index] as BufferedItem,
    append(item) {
      items.push(item)
      bytes += item.bytes
    },
    prepend(added) {
      items = [...added, ...items.slice(head)]
      head = 0
      for (const item of added) bytes += item.bytes
    },
    appendWithSimilar(added, isSimilar) {
      const waiting = items.slice(head)
      items = waiting.filter((item) => !isSimilar(item))
      head = 0
      for (const item of added) bytes += item.bytes
      items.push(...added, ...waiting.filter(isSimilar))
    },
    take(scanned, skipped) {
      const first = items.slice(head, head + scanned)
      const skippedIndexes = new Set(skipped)
      const taken = skipped.length === 0 ? first : first.filter((_, i) => !skippedIndexes.has(i))
      head += scanned - skipped.length
      for (let i = 0; i < skipped.length; i++) items[head + i] = first[skipped[i] as number] as BufferedItem
      for (const item of taken) bytes -= item.bytes
      trim()
      return taken
    },
  }
}
