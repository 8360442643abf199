// Parked statuses: records that cannot be applied, in Failed Actions of a lane of their own. A person dismisses or replays them.

import { createHash } from 'node:crypto'
import { userKey } from '../../base/queue/item-keys.ts'
import type { NewFailedItem } from '../../base/queue/queue.ts'
import { type FailedCode, failedRefusals } from '../../contract/refusals.ts'
import { readStatus, type StatusRecord, statusRecordJson } from '../../contract/status-record.ts'
import { readMeta } from './find-lane.ts'

/** Stands for an unknown brand. Visible only to keys that are not bound to a brand. */
export const noBrand = '-'

/** The lane of the parked statuses of a brand. */
export const parkedStatusLane = (brand: string): string => `${brand}/statuses`

export type ParkedCode = Extract<FailedCode, 'unreadable_status' | 'unknown_identifier' | 'unplaced_status'>

export interface ParkedStatus {
  readonly code: ParkedCode
  readonly brand: string
  /** The text of the record. */
  readonly text: string
  readonly error: string
  /** The lanes of the sender. */
  readonly lanes: readonly string[]
}

/** The item of a parked status. The same record has the same key, so a repeated call parks nothing twice. */
export function parkedItem({ code, text, error, lanes }: ParkedStatus): NewFailedItem {
  const { reason, rule } = failedRefusals[code]
  const id = createHash('sha256')
    .update(`${lanes.join(' ')}\n${text}`)
    .digest('base64url')
  const record = readStatus(text)
  const userId = 'invalid' in record ? undefined : readMeta(record.meta)?.userId
  return {
    key: userId === undefined ? id : userKey('status', userId, id),
    text: JSON.stringify({ lanes, text }),
    reason,
    rule,
    error,
  }
}

/** Reads the text of a parked item. */
export function readParked(stored: string): { readonly lanes: readonly string[]; readonly text: string } {
  return JSON.parse(stored) as { lanes: readonly string[]; text: string }
}

export const parkedText = (record: StatusRecord): string => statusRecordJson(record)
