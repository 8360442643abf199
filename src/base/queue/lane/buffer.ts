import { createLine, type Line } from '../item-line.ts'
import type { BufferedItem } from './buffered-item.ts'
import type { BatchCut, BatchSource } from './cut-batch.ts'
import type { ReadAheadBudget } from './read-ahead-budget.ts'

/**
 * The items that a lane's owner has in memory: a line of items that can be sent, and delayed items. In the line, transactional
 * items are first. The buffer contains every item that was read and is not yet settled or postponed, including the items of
 * running calls.
 */
export interface LaneBuffer extends BatchSource {
  /** The number of items in the buffer, and the bytes of their texts. */
  readonly size: number
  readonly totalBytes: number
  /** The memory that all lanes together may still use. */
  readonly freeBytes: number
  /**
   * Whether the lane may read more. A lane may use as much memory as it leaves to the others: with n busy lanes, each gets a share of
   * 1/(n + 1), and a lane that becomes busy always finds free memory. A lane without items may always read.
   */
  readonly hasRoom: boolean
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
  /**
   * Sets aside, from now on, every item that the filter matches: those in the line, delayed items, and items that are added or
   * return from a call. Undefined: none.
   */
  setAside(filter: ItemFilter | undefined): void
  /** Sets matching items aside. @returns the others */
  sift(items: readonly BufferedItem[]): readonly BufferedItem[]
  /** Takes the items that were set aside. They stay in the buffer until they are removed or return to the line. */
  takeAside(): readonly BufferedItem[]
  /** Removes settled or postponed items. */
  remove(items: readonly BufferedItem[]): void
  /** Returns the memory of all items: the buffer is no longer used. */
  free(): void
}

export type ItemFilter = (item: BufferedItem) => boolean

/** The memory of an item in addition to its text. */
const itemBytes = 600

export function createLaneBuffer(budget: ReadAheadBudget): LaneBuffer {
  const known = new Set<number>()
  const delayedItems = createDelayHeap()
  /** Transactional items are ahead of all others (row 57). */
  const transactional = createLine()
  const others = createLine()
  let totalBytes = 0
  let filter: ItemFilter | undefined
  let aside: BufferedItem[] = []

  const lineOf = (item: BufferedItem): Line => (item.transactional ? transactional : others)

  /** Distributes the items of a call to their lines. */
  function byLine(items: readonly BufferedItem[]): [Line, BufferedItem[]][] {
    const [first, rest] = [items.filter((item) => item.transactional), items.filter((item) => !item.transactional)]
    return [
      [transactional, first],
      [others, rest],
    ]
  }

  function sift(items: readonly BufferedItem[]): readonly BufferedItem[] {
    if (!filter) return items
    const matches = filter
    return items.filter((item) => {
      const matched = matches(item)
      if (matched) aside.push(item)
      return !matched
    })
  }

  function append(item: BufferedItem): void {
    if (filter?.(item)) aside.push(item)
    else lineOf(item).append(item)
  }

  return {
    get length() {
      return transactional.length + others.length
    },
    get bytes() {
      return transactional.bytes + others.bytes
    },
    get size() {
      return known.size
    },
    get totalBytes() {
      return totalBytes
    },
    get freeBytes() {
      return budget.freeBytes
    },
    get hasRoom() {
      return known.size === 0 || totalBytes + known.size * itemBytes < budget.freeBytes
    },
    get delayed() {
      return delayedItems.size()
    },
    at: (index) => (index < transactional.length ? transactional.at(index) : others.at(index - transactional.length)),
    has: (seq) => known.has(seq),
    add(items) {
      for (const item of items) {
        if (known.has(item.seq)) continue
        known.add(item.seq)
        totalBytes += item.bytes
        budget.use(item.bytes + itemBytes)
        append(item)
      }
    },
    requeue(items, position) {
      if (position === 'end') for (const item of items) append(item)
      else for (const [line, ofLine] of byLine(sift(items))) if (ofLine.length > 0) line.prepend(ofLine)
    },
    requeueWithSimilar(items, isSimilar) {
      for (const [line, ofLine] of byLine(sift(items))) line.appendWithSimilar(ofLine, isSimilar)
    },
    takeBatch({ scanned, skipped }) {
      const border = transactional.length
      const first = transactional.take(
        Math.min(scanned, border),
        skipped.filter((index) => index < border),
      )
      const rest = others.take(
        Math.max(0, scanned - border),
        skipped.filter((index) => index >= border).map((index) => index - border),
      )
      return rest.length === 0 ? first : [...first, ...rest]
    },
    delayUntil(item, at) {
      if (filter?.(item)) aside.push(item)
      else delayedItems.push(item, at)
    },
    requeueDue(now) {
      for (;;) {
        const nextAt = delayedItems.nextAt()
        if (nextAt > now) return nextAt
        const item = delayedItems.pop()
        item.waitingSince = now
        append(item)
      }
    },
    setAside(next) {
      filter = next
      if (!next) return
      for (const line of [transactional, others]) {
        const waiting = line.take(line.length, [])
        for (const item of waiting) append(item)
      }
      aside.push(...delayedItems.extract(next))
    },
    sift,
    takeAside() {
      const taken = aside
      aside = []
      return taken
    },
    remove(items) {
      for (const { seq, bytes } of items) {
        if (!known.delete(seq)) continue
        totalBytes -= bytes
        budget.use(-bytes - itemBytes)
      }
    },
    free() {
      budget.use(-totalBytes - known.size * itemBytes)
      known.clear()
      totalBytes = 0
    },
  }
}

interface DelayHeap {
  size(): number
  push(item: BufferedItem, at: number): void
  /** When the first item is due. Infinity: the heap is empty. */
  nextAt(): number
  pop(): BufferedItem
  /** Removes and returns the items that the filter matches. */
  extract(matches: ItemFilter): BufferedItem[]
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
  function push(item: BufferedItem, at: number): void {
    let i = items.push(item) - 1
    times.push(at)
    for (let up = (i - 1) >> 1; i > 0 && timeAt(up) > timeAt(i); i = up, up = (i - 1) >> 1) swap(i, up)
  }
  return {
    size: () => items.length,
    nextAt: () => timeAt(0),
    push,
    extract(matches) {
      const [all, dueTimes] = [items.splice(0), times.splice(0)]
      return all.filter((item, i) => {
        const matched = matches(item)
        if (!matched) push(item, dueTimes[i] as number)
        return matched
      })
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
