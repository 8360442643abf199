// Where a process of a proof is struck: at which point of a message's way, at its how many-th passing, by which signal.
// The driver says it in the environment; the points call reached(). Without it nothing happens.

import { on } from '../../src/runtime/events.ts'

export type OperatorPoint = 'before-claim' | 'between-claim-and-call' | 'between-acceptance-and-settle' | 'after-settle'
export type PlatformPoint =
  | 'before-put'
  | 'while-putting'
  | 'before-read-ahead'
  | 'between-read-and-call'
  | 'between-answer-and-settle'
  | 'after-settle'

export interface Strike {
  readonly point: OperatorPoint | PlatformPoint
  readonly passing: number
  readonly signal: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM'
}

export const strikeVariable = 'PROVE_STRIKE'

const planned = JSON.parse(process.env[strikeVariable] ?? 'null') as Strike | null
let passed = 0

/** Counts a passing; true once, at the one that was planned. */
export function reached(point: Strike['point']): boolean {
  return point === planned?.point && ++passed === planned.passing
}

export function isPlanned(point: Strike['point']): boolean {
  return point === planned?.point
}

/** The signal to this very process. SIGKILL: nothing after this runs. SIGSTOP: what follows runs after SIGCONT. */
export function strike(): void {
  process.kill(process.pid, planned?.signal ?? 'SIGKILL')
}

/**
 * On the way to the provider, and not there yet. That is the same turn, unless the process was held up for more than a second:
 * then the suppression source is asked once more, in between.
 */
const leaving = new Set<string>()
on('message.calling', ({ refs }) => {
  for (const ref of refs) leaving.add(ref)
})
/** The provider has these. */
export function arrived(refs: readonly string[]): void {
  for (const ref of refs) leaving.delete(ref)
}
export const isAnyLeaving = (): boolean => leaving.size > 0

/**
 * Strikes when all that began in this turn has come to rest: no promise that is already resolved waits to go on, and what
 * is on its way is with the provider.
 */
export function strikeAtRest(): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isAnyLeaving()) return void setImmediate(look)
      strike()
      resolve()
    }
    setImmediate(look)
  })
}

/** For a point at which a message can be held back: it does not go on until the process was struck (and continued). */
export async function holdAt(point: Strike['point']): Promise<void> {
  if (reached(point)) await strikeAtRest()
}
