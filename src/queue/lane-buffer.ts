import type { BufferedItem } from './buffered-item.ts'
import type { BatchCut, BatchSource } from './cut-batch.ts'

/**
 * The items that a lane's owner has in memory: a line of items that can be sent, and delayed items. The buffer contains every
 * item that was read and is not yet settled or postponed, including the items of running calls.
 */
export interface LaneBuffer extends BatchSource {
  /** The number of items in the buffer, and the bytes of their texts. */
  readonly size: number
  readonly totalBytes: number
  /** The number of delayed items. */
  readonly delayed: number
  readonly has: (seq: number) => boolean
  /** Appends items that are not in the buffer yet. */
  add(items: readonly BufferedItem[]): void
  /** Returns items of a call to the line: to its front or its end. */
  requeue(items: readonly BufferedItem[], position: 'front' | 'end'): void
  /** Moves these items of a call, and all similar items of the line, to the end of the line, in their order. */
  requeueWithSimilar(items: readonly BufferedItem[], isSimilar: (item: BufferedItem) => boolean): void
  /** Takes a batch out of the line. */
  takeBatch(cut: Pick<BatchCut, 'scanned' | 'skipped'>): BufferedItem[]
  /** Returns an item of a call to the line at this time. */
  delayUntil(item: BufferedItem, at: number): void
  /** Moves delayed items that are due to the line. @returns when the next one is due; Infinity: there is none */
  requeueDue(now: number): number
  /** Removes settled or postponed items. */
  remove(items: readonly BufferedItem[]): void
}

export function createLaneBuffer(): LaneBuffer {
  const known = new Set<number>()
  const delayedItems = createDelayHeap()
  let line: BufferedItem[] = []
  let head = 0
  let lineBytes = 0
  let totalBytes = 0

  // Slices off the taken items only now and then: each slice copies the line.
  function trimLine(): void {
    if (head < 4_096 || head * 2 < line.length) return
    line = line.slice(head)
    head = 0
  }

  function appendItem(item: BufferedItem): void {
    line.push(item)
    lineBytes += item.bytes
  }

  return {
    get length() {
      return line.length - head
    },
    get bytes() {
      return lineBytes
    },
    get size() {
      return known.size
    },
    get totalBytes() {
      return totalBytes
    },
    get delayed() {
      return delayedItems.size()
    },
    at: (index) => line[head + index] as BufferedItem,
    has: (seq) => known.has(seq),
    add(items) {
      for (const item of items) {
        if (known.has(item.seq)) continue
        known.add(item.seq)
        totalBytes += item.bytes
        appendItem(item)
      }
    },
    requeue(items, position) {
      if (position === 'end') return items.forEach(appendItem)
      line = [...items, ...line.slice(head)]
      head = 0
      for (const item of items) lineBytes += item.bytes
    },
    requeueWithSimilar(items, isSimilar) {
      const waiting = line.slice(head)
      line = waiting.filter((item) => !isSimilar(item))
      head = 0
      for (const item of items) lineBytes += item.bytes
      line.push(...items, ...waiting.filter(isSimilar))
    },
    takeBatch({ scanned, skipped }) {
      const items = line.slice(head, head + scanned)
      const skippedIndexes = new Set(skipped)
      const taken = skipped.length === 0 ? items : items.filter((_, i) => !skippedIndexes.has(i))
      head += scanned - skipped.length
      for (let i = 0; i < skipped.length; i++) line[head + i] = items[skipped[i] as number] as BufferedItem
      for (const item of taken) lineBytes -= item.bytes
      trimLine()
      return taken
    },
    delayUntil: (item, at) => delayedItems.push(item, at),
    requeueDue(now) {
      for (;;) {
        const nextAt = delayedItems.nextAt()
        if (nextAt > now) return nextAt
        const item = delayedItems.pop()
        item.waitingSince = now
        appendItem(item)
      }
    },
    remove(items) {
      for (const { seq, bytes } of items) if (known.delete(seq)) totalBytes -= bytes
    },
  }
}

interface DelayHeap {
  size(): number
  push(item: BufferedItem, at: number): void
  /** When the first item is due. Infinity: the heap is empty. */
  nextAt(): number
  pop(): BufferedItem
}

/** A binary heap of items by due time, so that any number of items needs only one timer. */
function createDelayHeap(): DelayHeap {
  const items: BufferedItem[] = []
  const times: number[] = []
  const swap = (a: number, b: number): void => {
    ;[items[a], items[b]] = [items[b] as BufferedItem, items[a] as BufferedItem]
    ;[times[a], times[b]] = [times[b] as number, times[a] as number]
  }
  const timeAt = (i: number): number => times[i] ?? Number.POSITIVE_INFINITY
  return {
    size: () => items.length,
    nextAt: () => timeAt(0),
    push(item, at) {
      let i = items.push(item) - 1
      times.push(at)
      for (let up = (i - 1) >> 1; i > 0 && timeAt(up) > timeAt(i); i = up, up = (i - 1) >> 1) swap(i, up)
    },
    pop() {
      const last = items.length - 1
      swap(0, last)
      const item = items.pop() as BufferedItem
      times.pop()
      for (let i = 0; ; ) {
        const down = timeAt(2 * i + 2) < timeAt(2 * i + 1) ? 2 * i + 2 : 2 * i + 1
        if (timeAt(down) >= timeAt(i)) return item
        swap(i, down)
        i = down
      }
    },
  }
}
