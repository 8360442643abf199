// One run, from asking to its result. Refusals end it; nothing that it found before counts then.

import { shortened } from '../contract/storable.ts'
import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import type { Database } from '../store/database.ts'
import type { Texts } from '../store/scratch.ts'
import { type AnswerParser, createAnswerParser } from './answer-parser.ts'
import { ask } from './ask.ts'
import { type Comparison, compare, countCrmUsers, differences } from './compare.ts'
import { putDiscrepancies } from './discrepancies.ts'
import type { Target } from './options.ts'
import { Refused } from './refusal.ts'
import { latestRuns, type Run, saveRun } from './runs.ts'
import { type Direction, severityOf, worstDirection } from './severity.ts'
import { mostUsers, type Reference, refuseGrown, refuseShrunk } from './size.ts'

const savedEveryMs = 1_000

/**
 * Carries out a run that was asked for, under the ownership of its brand and field.
 *
 * @param signal aborts when the platform stops or the ownership is lost
 */
export async function carryOut(database: Database, run: Run, target: Target, signal: AbortSignal): Promise<void> {
  run.state = 'streaming'
  run.started_at = clock.now()
  await saveRun(database, run)
  emit('crm.comparing', { brand: run.brand, field: run.field, run: run.run, by: run.asked_by })
  const watch = clock.setInterval(() => {
    note(run)
    if (!signal.aborted) saveRun(database, run).catch(() => {})
  }, savedEveryMs)
  try {
    run.state = (await reconcile(database, run, target, signal)) ? 'done' : 'no_source'
  } catch (error) {
    const refused = error instanceof Refused ? error : new Refused('store', (error as Error).message)
    run.state = 'refused'
    run.why = refused.why
    // It may quote the operator, who may send anything.
    run.particulars = shortened(refused.message)
  } finally {
    clock.clearInterval(watch)
  }
  run.ended_at = clock.now()
  note(run)
  // An owner that was lost must not write: the next one ends the run.
  if (signal.aborted && run.state === 'done') return
  await saveRun(database, run)
  tell(run)
}

/** @returns false: the operator has no source for this field */
async function reconcile(
  database: Database,
  run: Run,
  { url, apiKey, graceMs, limits }: Target,
  signal: AbortSignal,
): Promise<boolean> {
  const { brand, field } = run
  const scratch = await database.scratch()
  const abandon = (): void => void scratch.close().catch(() => {})
  signal.addEventListener('abort', abandon, { once: true })
  try {
    const reference = await referenceOf(database, run, () => countCrmUsers(scratch, brand, field))
    const asked = await ask({ url, apiKey, field, idleMs: limits.idleMs, totalMs: limits.totalMs, signal })
    const read = { ids: 0, dataAt: 0 }
    try {
      if (!asked.chunks) return false
      const most = run.any_size === 1 ? Number.POSITIVE_INFINITY : mostUsers(reference, limits)
      const parser = createAnswerParser(limits.idBytes)
      const tooMany = (): void => refuseGrown(parser.ids, reference, limits)
      await scratch.load(
        'answer',
        textsOf(asked.chunks, parser, run, read, () => parser.ids > most && tooMany()),
      )
    } finally {
      await asked.close()
    }
    if (run.any_size !== 1) refuseShrunk(read.ids, reference, limits)
    run.data_at = read.dataAt
    run.state = 'comparing'
    await saveRun(database, run)

    const first = worstDirection(field)
    const judgedUntil = read.dataAt - graceMs
    const result = await compare({ scratch, brand, field, ids: read.ids, judgedUntil, first })
    for await (const page of differences(scratch)) {
      signal.throwIfAborted()
      await putDiscrepancies(database, run, page)
    }
    take(run, result)
    return true
  } catch (error) {
    // What was cut off by us fails in many ways.
    if (signal.aborted) throw new Refused('interrupted', 'the platform stopped, or lost its database, during the run')
    throw error
  } finally {
    signal.removeEventListener('abort', abandon)
    await scratch.close()
  }
}

async function referenceOf(database: Database, run: Run, count: () => Promise<number>): Promise<Reference> {
  const { lastDone } = await latestRuns(database, run.brand, run.field)
  return lastDone
    ? { users: lastDone.ids, of: 'the last good list' }
    : { users: await count(), of: 'the CRM’s own count' }
}

async function* textsOf(
  chunks: AsyncIterable<Uint8Array>,
  parser: AnswerParser,
  run: Run,
  read: { ids: number; dataAt: number },
  check: () => void,
): AsyncGenerator<Texts> {
  for await (const chunk of chunks) {
    yield* parser.push(chunk)
    run.ids = parser.ids
    run.bytes += chunk.length
    check()
  }
  const { texts, timestamp } = parser.end()
  yield* texts
  read.ids = parser.ids
  read.dataAt = timestamp
}

function take(run: Run, { crmUsers, operatorOnly, crmOnly, tooRecent }: Comparison): void {
  run.crm_users = crmUsers
  run.operator_only = operatorOnly
  run.crm_only = crmOnly
  run.too_recent = tooRecent
}

function note(run: Run): void {
  run.memory = Math.max(run.memory, process.memoryUsage.rss())
}

function tell({ brand, field, run, state, why, particulars, ...rest }: Run): void {
  const count = (direction: Direction): number => rest[direction] ?? 0
  const of = (severity: string): number =>
    (['operator_only', 'crm_only'] as const).reduce(
      (sum, direction) => sum + (severityOf(field, direction) === severity ? count(direction) : 0),
      0,
    )
  emit('crm.compared', {
    brand,
    field,
    run,
    state,
    ids: rest.ids,
    ms: (rest.ended_at ?? 0) - (rest.started_at ?? 0),
    critical: of('critical'),
    high: of('high'),
    low: of('low'),
    ...(why !== null && { why, error: particulars ?? '' }),
  })
}
