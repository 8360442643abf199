// Executes one run, from the request to the operator to the result. A refused answer ends the run without a result.

import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import type { Database } from '../../base/store/database.ts'
import type { Texts } from '../../base/store/scratch.ts'
import { shortened } from '../../contract/storable.ts'
import { type AnswerParser, createAnswerParser } from './answer-parser.ts'
import { AnswerRefused } from './answer-refused.ts'
import { type Comparison, compareLists, countCrmUsers, readDifferences } from './compare-lists.ts'
import { checkDataTime } from './data-time.ts'
import { insertDiscrepancies } from './discrepancies.ts'
import { countFindings } from './findings.ts'
import type { ReconciliationTarget } from './options.ts'
import { requestList } from './request-list.ts'
import { type ReconciliationRun, readLatestRuns, saveRun } from './runs.ts'
import { worstDirection } from './severity.ts'
import { refuseGrownList, refuseShrunkList, type SizeReference } from './size-limits.ts'

const saveEveryMs = 1_000

/**
 * Executes a requested run. The caller owns the brand and field of the run.
 *
 * @param signal aborts when the platform stops or the ownership is lost
 */
export async function executeRun(
  database: Database,
  run: ReconciliationRun,
  target: ReconciliationTarget,
  signal: AbortSignal,
): Promise<void> {
  run.state = 'streaming'
  run.started_at = clock.now()
  await saveRun(database, run)
  emit('run.started', { brand: run.brand, field: run.field, run: run.run, by: run.requested_by })
  const saveTimer = clock.setInterval(() => {
    recordMemory(run)
    if (!signal.aborted) saveRun(database, run).catch(() => {})
  }, saveEveryMs)
  try {
    run.state = (await reconcileField(database, run, target, signal)) ? 'done' : 'no_source'
  } catch (error) {
    const refused = error instanceof AnswerRefused ? error : new AnswerRefused('store', (error as Error).message)
    run.state = 'refused'
    run.why = refused.why
    // The text may contain any text of the operator.
    run.detail = shortened(refused.message)
  } finally {
    clock.clearInterval(saveTimer)
  }
  run.ended_at = clock.now()
  recordMemory(run)
  // A process that lost the ownership must not write: the next owner ends the run.
  if (signal.aborted && run.state === 'done') return
  await saveRun(database, run)
  emitEnd(run)
}

/** @returns false if the operator has no source for this field */
async function reconcileField(
  database: Database,
  run: ReconciliationRun,
  { graceMs, limits, ...operator }: ReconciliationTarget,
  signal: AbortSignal,
): Promise<boolean> {
  const { brand, field } = run
  const scratch = await database.scratch()
  const closeScratch = (): void => void scratch.close().catch(() => {})
  signal.addEventListener('abort', closeScratch, { once: true })
  try {
    const reference = await readReference(database, run, () => countCrmUsers(scratch, brand, field))
    const response = await requestList({ ...operator, field, idleMs: limits.idleMs, totalMs: limits.totalMs, signal })
    const list = { ids: 0, dataAt: 0 }
    try {
      if (!response.chunks) return false
      const parser = createAnswerParser(limits.idBytes)
      const checkSize = (): void => {
        if (run.any_size !== 1) refuseGrownList(parser.ids, reference, limits)
      }
      await scratch.load('answer', readTexts(response.chunks, parser, run, list, checkSize))
    } finally {
      await response.close()
    }
    checkDataTime(list.dataAt, clock.now())
    if (run.any_size !== 1) refuseShrunkList(list.ids, reference, limits)
    run.data_at = list.dataAt
    run.state = 'comparing'
    await saveRun(database, run)

    const first = worstDirection(field)
    const judgedUntil = list.dataAt - graceMs
    const result = await compareLists({ scratch, brand, field, ids: list.ids, judgedUntil, first })
    for await (const page of readDifferences(scratch)) {
      signal.throwIfAborted()
      await insertDiscrepancies(database, run, page)
    }
    storeResult(run, result)
    return true
  } catch (error) {
    // After an abort, any error may occur.
    if (signal.aborted)
      throw new AnswerRefused('interrupted', 'the platform stopped or lost its database during the run')
    throw error
  } finally {
    signal.removeEventListener('abort', closeScratch)
    await scratch.close()
  }
}

async function readReference(
  database: Database,
  run: ReconciliationRun,
  count: () => Promise<number>,
): Promise<SizeReference> {
  const { lastDone } = await readLatestRuns(database, run.brand, run.field)
  return lastDone
    ? { users: lastDone.ids, of: 'the last good list' }
    : { users: await count(), of: 'the CRM’s own count' }
}

async function* readTexts(
  chunks: AsyncIterable<Uint8Array>,
  parser: AnswerParser,
  run: ReconciliationRun,
  list: { ids: number; dataAt: number },
  checkSize: () => void,
): AsyncGenerator<Texts> {
  for await (const chunk of chunks) {
    yield* parser.push(chunk)
    run.ids = parser.ids
    run.bytes += chunk.length
    checkSize()
  }
  const { texts, timestamp } = parser.end()
  yield* texts
  list.ids = parser.ids
  list.dataAt = timestamp
}

function storeResult(run: ReconciliationRun, { crmUsers, operatorOnly, crmOnly, tooRecent }: Comparison): void {
  run.crm_users = crmUsers
  run.operator_only = operatorOnly
  run.crm_only = crmOnly
  run.too_recent = tooRecent
}

function recordMemory(run: ReconciliationRun): void {
  run.memory = Math.max(run.memory, process.memoryUsage.rss())
}

function emitEnd(ended: ReconciliationRun): void {
  const { brand, field, run, state, ids, why, detail } = ended
  emit('run.ended', {
    brand,
    field,
    run,
    state,
    ids,
    ms: (ended.ended_at ?? 0) - (ended.started_at ?? 0),
    ...countFindings(ended),
    ...(why !== null && { why, error: detail ?? '' }),
  })
}
