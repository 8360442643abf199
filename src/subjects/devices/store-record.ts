// The part that the routes for links of apps and operators share: store the record durably, and count the changes for the answer.

import { HttpError } from '../../base/http/http-error.ts'
import type { OwnDeviceRecord } from '../../contract/device-events.ts'
import { eventsOf, type Judge, type Reading } from './device-event.ts'
import type { Change } from './device-rows.ts'
import type { Registry } from './registry.ts'

export interface RecordStore {
  readonly registry: Pick<Registry, 'storeEvents'>
  readonly what: Reading['what']
  readonly judge?: Judge | undefined
  readonly reaches?: Reading['reaches']
  /** Most devices of a user, if less than the registry's own limit. */
  readonly most?: number
}

/** How many tokens of a record were stored, and with which effect. */
export interface ChangeCounts {
  /** Tokens that were read and stored. */
  accepted: number
  linked: number
  moved: number
  unlinked: number
  /** Tokens for which this or a later event was stored before. */
  unchanged: number
}

export const noChanges = (): ChangeCounts => ({ accepted: 0, linked: 0, moved: 0, unlinked: 0, unchanged: 0 })

export function countChanges(counts: ChangeCounts, changes: readonly Change[]): void {
  for (const change of changes) {
    counts.accepted++
    if (change === 'kept' || change === 'none') counts.unchanged++
    else counts[change]++
  }
}

/** Stores one record. @throws HttpError 400 with the reason if a token is not accepted; nothing of it is then stored */
export async function storeRecord(
  record: OwnDeviceRecord,
  brand: string,
  { registry, what, judge, reaches, most }: RecordStore,
): Promise<ChangeCounts> {
  const events = eventsOf(record, { what, brand, judge, reaches })
  if ('invalid' in events) throw new HttpError(400, events.invalid)
  const counts = noChanges()
  countChanges(counts, await registry.storeEvents(events, [], most))
  return counts
}
