// The lanes of parked statuses: a replay stores a record as if the operator had sent it now.

import type { Outcome } from '../contract/outcome.ts'
import { refuseFailed } from '../contract/refusals.ts'
import { readStatus } from '../contract/status-record.ts'
import { parkedLane } from '../queue/parked-lane.ts'
import type { LaneHandler, LaneService, Queue } from '../queue/queue.ts'
import { noBrand, parkedStatusLane, readParked } from './parked.ts'
import type { StatusIntake } from './status-intake.ts'

/** Serves the lanes of parked statuses of these brands, and of records without a known brand. */
export function serveStatusLanes(
  queue: Pick<Queue, 'serveLane'>,
  intake: StatusIntake,
  brands: readonly string[],
): readonly LaneService[] {
  const replay: LaneHandler = (items) => Promise.all(items.map(({ text }) => replayStatus(intake, text)))
  const all = brands.length > 0 ? [noBrand, ...new Set(brands)] : []
  return all.map((brand) => queue.serveLane({ ...parkedLane, name: parkedStatusLane(brand) }, replay))
}

async function replayStatus(intake: StatusIntake, stored: string): Promise<Outcome> {
  const { lanes, text } = readParked(stored)
  const record = readStatus(text)
  if ('invalid' in record) return refuseFailed('unreadable_status', { error: record.invalid })
  const error = await intake.retake(record, lanes)
  return error === undefined ? { category: 'successful', rule: 'taken' } : refuseFailed('unknown_identifier', { error })
}
