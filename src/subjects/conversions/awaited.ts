// Statuses that arrived before the answer that brings their identifier. They count as soon as a message has the identifier. An
// identifier that no message gets in time is parked.

import { findRefs, type KnownRefs, laneRefKey } from '../../base/queue/find-refs.ts'
import { brandOf, channelOf } from '../../base/queue/lane-name.ts'
import type { QueueInput } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { createLoop, type Loop } from '../../base/runtime/loop.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { conversionsOp } from './counted.ts'
import { type ParkedStatus, parkedStatusLane, parkedText } from './parked.ts'
import { emitParked, parkedOps } from './status-intake.ts'
import { StatusesFull, type StatusQuota } from './status-quota.ts'
import {
  type Awaited,
  deleteAwaited,
  deleteReported,
  type ReportedStatus,
  selectAwaited,
  selectReported,
} from './tables.ts'

export interface AwaitedOptions {
  readonly database: Database
  readonly queue: QueueInput
  readonly quota: StatusQuota
  /** Whether the operator of a lane reports statuses. */
  readonly isReported: () => boolean
  /** How long a status waits for its identifier, in milliseconds. */
  readonly waitMs: (lane: string) => number
}

const pageSize = 1_000
const restMs = 1_000
/** With many rows, the look-ups take at most a tenth of the time. */
const restFactor = 9

/** Any number of processes may do this at the same time. */
export function createAwaitedLoop({ database, queue, quota, isReported, waitMs }: AwaitedOptions): Loop {
  return createLoop('awaited identifiers', async () => {
    if (!isReported()) return restMs
    const began = clock.monotonic()
    let after: readonly [string, string] = ['', '']
    for (;;) {
      const page = await database.read(op(selectAwaited, [[...after, pageSize]]))
      await settlePage(page)
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize) break
      after = [last.lane, last.ref]
    }
    return Math.max(restMs, restFactor * (clock.monotonic() - began))
  })

  async function settlePage(page: readonly Awaited[]): Promise<void> {
    const now = clock.now()
    const known = await findRefs(database, page)
    const found = page.filter((each) => known.has(laneRefKey(each)))
    const late = page.filter((each) => !known.has(laneRefKey(each)) && each.since + waitMs(each.lane) <= now)
    if (found.length > 0) await count(found, known)
    if (late.length > 0) await parkLate(late)
  }

  async function count(found: readonly Awaited[], known: KnownRefs): Promise<void> {
    const statuses = await readReported(found)
    await database.commit([op(deleteAwaited, rowsOf(found)), conversionsOp(statuses, known)])
  }

  async function readReported(awaited: readonly Awaited[]): Promise<readonly ReportedStatus[]> {
    const rows = awaited.map(({ lane, ref }) => [lane, ref])
    return database.read(op(selectReported, rows))
  }

  async function parkLate(late: readonly Awaited[]): Promise<void> {
    const statuses = await readReported(late)
    const parked = statuses.map(parkedOf)
    try {
      await quota.take(parked.map(({ brand }) => parkedStatusLane(brand)))
    } catch (error) {
      // The statuses wait until a person has decided about the parked ones.
      if (error instanceof StatusesFull) return
      throw error
    }
    const byBrand = Map.groupBy(parked, ({ brand }) => brand)
    await database.commit([
      op(deleteAwaited, rowsOf(late)),
      op(deleteReported, statuses, ({ lane, ref, status }) => [lane, ref, status]),
      ...[...byBrand].flatMap(([brand, own]) => parkedOps(queue, brand, own)),
    ])
    for (const each of parked) emitParked(each)
  }
}

const rowsOf = (awaited: readonly Awaited[]) => awaited.map(({ lane, ref, reports }) => [lane, ref, reports])

function parkedOf({ lane, ref, status, at, meta }: ReportedStatus): ParkedStatus {
  const channel = channelOf(lane)
  return {
    code: 'unknown_identifier',
    brand: brandOf(lane),
    text: parkedText({ channel, ref, status, at, meta }),
    error: `no message of ${lane} has the identifier ${ref}: no answer of the operator contained it in time`,
    lanes: [lane],
  }
}
