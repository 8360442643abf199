import { createClient } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import type { Progress } from '../progress.ts'
import { chunks } from './chunks.ts'
import { enqueue, type Taken } from './enqueue.ts'
import { waitForOutcomes } from './outcomes.ts'
import { idOf, linesOf, records } from './records.ts'
import { openResults, type Results } from './results.ts'
import { countOutcome, countRefused, emptySummary, type Summary } from './summary.ts'

export interface SendFile {
  /** As it is called in the summary. */
  readonly file: string
  readonly read: () => AsyncIterable<Buffer>
  /** Undefined: not known, and it can be read only once. */
  readonly bytes: number | undefined
  readonly channel: 'push' | 'site'
  readonly url: string
  readonly key: string
  readonly out?: string
  readonly wait: boolean
  readonly timeoutMs: number
  readonly patienceMs: number
  readonly signal: AbortSignal
  readonly progress: Progress
}

const called = { side: 'platform', key: 'platform.keys with the scopes enqueue and read' } as const

/**
 * Puts every record of an NDJSON file into the platform's queue and, unless told otherwise, waits until each has an outcome.
 * Outlives restarts of the platform; memory does not grow with the file.
 */
export async function sendFile(options: SendFile): Promise<Summary> {
  const { file, read, bytes, out, wait, timeoutMs, signal, progress } = options
  if (out !== undefined && bytes === undefined)
    throw new CliError(exit.usage, '--out reads the file twice: give a file, not a stream')
  const begun = Date.now()
  const client = createClient({ ...options, called, notice: progress.say })
  const results = out === undefined ? undefined : await openResults(out)
  try {
    const summary = emptySummary(file)
    const all = await putAll(options, client, summary, results)
    summary.waiting = summary.accepted + summary.repeated
    if (wait && summary.waiting > 0) {
      const total = summary.waiting
      summary.waiting = 0
      let done = 0
      let why = ''
      const show = (): void =>
        progress.show('arriving', done, total, `${summary.successful} successful, ${summary.failed} failed${why}`)
      await waitForOutcomes(records(all, out === undefined ? undefined : chunks(read())), client, {
        until: begun + timeoutMs,
        signal,
        waiting(outcomes) {
          const error = outcomes.find((each) => each.error !== undefined)?.error
          why = error === undefined ? '' : `, waiting: ${error}`
          show()
        },
        async settled(record, outcome) {
          countOutcome(summary, outcome)
          results?.write({
            line: record.line,
            id: record.id,
            outcome: outcome.category,
            identifier: outcome.ref,
            reason: outcome.reason,
            error: outcome.error,
          })
          done++
          show()
          await results?.drain()
        },
      })
    }
    summary.seconds = Math.round((Date.now() - begun) / 100) / 10
    return summary
  } finally {
    await results?.end()
    await client.close()
  }
}

async function putAll(
  { read, bytes, channel, progress }: SendFile,
  client: ReturnType<typeof createClient>,
  summary: Summary,
  results: Results | undefined,
): Promise<readonly Taken[]> {
  const all: Taken[] = []
  for await (const { chunk, taken, accepted, repeated, refused, again } of enqueue(chunks(read()), client, channel)) {
    all.push(taken)
    summary.lines += chunk.count
    summary.accepted += accepted
    summary.repeated += repeated
    if (again) summary.requests_repeated++
    countRefused(summary, refused)
    if (results && refused.length > 0) {
      const texts = new Map([...linesOf(chunk)].map(({ line, text }) => [line, text]))
      for (const { line, error } of refused)
        results.write({ line, id: idOf(texts.get(line) ?? ''), outcome: 'refused', error })
      await results.drain()
    }
    progress.show('enqueueing', chunk.bytesRead, bytes, `${summary.lines} records`)
  }
  return all
}
