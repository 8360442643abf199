// Reads the waiting items of a lane ahead, in bounded memory: new items by number, postponed and replayed items when they are
// due, and in each sweep the items that both have missed. A lane is first read by its first sweep.

import type { Database } from '../../store/database.ts'
import { newItemsDueAt } from '../tables.ts'
import type { LaneBuffer } from './buffer.ts'
import type { BufferedItem } from './buffered-item.ts'
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

/** Where new items come from. released: a pause that held them back has ended. */
export type NewItemSource = 'enqueued' | 'transactional' | 'replayed' | 'released'

export interface LaneReader {
  /** Reads one page into the buffer, if it has room. @returns how many milliseconds until the next read; Infinity: until woken */
  readItems(now: number): Promise<number>
  /** Requests a sweep by the next read. */
  sweep(): void
  /** Reports that this source has new items. */
  expectItems(source: NewItemSource): void
  /** Reports that a sweep adds these rows to the buffer. Rows after the cursor may then be settled during a read. */
  noteSwept(rows: readonly WaitingKey[]): void
  /** Whether the buffer has room and, as far as this process knows, there are items to read. */
  readonly hasWork: boolean
}

const page = { rows: 2_000, bytes: 8 * 1024 * 1024, firstRows: 250, ahead: 10_000 }
/** The sizes when the memory of all lanes is used up. */
const leastPage = { bytes: 64 * 1024, ahead: 500 }
/** One row is read ahead for this much free memory. */
const bytesOfAhead = 10_000
/** The reader stops while the buffer has this many items, or this many bytes of text. */
const bufferLimit = { items: 8_000, bytes: 64 * 1024 * 1024 }
/** The part of these limits that is reserved for transactional items. */
const reservedShare = 0.25
/** A transaction that commits late is nearly always late by milliseconds: only every thirtieth sweep begins at the start. */
const fullSweepEach = 30

/** @param itemsInCalls how many items all calls of the lane can have */
export function createLaneReader(
  database: Database,
  lane: string,
  buffer: LaneBuffer,
  itemsInCalls: () => number,
): LaneReader {
  const notBuffered = <Key extends WaitingKey>(keys: readonly Key[]): Key[] =>
    keys.filter(({ seq }) => !buffer.has(seq))
  let averageBytes = page.bytes / page.firstRows
  const transactionalItems = createNewItemReader(newItemsDueAt.transactional)
  const newItems = createNewItemReader(newItemsDueAt.others)
  const dueItems = createDueItemReader()
  const sources = { enqueued: newItems, transactional: transactionalItems, replayed: dueItems } as const
  let readDueNext = false
  let sweepRequested = false
  let sweeps = 0

  // Delayed items do not count: otherwise they would keep out the items that can be sent now.
  const fits = (share: number): boolean =>
    buffer.size - buffer.delayed < share * Math.max(bufferLimit.items, 2 * itemsInCalls()) &&
    buffer.totalBytes < share * bufferLimit.bytes
  const hasRoom = (): boolean => fits(1) && buffer.hasRoom
  // Transactional items need not wait until other items have left: they may use the memory that is always left free.
  const mayReadTransactional = (): boolean =>
    !transactionalItems.exhausted && fits(1 + reservedShare) && (buffer.hasRoom || buffer.freeBytes > 0)
  const hasWork = (): boolean => mayReadTransactional() || ((!newItems.exhausted || !dueItems.exhausted) && hasRoom())
  const pageBytes = (): number => Math.min(page.bytes, Math.max(leastPage.bytes, buffer.freeBytes))
  const pageRows = (): number => Math.max(1, Math.min(page.rows, Math.floor(pageBytes() / averageBytes)))
  const firstRows = (): number => Math.min(page.firstRows, pageRows())
  const aheadRows = (): number =>
    Math.min(page.ahead, Math.max(leastPage.ahead, Math.floor(buffer.freeBytes / bytesOfAhead)))

  /**
   * Only items in the buffer are settled. An item that was in the buffer when a read began, and is not in it now, may be settled:
   * its row is read again.
   */
  function readAgain(items: readonly BufferedItem[]): Promise<readonly BufferedItem[]> {
    return readItemsAt(database, lane, notBuffered(items.map(({ dueAt, seq }) => ({ due_at: dueAt, seq }))))
  }

  function addItems(items: readonly BufferedItem[]): void {
    if (items.length > 0) averageBytes = Math.max(1, items.reduce((sum, item) => sum + item.bytes, 0) / items.length)
    buffer.add(items)
  }

  /** Reads new items with this `due_at` in the order of their numbers. */
  function createNewItemReader(dueAt: number) {
    let cursor = 0
    /** The cursors at the last two sweeps. */
    let sweepStarts: [number, number] = [0, 0]
    let exhausted = true
    let expectations = 0
    /** Rows after the cursor whose texts were not read yet. */
    let ahead: readonly WaitingRow[] = []
    /** A cancellation has read rows up to this number. */
    let sweptTo = 0
    const key = (): WaitingKey => ({ due_at: dueAt, seq: cursor })

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
      expectItems(): void {
        expectations++
        exhausted = false
      },
      noteSwept(rows: readonly WaitingKey[]): void {
        for (const { due_at, seq } of rows) if (due_at === dueAt) sweptTo = Math.max(sweptTo, seq)
      },
      /** Finds items that became visible behind the cursor. */
      async findSkipped(full: boolean): Promise<readonly WaitingKey[]> {
        const after = full ? 0 : sweepStarts[0]
        sweepStarts = [sweepStarts[1], cursor]
        if (cursor === 0) return []
        // The result includes the items in the buffer, so the limit must exceed their number.
        return findSkipped(database, lane, { due_at: dueAt, seq: after }, cursor, buffer.size + page.firstRows)
      },
      async readItems(): Promise<void> {
        const before = expectations
        const limit = firstRows()
        const items = ahead.length > 0 ? await readPageAhead() : await readPage(database, lane, key(), limit)
        const mayBeSettled = cursor < sweptTo
        cursor = items.at(-1)?.seq ?? cursor
        addItems(mayBeSettled ? await readAgain(items) : items)
        if (ahead.length > 0) return
        // Only a full page is followed by a read in two steps: it costs more for few items.
        if (items.length >= limit) ahead = await readWaitingRows(database, lane, key(), aheadRows())
        exhausted = ahead.length === 0 && expectations === before
      },
    }
  }

  /** Reads due items in the order of their due times. */
  function createDueItemReader() {
    const start: WaitingKey = { due_at: 0, seq: Number.MAX_SAFE_INTEGER }
    let cursor = start
    let exhausted = true
    let expectations = 0
    let ahead: readonly WaitingRow[] = []
    /** No row after this key was ever read, so none of them is in the buffer or was settled since. Sweeps read rows, too. */
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
      noteSwept(rows: readonly WaitingKey[]): void {
        for (const row of rows) if (isBefore(furthest, row)) furthest = row
        isNew = false
      },
      /** Released items come before all others. */
      expectReleased(): void {
        if (cursor.due_at > 1) this.restart()
        this.expectItems()
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
          const found = await findDue(database, lane, cursor, now, aheadRows())
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
      if (sweepRequested) await sweepMissedItems()
      else if (mayReadTransactional()) await transactionalItems.readItems()
      else if (hasWork()) {
        // The two readers alternate, so that neither waits until the other is exhausted.
        readDueNext = !dueItems.exhausted && (newItems.exhausted || !readDueNext)
        await (readDueNext ? dueItems.readItems(now) : newItems.readItems())
      }
      return hasWork() ? 0 : Number.POSITIVE_INFINITY
    },
    sweep() {
      sweepRequested = true
    },
    expectItems: (source) => (source === 'released' ? dueItems.expectReleased() : sources[source].expectItems()),
    noteSwept(rows) {
      for (const source of Object.values(sources)) source.noteSwept(rows)
    },
    get hasWork() {
      return hasWork()
    },
  }

  /** Finds items whose wake-up was lost, and items that became visible behind the cursors. */
  async function sweepMissedItems(): Promise<void> {
    sweepRequested = false
    transactionalItems.expectItems()
    newItems.expectItems()
    dueItems.restart()
    if (buffer.totalBytes >= bufferLimit.bytes) return
    const full = sweeps++ % fullSweepEach === 0
    for (const source of [transactionalItems, newItems])
      buffer.add(await readItemsAt(database, lane, notBuffered(await source.findSkipped(full))))
  }
}

const isBefore = (a: WaitingKey, b: WaitingKey): boolean =>
  a.due_at < b.due_at || (a.due_at === b.due_at && a.seq < b.seq)
