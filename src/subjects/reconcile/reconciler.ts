// The reconciler: one loop for each brand that requests runs when they are due and executes requested runs.
//
// Runs are not items of a queue lane: the row of a run exists anyway, survives a restart and has the time of the last run. A lane
// would duplicate it. Only the owner of a brand and field (Database.own) executes a run, so each run is executed once.

import { clock } from '../../base/runtime/clock.ts'
import type { Database } from '../../base/store/database.ts'
import { createWokenLoop } from '../../base/store/woken-loop.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import { executeRun } from './execute-run.ts'
import { type Findings, readFindings } from './findings.ts'
import { type ReconciliationOptions, resolveTarget } from './options.ts'
import { endStates, type ReconciliationRun, readLatestRuns, readRun, requestRun, runTopic, saveRun } from './runs.ts'
import { nextRunAt } from './schedule.ts'

/** The loop also polls, because a wake-up may be lost. */
const pollEveryMs = 5_000

export interface Reconciler {
  /** Of the last good run of each list. */
  findings(): Promise<readonly Findings[]>
  start(): void
  /** Interrupts running runs. An interrupted scheduled run is due again at the next start. */
  stop(): Promise<void>
}

export function createReconciler(database: Database, configured: readonly ReconciliationOptions[]): Reconciler {
  const stopping = new AbortController()
  const loops = configured.map((options) => {
    const findDueAt = createDueTimes(options.everyMs)
    return createWokenLoop(`reconciling brand ${options.brand}`, [database], runTopic, () =>
      runDueFields(database, options, findDueAt, stopping.signal),
    )
  })
  return {
    findings: () => readFindings(database, configured),
    start() {
      for (const loop of loops) loop.start()
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Runs the fields one after the other, so that each brand needs the memory of one run only. */
async function runDueFields(
  database: Database,
  options: ReconciliationOptions,
  findDueAt: FindDueAt,
  stopping: AbortSignal,
): Promise<number> {
  const { brand } = options
  let nextAt = clock.steady() + pollEveryMs
  for (const field of options.fields) {
    if (stopping.aborted) return 0
    const { last } = await readLatestRuns(database, brand, field)
    const isOpen = last && !endStates.includes(last.state)
    const dueAt = findDueAt(field, last)
    if (isOpen || dueAt <= clock.steady()) await runIfOwner(database, options, field, findDueAt, stopping)
    nextAt = Math.min(nextAt, isOpen ? Number.POSITIVE_INFINITY : Math.max(dueAt, clock.steady() + 1))
  }
  return Math.max(0, nextAt - clock.steady())
}

type FindDueAt = (field: Field, last: ReconciliationRun | undefined) => number

/**
 * Finds when the next run of a field is due, by clock.steady(). The times of runs are by the clock of a machine, which may be set:
 * how long this process waits is decided when it first reads the last run, and is never longer than the interval.
 */
function createDueTimes(everyMs: number | undefined): FindDueAt {
  const known = new Map<Field, { readonly run: string | undefined; readonly dueAt: number }>()
  return (field, last) => {
    const run = last && `${last.run} ${last.state} ${last.why}`
    const before = known.get(field)
    if (before && before.run === run) return before.dueAt
    const waitMs = Math.min(nextRunAt(last, everyMs) - clock.now(), everyMs ?? Number.POSITIVE_INFINITY)
    const dueAt = clock.steady() + waitMs
    known.set(field, { run, dueAt })
    return dueAt
  }
}

async function runIfOwner(
  database: Database,
  options: ReconciliationOptions,
  field: Field,
  findDueAt: FindDueAt,
  stopping: AbortSignal,
): Promise<void> {
  const { brand } = options
  const ownership = await database.own(`reconcile/${brand}/${field}`)
  if (!ownership) return
  try {
    let { last } = await readLatestRuns(database, brand, field)
    if (findDueAt(field, last) <= clock.steady() && (!last || endStates.includes(last.state))) {
      const run = await requestRun(database, brand, field, 'schedule')
      last = run === undefined ? undefined : await readRun(database, run)
    }
    if (!last || endStates.includes(last.state)) return
    if (last.state !== 'requested') return await endAbandonedRun(database, last)
    await executeRun(database, last, resolveTarget(options), AbortSignal.any([stopping, ownership.lost]))
  } finally {
    await ownership.release()
  }
}

/** Ends a run that another process left: this process owns it now, so the other process is gone. */
async function endAbandonedRun(database: Database, run: ReconciliationRun): Promise<void> {
  run.state = 'refused'
  run.why = 'interrupted'
  run.detail = 'the process that executed the run has ended'
  run.ended_at = clock.now()
  await saveRun(database, run)
}
