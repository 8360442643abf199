import type { Fatal } from '../../../contract/outcome.ts'

/** Why an item is not delivered yet. */
export type WaitReason = Pick<Fatal, 'reason' | 'error'>

/** The wait reasons of items with their own backoff, in bounded memory. */
export interface WaitReasons {
  set(seq: number, reason: WaitReason): void
  get(seq: number): WaitReason | undefined
}

const maxReasons = 20_000

export function createWaitReasons(): WaitReasons {
  /** The oldest first. */
  const reasons = new Map<number, WaitReason>()
  return {
    get: (seq) => reasons.get(seq),
    set(seq, { reason, error }) {
      reasons.delete(seq)
      reasons.set(seq, { reason, error })
      if (reasons.size > maxReasons) reasons.delete(reasons.keys().next().value as number)
    },
  }
}
