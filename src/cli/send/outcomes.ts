import { type Client, sleep } from '../client.ts'

/** A line of the file and its queue number. */
export interface SentRecord {
  readonly line: number
  readonly seq: number
  /** The JSON text of activity.id, if results are written. */
  readonly id?: string
}

export interface RecordOutcome {
  readonly seq: number
  readonly category: 'successful' | 'failed' | 'waiting'
  readonly ref?: string
  readonly untracked?: true
  readonly reason?: string
  readonly error?: string
  readonly attempts?: number
}

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
  client: Client,
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
    if (waiting.length > 0) await sleep(Math.min(pollMs, Math.max(1, deadline - Date.now())), signal)
  }
}

async function fetchOutcomes(
  records: readonly SentRecord[],
  client: Client,
): Promise<ReadonlyMap<number, RecordOutcome>> {
  const { answer } = await client.post('/admin/outcomes', JSON.stringify({ seqs: records.map(({ seq }) => seq) }))
  const { outcomes } = answer as { outcomes: readonly RecordOutcome[] }
  return new Map(outcomes.map((outcome) => [outcome.seq, outcome]))
}
