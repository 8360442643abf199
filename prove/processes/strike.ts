// A strike: the process kills or stops itself when a message passes a point for the n-th time. The proof plans it in an environment
// variable, or in a message to the running process. The points call countPassing(). Without a plan, this module does nothing.

import { on } from '../../src/base/runtime/events.ts'

export type OperatorPoint = 'before-claim' | 'between-claim-and-call' | 'between-acceptance-and-settle' | 'after-settle'
export type PlatformPoint =
  | 'before-enqueueing'
  | 'while-enqueueing'
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

let planned = JSON.parse(process.env[strikeVariable] ?? 'null') as Strike | null
let passed = 0

process.on('message', (strike: Strike) => {
  planned = strike
  passed = 0
  process.send?.({ planned })
})

/** Counts a passing of this point. @returns whether it is the planned passing */
export function countPassing(point: Strike['point']): boolean {
  return point === planned?.point && ++passed === planned.passing
}

/** Sends the signal to this process. After SIGSTOP, execution continues with SIGCONT. */
export function strike(): void {
  process.kill(process.pid, planned?.signal ?? 'SIGKILL')
}

/**
 * Messages on their way to the provider. They arrive in the same turn, unless the process was delayed for more than a second: then
 * the suppression source is read again in between.
 */
const leaving = new Set<string>()
on('message.calling', ({ refs }) => {
  for (const ref of refs) leaving.add(ref)
})
/** Reports that the provider has received these messages. */
export function markArrived(refs: readonly string[]): void {
  for (const ref of refs) leaving.delete(ref)
}
export const isAnyLeaving = (): boolean => leaving.size > 0

/**
 * Strikes when the work of this turn is complete: no continuation of a resolved promise is pending, and messages on their way
 * have reached the provider.
 */
export function strikeAfterTurn(): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (isAnyLeaving()) return void setImmediate(check)
      strike()
      resolve()
    }
    setImmediate(check)
  })
}

/** For points that can delay a message: it continues only after the process was struck and continued. */
export async function passPoint(point: Strike['point']): Promise<void> {
  if (countPassing(point)) await strikeAfterTurn()
}
