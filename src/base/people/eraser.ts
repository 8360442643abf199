// Erases people, one after the other, in passes: an erasure is done when a pass finds nothing of the person any more.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import type { Loop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'
import { createWokenLoop } from '../store/woken-loop.ts'
import { completeErasure, type Erasure, erasureTopic, noteErasure, personOf, readOpenErasures } from './erasures.ts'
import type { PersonParts } from './person-data.ts'

/** Other processes know of the erasure before its rows are erased: see refreshMs in erasures.ts. */
const announcedMs = 6_000
/** Until the next pass, if rows cannot be erased yet. */
const restMs = 1_000

/**
 * The job of one store. It goes on after a restart. Of several processes, the one that has the lock works.
 *
 * @param parts the parts of the store, and of its CRM
 */
export function createEraser(database: Database, parts: PersonParts): Loop {
  return createWokenLoop('erasing people', [database], erasureTopic, async () => {
    // A notification may be lost.
    const idleMs = database.engine === 'postgres' ? 5_000 : Number.POSITIVE_INFINITY
    if ((await readOpenErasures(database).next()).done) return idleMs
    const ownership = await database.own('erasures')
    if (!ownership) return restMs
    try {
      return await eraseAll(ownership.lost)
    } finally {
      await ownership.release()
    }
  })

  /** One pass for each open erasure. @returns the milliseconds until the next */
  async function eraseAll(lost: AbortSignal): Promise<number> {
    let again = Number.POSITIVE_INFINITY
    let done = false
    for await (const page of readOpenErasures(database))
      for (const erasure of page) {
        if (lost.aborted) return restMs
        const result = await erase(erasure)
        if (result === 'done') done = true
        else again = Math.min(again, result)
      }
    if (done) await reclaim()
    return again
  }

  async function reclaim(): Promise<void> {
    for (const [store, own] of Map.groupBy(parts, (each) => each.database))
      await store.reclaim([...new Set(own.flatMap(({ part }) => part.tables.map(({ table }) => table)))])
  }

  /** @returns the milliseconds until the next pass */
  async function erase(erasure: Erasure): Promise<number | 'done'> {
    const ageMs = clock.now() - erasure.at
    if (database.engine === 'postgres' && ageMs >= 0 && ageMs < announcedMs) return announcedMs - ageMs
    const person = await personOf(database, erasure, erasure.user_id as string)
    const counts = JSON.parse(erasure.counts) as Record<string, number>
    let [found, waiting] = [0, 0]
    for (const { database: store, part } of parts) {
      const erased = await part.erase(store, person)
      found += erased.erased
      waiting += erased.waiting
      counts[part.name] = (counts[part.name] ?? 0) + erased.erased
      if (erased.erased > 0) await noteErasure(database, erasure, JSON.stringify(counts), waiting)
    }
    if (found > 0 || waiting > 0) {
      if (waiting !== erasure.waiting) await noteErasure(database, erasure, JSON.stringify(counts), waiting)
      return found > 0 ? 0 : restMs
    }
    await noteErasure(database, erasure, JSON.stringify(counts), 0)
    await completeErasure(database, erasure)
    const rows = Object.values(counts).reduce((sum, each) => sum + each, 0)
    emit('person.erased', { brand: erasure.brand, erasure: erasure.id, rows })
    return 'done'
  }
}
