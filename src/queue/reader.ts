// Reading ahead, in bounded memory: new items by number, delayed and replayed items when they are due, and a periodic sweep for
// items that both have missed.

import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import {
  type Ahead,
  findBehind,
  findDue,
  type Place,
  readAhead,
  readItems,
  readPage,
  readPlaces,
} from './read-waiting.ts'
import type { Row } from './row.ts'
import type { Stock } from './stock.ts'

/** Something was put; or something that had failed waits again. */
export type Hint = 'put' | 'replayed'

export interface Reader {
  /** Reads what there is room for. @returns how many milliseconds until the next look */
  turn(now: number): Promise<number>
  hint(what: Hint): void
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
  const unknown = <Of extends Place>(places: readonly Of[]): Of[] => places.filter(({ seq }) => !stock.known(seq))
  let averageBytes = page.bytes / page.firstRows
  const fresh = createFresh()
  const due = createDue()
  let dueNext = false
  let sweptAt = 0
  let sweeps = 0
  /** The cursors at the last two sweeps. */
  let floors: [number, number] = [0, 0]

  // Rows that come back later do not stand in the way of others.
  const room = (): boolean => stock.size - stock.later < enoughRows && stock.weight < enough.bytes
  const hungry = (): boolean => (!fresh.dry || !due.dry) && room()
  const pageRows = (): number => Math.max(1, Math.min(page.rows, Math.floor(page.bytes / averageBytes)))

  function add(rows: readonly Row[]): void {
    if (rows.length > 0) averageBytes = Math.max(1, rows.reduce((sum, row) => sum + row.bytes, 0) / rows.length)
    stock.add(rows)
  }

  /** New items, in the order of their numbers. */
  function createFresh() {
    let cursor = 0
    let dry = false
    let hints = 0
    /** The items after the cursor that were looked up so far. */
    let ahead: readonly Ahead[] = []

    async function readAheadPage(): Promise<Row[]> {
      const many = pageRows()
      const rows = await readItems(database, lane, ahead.slice(0, many))
      ahead = ahead.slice(many)
      return rows
    }

    return {
      get dry() {
        return dry
      },
      get cursor() {
        return cursor
      },
      hint(): void {
        hints++
        dry = false
      },
      async read(): Promise<void> {
        const before = hints
        const rows = ahead.length > 0 ? await readAheadPage() : await readPage(database, lane, cursor, page.firstRows)
        cursor = rows.at(-1)?.seq ?? cursor
        add(rows)
        if (ahead.length > 0) return
        // A full page: there is more to read. A trickle of items is read in one step.
        if (rows.length >= page.firstRows) ahead = await readAhead(database, lane, cursor, page.ahead)
        dry = ahead.length === 0 && hints === before
      },
    }
  }

  /** Due items, in the order of their due times. */
  function createDue() {
    const start: Place = { due_at: 0, seq: Number.MAX_SAFE_INTEGER }
    let cursor = start
    let dry = false
    let hints = 0
    let ahead: readonly Ahead[] = []
    /** Nothing behind it was ever looked at, so nothing there is known, and nothing there was settled since. */
    let furthest = start
    let isNew = true
    return {
      get dry() {
        return dry
      },
      hint(): void {
        hints++
        dry = false
      },
      /** Looks at all of it once more: with the clocks of several processes, some may have become due behind the cursor. */
      fromStart(): void {
        cursor = start
        ahead = []
        dry = false
      },
      async read(now: number): Promise<void> {
        const before = hints
        if (ahead.length === 0) {
          const found = await findDue(database, lane, cursor, now, page.ahead)
          isNew = !isBefore(cursor, furthest)
          cursor = found.at(-1) ?? cursor
          if (isBefore(furthest, cursor)) furthest = cursor
          dry = found.length === 0 && hints === before
          ahead = unknown(found)
        }
        const many = pageRows()
        const places = ahead.slice(0, many)
        ahead = ahead.slice(many)
        add(await (isNew ? readItems : readPlaces)(database, lane, places))
      },
    }
  }

  return {
    async turn(now) {
      if (now - sweptAt >= sweepEveryMs) await sweep(now)
      else if (hungry()) {
        // In turn, so that neither waits for the end of the other.
        dueNext = !due.dry && (fresh.dry || !dueNext)
        await (dueNext ? due.read(now) : fresh.read())
      }
      return hungry() ? 0 : Math.max(1, sweptAt + sweepEveryMs - clock.now())
    },
    hint: (what) => (what === 'put' ? fresh : due).hint(),
    get hungry() {
      return hungry()
    },
  }

  /** The safety net for lost hints, and for items that became visible behind the cursors. */
  async function sweep(now: number): Promise<void> {
    sweptAt = now
    fresh.hint()
    due.fromStart()
    if (stock.weight >= enough.bytes) return
    const after = sweeps++ % fullSweepEach === 0 ? 0 : floors[0]
    floors = [floors[1], fresh.cursor]
    // The result includes the items in memory, so it needs room for more.
    const behind = await findBehind(database, lane, after, fresh.cursor, stock.size + page.firstRows)
    stock.add(await readPlaces(database, lane, unknown(behind)))
  }
}

const isBefore = (a: Place, b: Place): boolean => a.due_at < b.due_at || (a.due_at === b.due_at && a.seq < b.seq)
