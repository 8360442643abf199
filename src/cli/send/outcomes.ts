import { type Client, rest } from '../client.ts'

/** One line of the file, and its number in the queue. */
export interface SentRecord {
  readonly line: number
  readonly seq: number
  /** The JSON text of activity.id, when results are written. */
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
  /** Give up waiting at this time (epoch ms): what then waits is reported as waiting. */
  readonly until: number
  readonly signal: AbortSignal
  readonly settled: (record: SentRecord, outcome: RecordOutcome) => Promise<void>
  /** Called after each poll with the waiting records. */
  readonly waiting: (outcomes: readonly RecordOutcome[]) => void
}

/** As many as one request may ask for, and as many as are held in memory. */
const window = 10_000
const firstRestMs = 50
const longestRestMs = 1_000

/**
 * Asks for the outcomes of records from front to back: those that wait stay in the window, those that are settled make room for the
 * next. @returns when all are settled, or the time is over
 */
export async function waitForOutcomes(
  records: AsyncIterable<SentRecord>,
  client: Client,
  { until, signal, settled, waiting: stillWaiting }: OutcomesOptions,
): Promise<void> {
  const next = records[Symbol.asyncIterator]()
  let waiting: SentRecord[] = []
  let restMs = firstRestMs
  for (;;) {
    const room = window - waiting.length
    for (let i = 0; i < room; i++) {
      const { done, value } = await next.next()
      if (done) break
      waiting.push(value)
    }
    if (waiting.length === 0) return
    const fresh = await ask(waiting, client)
    const still: SentRecord[] = []
    const stillSaid: RecordOutcome[] = []
    const over = Date.now() >= until
    for (const record of waiting) {
      // One that the platform does not know (any more) has no outcome either.
      const outcome = fresh.get(record.seq) ?? { seq: record.seq, category: 'waiting' }
      if (outcome.category === 'waiting' && !over) {
        still.push(record)
        stillSaid.push(outcome)
      } else await settled(record, outcome)
    }
    if (stillSaid.length > 0) stillWaiting(stillSaid)
    restMs = still.length < waiting.length ? firstRestMs : Math.min(longestRestMs, restMs * 2)
    waiting = still
    if (waiting.length > 0) await rest(Math.min(restMs, Math.max(1, until - Date.now())), signal)
  }
}

async function ask(records: readonly SentRecord[], client: Client): Promise<ReadonlyMap<number, RecordOutcome>> {
  const { answer } = await client.post('/admin/outcomes', JSON.stringify({ seqs: records.map(({ seq }) => seq) }))
  const { outcomes } = answer as { outcomes: readonly RecordOutcome[] }
  return new Map(outcomes.map((outcome) => [outcome.seq, outcome]))
}
