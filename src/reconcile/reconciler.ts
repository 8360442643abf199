// The reconciler: a loop for each brand that carries out what was asked for, and asks when a run is due.
//
// Why a loop over the table of runs and not a lane of the queue: the row of a run is needed anyway, it survives a restart, and it
// says when the last one was; a lane would be a second place to keep in step with it. A run belongs to who owns its brand and
// field (Database.own), so it runs once however many processes there are.

import type { ReconciliationField as Field } from '../contract/records.ts'
import { clock } from '../runtime/clock.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'
import { type ReconciliationOptions, targetOf } from './options.ts'
import { carryOut } from './run.ts'
import { askRun, endStates, latestRuns, type Run, readRun, runTopic, saveRun } from './runs.ts'
import { dueAt } from './schedule.ts'

/** A hint may be lost. */
const lookEveryMs = 5_000

export interface Reconciler {
  start(): void
  /** A run under way is broken off, and says so; a scheduled one is due again at the next start. */
  stop(): Promise<void>
}

export function createReconciler(database: Database, all: readonly ReconciliationOptions[]): Reconciler {
  const stopping = new AbortController()
  const loops = all.map((options) =>
    createLoop({ name: `reconciling brand ${options.brand}`, turn: () => turn(database, options, stopping.signal) }),
  )
  let unlisten = (): void => {}
  return {
    start() {
      unlisten = database.onWake(runTopic, () => {
        for (const loop of loops) loop.wake()
      })
      for (const loop of loops) loop.start()
    },
    async stop() {
      unlisten()
      stopping.abort()
      await Promise.all(loops.map((loop: Loop) => loop.stop()))
    },
  }
}

/** One field after the other: a run takes memory, and so the process needs as much as one of them for each brand. */
async function turn(database: Database, options: ReconciliationOptions, stopping: AbortSignal): Promise<number> {
  const { brand, everyMs } = options
  let next = clock.now() + lookEveryMs
  for (const field of options.fields) {
    if (stopping.aborted) return 0
    const { last } = await latestRuns(database, brand, field)
    const open = last && !endStates.includes(last.state)
    const due = dueAt(last, everyMs)
    if (open || due <= clock.now()) await owning(database, options, field, stopping)
    next = Math.min(next, open ? Number.POSITIVE_INFINITY : Math.max(due, clock.now() + 1))
  }
  return Math.max(0, next - clock.now())
}

async function owning(
  database: Database,
  options: ReconciliationOptions,
  field: Field,
  stopping: AbortSignal,
): Promise<void> {
  const { brand, everyMs } = options
  const ownership = await database.own(`reconcile/${brand}/${field}`)
  if (!ownership) return
  try {
    let { last } = await latestRuns(database, brand, field)
    if (dueAt(last, everyMs) <= clock.now() && (!last || endStates.includes(last.state))) {
      const run = await askRun(database, brand, field, 'schedule')
      last = run === undefined ? undefined : await readRun(database, run)
    }
    if (!last || endStates.includes(last.state)) return
    if (last.state !== 'asked') return await endOrphan(database, last)
    await carryOut(database, last, targetOf(options), AbortSignal.any([stopping, ownership.lost]))
  } finally {
    await ownership.release()
  }
}

/** We own it, and it is under way: its process is gone. */
async function endOrphan(database: Database, run: Run): Promise<void> {
  run.state = 'refused'
  run.why = 'interrupted'
  run.particulars = 'the process that carried it out has ended'
  run.ended_at = clock.now()
  await saveRun(database, run)
}
