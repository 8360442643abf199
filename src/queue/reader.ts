// Reading ahead, in bounded memory: pages after a cursor, and a sweep for what the cursor has passed.

import type { Database } from '../store/database.ts'
import { type Ahead, readAhead, readItems, readPage, sweep } from './read-waiting.ts'
import type { Row } from './row.ts'
import type { Stock } from './stock.ts'

export interface Reader {
  /** Reads what there is room for. @returns how many milliseconds until the next look */
  turn(now: number): Promise<number>
  /** Something was put. */
  hint(): void
  /** Whether there is room and, as far as is known, something to read. */
  readonly hungry: boolean
}

const page = { rows: 2_000, bytes: 8 * 1024 * 1024, firstRows: 250, ahead: 10_000 }
/** With so many rows, or so many bytes of text, in memory nothing more is read. */
const enough = { rows: 8_000, bytes: 64 * 1024 * 1024 }
const sweepEveryMs = 1_000
/** A putter that commits late is nearly always late by milliseconds: only each thirtieth sweep begins at the start. */
const fullSweepEach = 30

export function createReader(database: Database, lane: string, stock: Stock, batchMax: number): Reader {
  const enoughRows = Math.max(enough.rows, 2 * batchMax)
  let cursor = 0
  let dry = false
  let hinted = false
  /** What comes after the cursor, as far as it was looked up. */
  let ahead: readonly Ahead[] = []
  let averageBytes = page.bytes / page.firstRows
  let sweptAt = 0
  let sweeps = 0
  /** Where the last two sweeps found the cursor. */
  let floors: [number, number] = [0, 0]

  // Rows that come back later do not stand in the way of fresh ones.
  const hungry = (): boolean => !dry && stock.size - stock.later < enoughRows && stock.weight < enough.bytes

  async function readOn(): Promise<void> {
    const many = Math.max(1, Math.min(page.rows, Math.floor(page.bytes / averageBytes)))
    const rows = ahead.length > 0 ? await readAheadPage(many) : await readPage(database, lane, cursor, page.firstRows)
    if (rows.length > 0) averageBytes = Math.max(1, rows.reduce((sum, row) => sum + row.bytes, 0) / rows.length)
    cursor = rows.at(-1)?.seq ?? cursor
    stock.add(rows)
    if (ahead.length > 0) return
    // A full page: there is much to read. What trickles in is read in one step.
    if (rows.length >= page.firstRows) ahead = await readAhead(database, lane, cursor, page.ahead)
    dry = ahead.length === 0 && !hinted
    hinted = false
  }

  async function readAheadPage(many: number): Promise<Row[]> {
    const rows = await readItems(database, lane, ahead.slice(0, many))
    ahead = ahead.slice(many)
    return rows
  }

  async function lookBehind(now: number): Promise<void> {
    sweptAt = now
    dry = false // hints may be lost
    if (stock.weight >= enough.bytes) return
    const after = sweeps++ % fullSweepEach === 0 ? 0 : floors[0]
    floors = [floors[1], cursor]
    const many = stock.size + page.firstRows
    stock.add(await sweep(database, { lane, after, until: cursor, now, many, known: stock.known }))
  }

  return {
    async turn(now) {
      if (now - sweptAt >= sweepEveryMs) await lookBehind(now)
      else if (hungry()) await readOn()
      return hungry() ? 0 : Math.max(1, sweptAt + sweepEveryMs - Date.now())
    },
    hint() {
      hinted = true
      dry = false
    },
    get hungry() {
      return hungry()
    },
  }
}
