import { clock } from './clock.ts'
import { createLoop, type Loop } from './loop.ts'

export interface RetainedTable {
  /** Retention period in milliseconds. */
  readonly keptMs: number
  /** Deletes a bounded number of rows older than `before` (epoch ms). @returns the number of deleted rows; 0 when none is left */
  readonly forget: (before: number) => Promise<number>
}

/** 90 days, the minimum of row 29: a repetition of a deleted message would be sent again. */
export const keptByDefaultMs = 90 * 24 * 3_600_000

/** 14 days: request bodies, attempts and calls are needed to investigate recent failures. */
export const contentsKeptByDefaultMs = 14 * 24 * 3_600_000

const hourMs = 3_600_000
/** Pause between two steps, for other work. */
const pauseMs = 50

/** Deletes expired rows once an hour, in steps small enough not to delay other work. */
export function createRetention(tables: readonly RetainedTable[]): Loop {
  return createLoop('retention', async () => {
    let deleted = 0
    for (const { keptMs, forget } of tables) deleted += await forget(clock.now() - keptMs)
    return deleted > 0 ? pauseMs : hourMs
  })
}
