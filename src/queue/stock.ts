import type { Cut, Line } from './batch.ts'
import type { Row } from './row.ts'

/**
 * What a lane's owner has in memory: rows in line to be sent, and rows that come back later. Everything read and not yet
 * settled or put off is `known`, also while it is in a call.
 */
export interface Stock extends Line {
  /** Known rows and the bytes of their texts. */
  readonly size: number
  readonly weight: number
  /** Rows that come back later. */
  readonly later: number
  readonly known: (seq: number) => boolean
  /** Takes in rows that were read. */
  add(rows: readonly Row[]): void
  /** Puts rows that are known into the line again: before all others, or behind them. */
  back(rows: readonly Row[], where: 'front' | 'end'): void
  /** These rows, which are known, and all in line that are `alike`, go behind all others, in their order. */
  behind(rows: readonly Row[], alike: (row: Row) => boolean): void
  /** Takes rows out of the line. */
  take(cut: Pick<Cut, 'take' | 'left'>): Row[]
  /** Brings a known row back into the line at a time. */
  returnAt(row: Row, at: number): void
  /** Lines up what is due, and says when the next one is (Infinity: none). */
  comeBack(now: number): number
  /** Settled or put off: not known any more. */
  forget(rows: readonly Row[]): void
}

export function createStock(): Stock {
  const known = new Set<number>()
  const heap = createHeap()
  let line: Row[] = []
  let head = 0
  let lineBytes = 0
  let weight = 0

  // What was taken is cut off now and then, not each time.
  function tidy(): void {
    if (head < 4_096 || head * 2 < line.length) return
    line = line.slice(head)
    head = 0
  }

  function append(row: Row): void {
    line.push(row)
    lineBytes += row.bytes
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
    get weight() {
      return weight
    },
    get later() {
      return heap.size()
    },
    at: (index) => line[head + index] as Row,
    known: (seq) => known.has(seq),
    add(rows) {
      for (const row of rows) {
        if (known.has(row.seq)) continue
        known.add(row.seq)
        weight += row.bytes
        append(row)
      }
    },
    back(rows, where) {
      if (where === 'end') return rows.forEach(append)
      line = [...rows, ...line.slice(head)]
      head = 0
      for (const row of rows) lineBytes += row.bytes
    },
    behind(rows, alike) {
      const waiting = line.slice(head)
      line = waiting.filter((row) => !alike(row))
      head = 0
      for (const row of rows) lineBytes += row.bytes
      line.push(...rows, ...waiting.filter(alike))
    },
    take({ take, left }) {
      const rows = line.slice(head, head + take)
      const stay = new Set(left)
      const taken = left.length === 0 ? rows : rows.filter((_, i) => !stay.has(i))
      head += take - left.length
      for (let i = 0; i < left.length; i++) line[head + i] = rows[left[i] as number] as Row
      for (const row of taken) lineBytes -= row.bytes
      tidy()
      return taken
    },
    returnAt: (row, at) => heap.push(row, at),
    comeBack(now) {
      for (;;) {
        const next = heap.next()
        if (next > now) return next
        const row = heap.pop()
        row.since = now
        append(row)
      }
    },
    forget(rows) {
      for (const { seq, bytes } of rows) if (known.delete(seq)) weight -= bytes
    },
  }
}

interface Heap {
  size(): number
  push(row: Row, at: number): void
  /** When the first is due; Infinity: it is empty. */
  next(): number
  pop(): Row
}

/** Rows by time, the earliest first. One heap and one timer, however many rows. */
function createHeap(): Heap {
  const rows: Row[] = []
  const times: number[] = []
  const swap = (a: number, b: number): void => {
    ;[rows[a], rows[b]] = [rows[b] as Row, rows[a] as Row]
    ;[times[a], times[b]] = [times[b] as number, times[a] as number]
  }
  const time = (i: number): number => times[i] ?? Number.POSITIVE_INFINITY
  return {
    size: () => rows.length,
    next: () => time(0),
    push(row, at) {
      let i = rows.push(row) - 1
      times.push(at)
      for (let up = (i - 1) >> 1; i > 0 && time(up) > time(i); i = up, up = (i - 1) >> 1) swap(i, up)
    },
    pop() {
      const last = rows.length - 1
      swap(0, last)
      const row = rows.pop() as Row
      times.pop()
      for (let i = 0; ; ) {
        const down = time(2 * i + 2) < time(2 * i + 1) ? 2 * i + 2 : 2 * i + 1
        if (time(down) >= time(i)) return row
        swap(i, down)
        i = down
      }
    },
  }
}
