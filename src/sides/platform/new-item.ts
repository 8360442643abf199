// Makes the queue item of an activity record: its key (row 29), its expiry (row 56) and its priority (row 57). Pure.

import type { NewItem } from '../../base/queue/queue.ts'
import { addExpiry, readExpiry } from '../../contract/expiry.ts'
import { messageKey } from '../../contract/message-key.ts'
import { valueAt } from '../../contract/pointer.ts'
import type { Activity } from '../../contract/read-activity.ts'
import type { LaneOptions } from './options.ts'

/** The settings of a lane that concern a record before it is enqueued. */
export type RecordRules = Pick<LaneOptions, 'channel' | 'expires' | 'transactional'>

export interface RecordContext {
  readonly rules: RecordRules
  /** The name of the API key or of the intake that enqueues the record. */
  readonly keyName: string
  /** Epoch milliseconds. */
  readonly now: number
}

const defaultExpiryAt = '/expires_at'
const defaultPriorityAt = '/priority'

/** @returns the item, or why the record is refused */
export function toNewItem(activity: Activity, context: RecordContext): NewItem | { readonly invalid: string } {
  const { expires, channel } = context.rules
  const { text, element, userId, repeated } = activity
  // Another operator's parser may take the first one: another brand, or another user.
  if (repeated !== undefined) return { invalid: `${repeated} occurs twice: send it once` }
  const key = messageKey(channel, activity)
  const at = expires?.at ?? defaultExpiryAt
  const named = valueAt(element, at) ?? undefined
  const expiresAt = named === undefined ? undefined : readExpiry(named)
  if (named !== undefined && expiresAt === undefined)
    return { invalid: `the expiry at ${at} is neither a date and time with its zone nor the seconds since 1970` }
  const priority = isTransactional(activity, context) ? ({ transactional: true } as const) : {}
  if (expiresAt !== undefined) return { key, text, userId, expiresAt, ...priority }
  if (expires?.afterMs === undefined) return { key, text, userId, ...priority }
  const byDefault = context.now + expires.afterMs
  return { key, text: addExpiry(text, at, byDefault), userId, expiresAt: byDefault, ...priority }
}

function isTransactional({ element, activityId }: Activity, { rules, keyName }: RecordContext): boolean {
  const { at = defaultPriorityAt, activities = [], keys = [] } = rules.transactional ?? {}
  if (keys.includes(keyName)) return true
  if (activityId !== null && activities.includes(activityId)) return true
  return valueAt(element, at) === 'transactional'
}
