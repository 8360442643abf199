import { setTimeout as sleep } from 'node:timers/promises'
import type { AnswerOf } from '../../../sides/admin/calls.ts'
import type { Client } from '../client.ts'

/** A line of the file and its queue number. */
export interface SentRecord {
  readonly line: number
  readonly seq: number
  /** The JSON text of activity.id, if results are written. */
  readonly id?: string
}

type Outcome = AnswerOf<'platform', 'POST /admin/outcomes'>['outcomes'][number]
export type RecordOutcome = Omit<Outcome, 'lane'>

export interface OutcomesOptions {
  /** The deadline in epoch milliseconds. Records without an outcome are then reported as waiting. */
  readonly deadline: number
  readonly signal: AbortSignal
  readonly onSettled: (record: SentRecord, outcome: RecordOutcome) => Promise<void>
  /** Called after each poll with the records that still wait. */
  readonly onWaiting: (outcomes: readonly RecordOutcome[]) => void
}

/** The most records in one request and in memory. */
const windowSize = 10_000
const firstPollMs = 50
const maxPollMs = 1_000

/**
 * Polls the outcomes of records with a sliding window: a settled record leaves the window, and the next one enters it. Returns
 * when all are settled or the deadline has passed.
 */
export async function waitForOutcomes(
  records: AsyncIterable<SentRecord>,
  client: Client<'platform'>,
  { deadline, signal, onSettled, onWaiting }: OutcomesOptions,
): Promise<void> {
  const iterator = records[Symbol.asyncIterator]()
  let waiting: SentRecord[] = []
  let pollMs = firstPollMs
  for (;;) {
    const free = windowSize - waiting.length
    for (let i = 0; i < free; i++) {
      const { done, value } = await iterator.next()
      if (done) break
      waiting.push(value)
    }
    if (waiting.length === 0) return
    const outcomes = await fetchOutcomes(waiting, client)
    const stillWaiting: SentRecord[] = []
    const waitingOutcomes: RecordOutcome[] = []
    const timedOut = Date.now() >= deadline
    for (const record of waiting) {
      // A record that the platform does not know (any more) counts as waiting.
      const outcome = outcomes.get(record.seq) ?? { seq: record.seq, category: 'waiting' }
      if (outcome.category === 'waiting' && !timedOut) {
        stillWaiting.push(record)
        waitingOutcomes.push(outcome)
      } else await onSettled(record, outcome)
    }
    if (waitingOutcomes.length > 0) onWaiting(waitingOutcomes)
    pollMs = stillWaiting.length < waiting.length ? firstPollMs : Math.min(maxPollMs, pollMs * 2)
    waiting = stillWaiting
    if (waiting.length > 0) await sleep(Math.min(pollMs, Math.max(1, deadline - Date.now())), undefined, { signal })
  }
}

async function fetchOutcomes(
  records: readonly SentRecord[],
  client: Client<'platform'>,
): Promise<ReadonlyMap<number, RecordOutcome>> {
  const { outcomes } = await client.call('POST /admin/outcomes', { body: { seqs: records.map(({ seq }) => seq) } })
  return new Map(outcomes.map((outcome) => [outcome.seq, outcome]))
}
