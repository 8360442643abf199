// The delivery statuses of the operator: composes the recorder, its sources on this side, and its retention.

import type { Channel } from '../contract/endpoints.ts'
import { timestampOf } from '../contract/timestamp.ts'
import type { SettledOps } from '../delivery/settle.ts'
import { createExpiry } from '../inbox/expiry.ts'
import { clock } from '../runtime/clock.ts'
import type { RetainedTable } from '../runtime/retention.ts'
import { outcomeStatus } from '../status/outcome-status.ts'
import { createStatusRecorder, type StatusRecorder } from '../status/recorder.ts'
import { forgetStatuses } from '../status/retention.ts'
import type { Database } from '../store/database.ts'

export interface StatusOptions {
  /** Whether the platform can read statuses at GET /messages/status. Default: true. */
  readonly polling?: boolean
}

export interface Statuses {
  readonly recorder: StatusRecorder
  /** Records the outcomes of a channel, in the commit of their settle. */
  settledOps(channel: Channel): SettledOps
  readonly retention: (keptMs: number) => RetainedTable
  start(): void
  stop(): Promise<void>
}

/** @param inbox whether the operator keeps the inbox itself: its messages are delivered with the settle */
export function createStatuses(database: Database, inbox: boolean): Statuses {
  const recorder = createStatusRecorder({ database })
  const expiry = inbox ? createExpiry(database, recorder.changeOps) : undefined
  return {
    recorder,
    settledOps(channel) {
      const success = channel === 'site' && inbox ? 'delivered' : 'sent'
      return (settled) => {
        const at = timestampOf(clock.now())
        const firsts = settled.map(({ message, result }) => outcomeStatus(message, result, at, success))
        return recorder.firstOps(firsts.filter((first) => first !== undefined))
      }
    },
    retention: (keptMs) => ({ keptMs, forget: (before) => forgetStatuses(database, before) }),
    start: () => expiry?.start(),
    stop: async () => expiry?.stop(),
  }
}
