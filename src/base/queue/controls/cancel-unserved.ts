// Does the open cancellations of lanes that no process serves, such as a lane that was removed from the configuration. Meanwhile this
// process owns these lanes, so a process that begins to serve one waits for the end.

import { clock } from '../../runtime/clock.ts'
import type { Database } from '../../store/database.ts'
import type { BufferedItem } from '../lane/buffered-item.ts'
import { settleOps } from '../lane/settle-ops.ts'
import type { CallResult } from '../lane/settle-writer.ts'
import { outcomeCountsOp } from '../outcome-counts.ts'
import { createProcessReader, heldLanesOp, ownLanesOp, registerOnceOp, releaseLanesOp } from '../owners/lane-owners.ts'
import { divisionTopic } from '../wake-topics.ts'
import { createCancelSweep } from './cancel-sweep.ts'
import { cancelledResult, findCancellation, readOpenCancellations } from './cancellations.ts'

/** Leaves the lanes that a living process serves to that process. */
export async function cancelUnserved(database: Database, lanes: readonly string[]): Promise<void> {
  const { owner } = database
  const ownership = await database.own('unserved lanes')
  if (!ownership) return
  try {
    const [, acquired, held] = await database.commit([
      registerOnceOp(owner),
      ownLanesOp(owner, lanes),
      heldLanesOp(owner, lanes),
    ])
    // After the acquisition: a process registers a lane before it acquires it. So a lane of this process that nobody serves was acquired
    // here, now or in an earlier call that could not release it.
    const { living } = await createProcessReader(database)(owner)
    const served = new Set(living.flatMap((each) => each.lanes))
    const unserved = held.map(({ lane }) => lane).filter((lane) => !served.has(lane))
    try {
      for (const lane of unserved) await cancelInLane(database, lane, ownership.lost)
    } finally {
      const released = new Set([...unserved, ...acquired.map(({ lane }) => lane)])
      await database.commit([releaseLanesOp(owner, [...released]), database.wake(divisionTopic)])
    }
  } finally {
    await ownership.release()
  }
}

async function cancelInLane(database: Database, lane: string, lost: AbortSignal): Promise<void> {
  const cancellations = await readOpenCancellations(database, lane)
  const found: BufferedItem[] = []
  const sweep = createCancelSweep({
    database,
    lane,
    buffer: { has: () => false, add: (items) => found.push(...items) },
    reader: { noteSwept() {} },
    cancellations: () => cancellations,
    onDone() {},
  })
  while (sweep.active && !lost.aborted) {
    await sweep.step()
    const selected = Map.groupBy(found.splice(0), (item) => findCancellation(cancellations, item))
    for (const [cancellation, items] of selected)
      if (cancellation && !lost.aborted) await settle(database, lane, cancelledResult(cancellation, items))
  }
}

async function settle(database: Database, lane: string, { final, writes }: CallResult): Promise<void> {
  const settlement = {
    items: final.map(({ item }) => item),
    settled: final.map(({ settled }) => settled),
    failed: final.flatMap(({ failed }) => failed ?? []),
  }
  await database.commit([
    ...settleOps(database.engine, lane, settlement, clock.now()),
    outcomeCountsOp(lane, final),
    ...writes,
  ])
}
