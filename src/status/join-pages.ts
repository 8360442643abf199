// Polling of statuses that are in one store or in several: one cursor holds a cursor for each store.
//
// The cursor '0-12.TAG_2-7.TAG' goes on in store 0 and then in store 2. A store that filled the page comes last in the next cursor,
// so that no store waits for the end of another's statuses. With store 0 alone, the cursor is that of the store: '12.TAG'. Cursors
// of stores that this process does not read are kept: while settings change, processes with other settings read them.

import { mostStatusBytes } from '../contract/status-record.ts'
import { answerWithin } from '../store/answer-within.ts'
import { StoreUnavailable } from '../store/store-unavailable.ts'
import { firstCursor, type StatusPages } from './pages.ts'

/** A store that does not answer within this time is away: its network may drop all packets. */
const answerWithinMs = 5_000

export interface NumberedPages {
  readonly number: number
  readonly pages: StatusPages
}

/**
 * The pages of all stores. A store that cannot be reached is passed over: its statuses follow when it can be reached. Each store is
 * read with all brands: a brand may have moved there since this process started.
 *
 * @param storesOf the stores in which these brands live by the settings
 */
export function joinStatusPages(storesOf: (brands: readonly string[]) => readonly NumberedPages[]): StatusPages {
  return {
    /** @throws StoreUnavailable if no store can be reached */
    async read(brands, after, limit) {
      const cursors = after === undefined ? new Map<number, string>() : readCursors(after)
      if (!cursors) return { restart: firstCursor }
      const stores = inOrderOf([...cursors.keys()], storesOf(brands))
      for (const { number } of stores) if (!cursors.has(number)) cursors.set(number, firstCursor)
      const next = new Map(cursors)
      const records: string[] = []
      let bytes = 0
      let unavailable = 0
      for (const { number, pages } of stores) {
        if (isFull()) break
        const reading = pages.read(brands, cursors.get(number), limit - records.length)
        const page = await answerWithin(answerWithinMs, reading).catch(undefinedIfAway)
        if (!page) {
          unavailable++
          continue
        }
        if (page.restart !== undefined) return { restart: writeCursors(cursors.set(number, page.restart)) }
        records.push(...page.records)
        for (const record of page.records) bytes += record.length
        if (isFull()) next.delete(number)
        next.set(number, page.next)
      }
      if (unavailable === stores.length) throw new StoreUnavailable('no store with these brands can be reached')
      return { records, next: writeCursors(next) }

      function isFull(): boolean {
        return records.length === limit || bytes > mostStatusBytes
      }
    },
  }
}

/** The cursor of each store, in their order. @returns undefined if the text is not a cursor */
function readCursors(text: string): Map<number, string> | undefined {
  const parts = text.split('_').map((part) => /^(?:(\d{1,2})-)?([^_-].*)$/.exec(part))
  if (parts.some((part) => part === null)) return undefined
  return new Map(parts.map((part) => [Number(part?.[1] ?? 0), part?.[2] as string]))
}

function writeCursors(cursors: ReadonlyMap<number, string>): string {
  const ofMain = cursors.size === 1 ? cursors.get(0) : undefined
  return ofMain ?? [...cursors].map(([number, cursor]) => `${number}-${cursor}`).join('_')
}

/** Stores without a cursor come last. */
function inOrderOf(numbers: readonly number[], stores: readonly NumberedPages[]): readonly NumberedPages[] {
  const placeOf = ({ number }: NumberedPages): number =>
    numbers.includes(number) ? numbers.indexOf(number) : numbers.length
  return stores.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function undefinedIfAway(error: unknown): undefined {
  if (error instanceof StoreUnavailable) return undefined
  throw error
}
