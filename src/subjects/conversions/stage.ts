// How far a message came, as conversions are counted. Pure.

import type { MessageStatus } from '../../contract/status.ts'

/** 0: not reported as delivered. 1: delivered. 2: displayed. 3: clicked. */
export type Stage = 0 | 1 | 2 | 3

/** The stages by which messages are listed. */
export const reachedStages = ['delivered', 'displayed', 'clicked', 'failed'] as const
export type ReachedStage = (typeof reachedStages)[number]

/** Each stage includes the earlier stages: a clicked message counts as displayed, even if nobody reported that. */
export const stageOf: Readonly<Record<MessageStatus, Stage>> = {
  accepted: 0,
  sent: 0,
  delivered: 1,
  displayed: 2,
  opened: 2,
  dismissed: 2,
  archived: 2,
  clicked: 3,
  failed: 0,
  expired: 0,
}

export const isFailure = (status: MessageStatus): boolean => status === 'failed' || status === 'expired'
