// Decides which lane the message of a status belongs to. Pure.

import { type KnownRefs, type LaneRef, laneRefKey } from '../../base/queue/find-refs.ts'
import { readSingle } from '../../contract/read-activity.ts'
import type { StatusRecord } from '../../contract/status-record.ts'

export type Placed =
  /** A message of this lane has the identifier. */
  | { readonly known: string }
  /** Only a message of this lane can have the identifier. No message has it yet. */
  | { readonly awaited: string }
  | { readonly unplaced: string }

/** The activity record of a status's meta, if it has a valid one. */
export function readMeta(meta: string | null): { readonly brandId: string; readonly userId: string } | undefined {
  if (meta === null) return undefined
  const read = readSingle(meta)
  return 'invalid' in read ? undefined : read
}

/**
 * The lanes in which the identifier may be found: those of the sender, of the record's channel, and, if the meta names a brand,
 * of this brand.
 *
 * @param lanes the lanes of the sender
 */
export function candidateLanes({ channel, meta }: StatusRecord, lanes: readonly string[]): readonly string[] {
  const ofChannel = lanes.filter((lane) => lane.endsWith(`/${channel}`))
  const brand = readMeta(meta)?.brandId
  return brand === undefined ? ofChannel : ofChannel.filter((lane) => lane === `${brand}/${channel}`)
}

/** @param known the result of findRefs() for these candidates */
export function placeStatus(
  { ref, channel, meta }: StatusRecord,
  candidates: readonly string[],
  known: Pick<KnownRefs, 'has'>,
): Placed {
  const found = candidates.filter((lane) => known.has(laneRefKey({ lane, ref } satisfies LaneRef)))
  const [lane, another] = found.length > 0 ? found : candidates
  if (lane !== undefined && another === undefined) return found.length > 0 ? { known: lane } : { awaited: lane }
  if (another !== undefined)
    return {
      unplaced: `the brand of the identifier is not known, because the operator has lanes of several brands: send meta with activity.brand_id`,
    }
  const brand = readMeta(meta)?.brandId
  return {
    unplaced: `the operator may not report the ${channel} messages of ${brand === undefined ? 'any brand' : `brand ${brand}`}: its secret is that of other lanes`,
  }
}
