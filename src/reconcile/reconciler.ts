// The reconciler: one loop for each brand that requests runs when they are due and executes requested runs.
//
// Runs are not items of a queue lane: the row of a run exists anyway, survives a restart and has the time of the last run. A lane
// would duplicate it. Only the owner of a brand and field (Database.own) executes a run, so each run is executed once.

import type { ReconciliationField as Field } from '../contract/records.ts'
import { clock } from '../runtime/clock.ts'
import { createLoop, type Loop } from '../runtime/loop.ts'
import type { Database } from '../store/database.ts'
import { executeRun } from './execute-run.ts'
import { type ReconciliationOptions, resolveTarget } from './options.ts'
import { endStates, type ReconciliationRun, readLatestRuns, readRun, requestRun, runTopic, saveRun } from './runs.ts'
import { nextRunAt } from './schedule.ts'

/** The loop also polls, because a wake-up may be lost. */
const pollEveryMs = 5_000

export interface Reconciler {
  start(): void
  /** Interrupts running runs. An interrupted scheduled run is due again at the next start. */
  stop(): Promise<void>
}

export function createReconciler(database: Database, configured: readonly ReconciliationOptions[]): Reconciler {
  const stopping = new AbortController()
  const loops = configured.map((options) =>
    createLoop({
      name: `reconciling brand ${options.brand}`,
      turn: () => runDueFields(database, options, stopping.signal),
    }),
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

/** Runs the fields one after the other, so that each brand needs the memory of one run only. */
async function runDueFields(
  database: Database,
  options: ReconciliationOptions,
  stopping: AbortSignal,
): Promise<number> {
  const { brand, everyMs } = options
  let nextAt = clock.now() + pollEveryMs
  for (const field of options.fields) {
    if (stopping.aborted) return 0
    const { last } = await readLatestRuns(database, brand, field)
    const isOpen = last && !endStates.includes(last.state)
    const dueAt = nextRunAt(last, everyMs)
    if (isOpen || dueAt <= clock.now()) await runIfOwner(database, options, field, stopping)
    nextAt = Math.min(nextAt, isOpen ? Number.POSITIVE_INFINITY : Math.max(dueAt, clock.now() + 1))
  }
  return Math.max(0, nextAt - clock.now())
}

async function runIfOwner(
  database: Database,
  options: ReconciliationOptions,
  field: Field,
  stopping: AbortSignal,
): Promise<void> {
  const { brand, everyMs } = options
  const ownership = await database.own(`reconcile/${brand}/${field}`)
  if (!ownership) return
  try {
    let { last } = await readLatestRuns(database, brand, field)
    if (nextRunAt(last, everyMs) <= clock.now() && (!last || endStates.includes(last.state))) {
      const run = await requestRun(database, brand, field, 'schedule')
      last = run === undefined ? undefined : await readRun(database, run)
    }
    if (!last || endStates.includes(last.state)) return
    if (last.state !== 'asked') return await endAbandonedRun(database, last)
    await executeRun(database, last, resolveTarget(options), AbortSignal.any([stopping, ownership.lost]))
  } finally {
    await ownership.release()
  }
}

/** Ends a run that another process left: this process owns it now, so the other process is gone. */
async function endAbandonedRun(database: Database, run: ReconciliationRun): Promise<void> {
  run.state = 'refused'
  run.why = 'interrupted'
  run.particulars = 'the process that executed the run has ended'
  run.ended_at = clock.now()
  await saveRun(database, run)
}
