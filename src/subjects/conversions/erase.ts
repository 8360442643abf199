// Erases the meta of a user's statuses, which contains the user's activity records. The statuses and their times stay.

import { brandOf } from '../../base/queue/lane-name.ts'
import type { LookUps } from '../../base/queue/queue.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { parkedStatusLane } from './parked.ts'
import { eraseMeta } from './tables.ts'

const pageItems = 500

/**
 * Each page is one commit: a call that is interrupted can be repeated.
 *
 * @param lanes the lanes of one brand
 */
export async function eraseStatuses(
  database: Database,
  queue: LookUps,
  lanes: readonly string[],
  userId: string,
): Promise<void> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await queue.findItems({ lanes, userId, before, limit: pageItems })
    const last = page.at(-1)
    if (!last) break
    before = last.seq
    const rows = page.flatMap(({ lane, ref, earlierRefs = [] }) =>
      [...earlierRefs, ...(ref === undefined ? [] : [ref])].map((each) => [lane, each]),
    )
    if (rows.length > 0) await database.commit([op(eraseMeta, rows)])
  }
  const parked = new Set(lanes.map((lane) => parkedStatusLane(brandOf(lane))))
  await queue.eraseItems([...parked], userId)
}
