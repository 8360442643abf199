// Reads the waiting items of a lane ahead, in bounded memory: new items by number, postponed and replayed items when they are
// due, and a periodic sweep for items that both have missed.

import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import type { BufferedItem } from './buffered-item.ts'
import type { LaneBuffer } from './lane-buffer.ts'
import {
  findDue,
  findSkipped,
  readItemsAt,
  readItemsBySeq,
  readPage,
  readWaitingRows,
  type WaitingKey,
  type WaitingRow,
} from './read-waiting.ts'

/** Where new items come from. */
export type NewItemSource = 'enqueued' | 'replayed'

export interface LaneReader {
  /** Reads one page into the buffer, if it has room. @returns how many milliseconds until the next read */
  readItems(now: number): Promise<number>
  /** Reports that this source has new items. */
  expectItems(source: NewItemSource): void
  /** Whether the buffer has room and, as far as this process knows, there are items to read. */
  readonly hasWork: boolean
}

const page = { rows: 2_000, bytes: 8 * 1024 * 1024, firstRows: 250, ahead: 10_000 }
/** The reader stops while the buffer has this many items, or this many bytes of text. */
const bufferLimit = { items: 8_000, bytes: 64 * 1024 * 1024 }
const sweepEveryMs = 1_000
/** A transaction that commits late is nearly always late by milliseconds: only every thirtieth sweep begins at the start. */
const fullSweepEach = 30

export function createLaneReader(database: Database, lane: string, buffer: LaneBuffer, batchMax: number): LaneReader {
  const maxItems = Math.max(bufferLimit.items, 2 * batchMax)
  const notBuffered = <Key extends WaitingKey>(keys: readonly Key[]): Key[] =>
    keys.filter(({ seq }) => !buffer.has(seq))
  let averageBytes = page.bytes / page.firstRows
  const newItems = createNewItemReader()
  const dueItems = createDueItemReader()
  let readDueNext = false
  let sweptAt = 0
  let sweeps = 0
  /** The cursors at the last two sweeps. */
  let sweepStarts: [number, number] = [0, 0]

  // Delayed items do not count: otherwise they would keep out the items that can be sent now.
  const hasRoom = (): boolean => buffer.size - buffer.delayed < maxItems && buffer.totalBytes < bufferLimit.bytes
  const hasWork = (): boolean => (!newItems.exhausted || !dueItems.exhausted) && hasRoom()
  const pageRows = (): number => Math.max(1, Math.min(page.rows, Math.floor(page.bytes / averageBytes)))

  function addItems(items: readonly BufferedItem[]): void {
    if (items.length > 0) averageBytes = Math.max(1, items.reduce((sum, item) => sum + item.bytes, 0) / items.length)
    buffer.add(items)
  }

  /** Reads new items in the order of their numbers. */
  function createNewItemReader() {
    let cursor = 0
    let exhausted = false
    let expectations = 0
    /** Rows after the cursor whose texts were not read yet. */
    let ahead: readonly WaitingRow[] = []

    async function readPageAhead(): Promise<BufferedItem[]> {
      const limit = pageRows()
      const items = await readItemsBySeq(database, lane, ahead.slice(0, limit))
      ahead = ahead.slice(limit)
      return items
    }

    return {
      get exhausted() {
        return exhausted
      },
      get cursor() {
        return cursor
      },
      expectItems(): void {
        expectations++
        exhausted = false
      },
      async readItems(): Promise<void> {
        const before = expectations
        const items = ahead.length > 0 ? await readPageAhead() : await readPage(database, lane, cursor, page.firstRows)
        cursor = items.at(-1)?.seq ?? cursor
        addItems(items)
        if (ahead.length > 0) return
        // Only a full page is followed by a read in two steps: it costs more for few items.
        if (items.length >= page.firstRows) ahead = await readWaitingRows(database, lane, cursor, page.ahead)
        exhausted = ahead.length === 0 && expectations === before
      },
    }
  }

  /** Reads due items in the order of their due times. */
  function createDueItemReader() {
    const start: WaitingKey = { due_at: 0, seq: Number.MAX_SAFE_INTEGER }
    let cursor = start
    let exhausted = false
    let expectations = 0
    let ahead: readonly WaitingRow[] = []
    /** No row after this key was ever read, so none of them is in the buffer or was settled since. */
    let furthest = start
    let isNew = true
    return {
      get exhausted() {
        return exhausted
      },
      expectItems(): void {
        expectations++
        exhausted = false
      },
      /** Restarts from the beginning: the clocks of several processes may differ, so items may have become due before the cursor. */
      restart(): void {
        cursor = start
        ahead = []
        exhausted = false
      },
      async readItems(now: number): Promise<void> {
        const before = expectations
        if (ahead.length === 0) {
          const found = await findDue(database, lane, cursor, now, page.ahead)
          isNew = !isBefore(cursor, furthest)
          cursor = found.at(-1) ?? cursor
          if (isBefore(furthest, cursor)) furthest = cursor
          exhausted = found.length === 0 && expectations === before
          ahead = notBuffered(found)
        }
        const limit = pageRows()
        const rows = ahead.slice(0, limit)
        ahead = ahead.slice(limit)
        addItems(await (isNew ? readItemsBySeq : readItemsAt)(database, lane, rows))
      },
    }
  }

  return {
    async readItems(now) {
      if (now - sweptAt >= sweepEveryMs) await sweepMissedItems(now)
      else if (hasWork()) {
        // The two readers alternate, so that neither waits until the other is exhausted.
        readDueNext = !dueItems.exhausted && (newItems.exhausted || !readDueNext)
        await (readDueNext ? dueItems.readItems(now) : newItems.readItems())
      }
      return hasWork() ? 0 : Math.max(1, sweptAt + sweepEveryMs - clock.now())
    },
    expectItems: (source) => (source === 'enqueued' ? newItems : dueItems).expectItems(),
    get hasWork() {
      return hasWork()
    },
  }

  /** Finds items whose wake-up was lost, and items that became visible behind the cursors. */
  async function sweepMissedItems(now: number): Promise<void> {
    sweptAt = now
    newItems.expectItems()
    dueItems.restart()
    if (buffer.totalBytes >= bufferLimit.bytes) return
    const after = sweeps++ % fullSweepEach === 0 ? 0 : sweepStarts[0]
    sweepStarts = [sweepStarts[1], newItems.cursor]
    // The result includes the items in the buffer, so the limit must exceed their number.
    const skipped = await findSkipped(database, lane, after, newItems.cursor, buffer.size + page.firstRows)
    buffer.add(await readItemsAt(database, lane, notBuffered(skipped)))
  }
}

const isBefore = (a: WaitingKey, b: WaitingKey): boolean =>
  a.due_at < b.due_at || (a.due_at === b.due_at && a.seq < b.seq)
