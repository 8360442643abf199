// Reading ahead, in bounded memory: pages after a cursor, and a sweep for what the cursor has passed.

import type { Database } from '../store/database.ts'
import { readPage, sweep } from './read-waiting.ts'
import type { Stock } from './stock.ts'

export interface Reader {
  /** Reads what there is room for. @returns how many milliseconds until the next look */
  turn(now: number): Promise<number>
  /** Something was put. */
  hint(): void
  /** Whether there is room and, as far as is known, something to read. */
  readonly hungry: boolean
}

const page = { rows: 2_000, bytes: 8 * 1024 * 1024, firstRows: 250 }
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
  let averageBytes = page.bytes / page.firstRows
  let sweptAt = 0
  let sweeps = 0
  /** Where the last two sweeps found the cursor. */
  let floors: [number, number] = [0, 0]

  // Rows that come back later do not stand in the way of fresh ones.
  const hungry = (): boolean => !dry && stock.size - stock.later < enoughRows && stock.weight < enough.bytes

  async function readOn(): Promise<void> {
    hinted = false
    const many = Math.max(1, Math.min(page.rows, Math.floor(page.bytes / averageBytes)))
    const rows = await readPage(database, lane, cursor, many)
    const last = rows.at(-1)
    if (last) {
      cursor = last.seq
      averageBytes = Math.max(1, rows.reduce((sum, row) => sum + row.bytes, 0) / rows.length)
    }
    dry = rows.length < many && !hinted
    stock.add(rows)
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
