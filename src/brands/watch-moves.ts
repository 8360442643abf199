// Notices that a brand has moved to another store, for a process that does not own the brand's lanes.

import { readMovesInSession } from '../queue/brand-moves.ts'
import { divisionTopic } from '../queue/wake-topics.ts'
import { emit } from '../runtime/events.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'

export interface MoveWatch {
  /** The number of the store to which the brand has moved. */
  movedTo(brand: string): number | undefined
  stop(): Promise<void>
}

/** The move wakes the processes. If the wake-up is lost, they notice the move within this time. */
const readEveryMs = 1_000

/** @param reported the brands whose moves are logged */
export function watchMoves(database: Database, reported: readonly string[]): MoveWatch {
  // No brand can leave a SQLite file.
  if (database.engine === 'sqlite') return { movedTo: () => undefined, stop: async () => {} }
  let moved: ReadonlyMap<string, number> = new Map()
  let seen = ''

  const loop = createLoop({
    name: 'moves of brands',
    async turn() {
      const moves = (await readMovesInSession(database)).filter(({ state }) => state !== 'received')
      moved = new Map(moves.filter(({ state }) => state === 'moved').map(({ brand, other }) => [brand, other]))
      const own = moves.filter(({ brand }) => reported.includes(brand))
      const described = JSON.stringify(own)
      if (described !== seen)
        for (const { brand, state, other: to } of own)
          emit(state === 'moved' ? 'brand.moved' : 'brand.moving', { brand, to })
      seen = described
      return readEveryMs
    },
  })
  const unlisten = database.onWake(divisionTopic, () => loop.wake())
  loop.start()
  return {
    movedTo: (brand) => moved.get(brand),
    async stop() {
      unlisten()
      await loop.stop()
    },
  }
}
