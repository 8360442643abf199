import { createLoop, type Loop } from './loop.ts'

export interface Kept {
  /** How long, in milliseconds. */
  readonly keptMs: number
  /** Forgets a bounded number of rows from before then. @returns how many; 0: there is nothing more */
  readonly forget: (before: number) => Promise<number>
}

/** 90 days, the least that row 29 asks for: what is forgotten would be sent again if it were asked for again. */
export const keptByDefaultMs = 90 * 24 * 3_600_000

/** 14 days: request bodies, attempts and calls are read when something went wrong lately. */
export const contentsKeptByDefaultMs = 14 * 24 * 3_600_000

const hourMs = 3_600_000
/** Between two steps others get their turn. */
const breathMs = 50

/** Forgets what is too old, once an hour, in steps so small that nobody waits for them. */
export function createRetention(tables: readonly Kept[]): Loop {
  return createLoop({
    name: 'retention',
    async turn() {
      let gone = 0
      for (const { keptMs, forget } of tables) gone += await forget(Date.now() - keptMs)
      return gone > 0 ? breathMs : hourMs
    },
  })
}
