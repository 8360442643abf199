// Notices that a brand has moved to another store, for a process that does not own the brand's lanes.

import { createMoveLog, readMovesInSession } from '../queue/brand-moves.ts'
import { divisionTopic } from '../queue/wake-topics.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'

export interface MoveWatch {
  /** The number of the store to which the brand has moved. */
  movedTo(brand: string): number | undefined
  stop(): Promise<void>
}

/** The move wakes the processes. If the wake-up is lost, they notice the move within this time. */
const readEveryMs = 1_000

/** @param logged the brands whose moves are logged */
export function watchMoves(database: Database, logged: readonly string[]): MoveWatch {
  // No brand can leave a SQLite file.
  if (database.engine === 'sqlite') return { movedTo: () => undefined, stop: async () => {} }
  let moved: ReadonlyMap<string, number> = new Map()
  const logMoves = createMoveLog()

  const loop = createLoop({
    name: 'moves of brands',
    async turn() {
      const moves = (await readMovesInSession(database)).filter(({ state }) => state !== 'received')
      moved = new Map(moves.filter(({ state }) => state === 'moved').map(({ brand, other }) => [brand, other]))
      logMoves(moves.filter(({ brand }) => logged.includes(brand)))
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
