import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { Client } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import type { Progress } from '../progress.ts'
import { chunks } from './chunks.ts'
import { type AcceptedLines, enqueue } from './enqueue.ts'
import { waitForOutcomes } from './outcomes.ts'
import { idOf, linesOf, records } from './records.ts'
import { openResults, type Results } from './results.ts'
import { countOutcome, countRefused, emptySummary, type Summary } from './summary.ts'

export interface SendFile {
  /** The name of the file in the summary. */
  readonly file: string
  readonly read: () => AsyncIterable<Buffer>
  /** The size of the file. Undefined for a stream, which can be read only once. */
  readonly bytes: number | undefined
  readonly channel: 'push' | 'site'
  readonly out?: string
  readonly wait: boolean
  readonly timeoutMs: number
  readonly client: Client<'platform'>
  readonly signal: AbortSignal
  readonly progress: Progress
}

/**
 * Puts all records of an NDJSON file into the platform's queue and, if `wait` is true, waits for their outcomes. It retries while
 * the platform restarts. Memory does not grow with the file.
 */
export async function sendFile(options: SendFile): Promise<Summary> {
  const { file, read, bytes, out, wait, timeoutMs, client, signal, progress } = options
  if (out !== undefined && bytes === undefined)
    throw new CliError(exit.usage, '--out reads the file twice, so standard input is not possible: give a file')
  const startedAt = Date.now()
  const results = out === undefined ? undefined : await openResults(out)
  try {
    const summary = emptySummary(file)
    const accepted = await enqueueAll(options, summary, results)
    // An export that failed must not look like a success.
    if (summary.lines === 0) throw new CliError(exit.usage, `${file} has no record: nothing was sent`)
    summary.waiting = summary.accepted + summary.repeated
    if (wait && summary.waiting > 0) {
      const total = summary.waiting
      summary.waiting = 0
      let done = 0
      let reason = ''
      const show = (): void =>
        progress.show('arriving', done, total, `${summary.successful} successful, ${summary.failed} failed${reason}`)
      await waitForOutcomes(records(accepted, out === undefined ? undefined : chunks(read())), client, {
        deadline: startedAt + timeoutMs,
        signal,
        onWaiting(outcomes) {
          const error = outcomes.find((each) => each.error !== undefined)?.error
          reason = error === undefined ? '' : `, waiting: ${error}`
          show()
        },
        async onSettled(record, outcome) {
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
    summary.seconds = Math.round((Date.now() - startedAt) / 100) / 10
    return summary
  } finally {
    await results?.end()
  }
}

async function enqueueAll(
  { read, bytes, channel, client, progress }: SendFile,
  summary: Summary,
  results: Results | undefined,
): Promise<readonly AcceptedLines[]> {
  const all: AcceptedLines[] = []
  for await (const enqueued of enqueue(chunks(read()), client, channel)) {
    const { chunk, acceptedLines, accepted, repeated, refused, retried } = enqueued
    all.push(acceptedLines)
    summary.lines += chunk.count
    summary.accepted += accepted
    summary.repeated += repeated
    if (retried) summary.requests_repeated++
    countRefused(summary, refused)
    if (results && refused.length > 0) {
      const texts = new Map([...linesOf(chunk)].map(({ line, text }) => [line, text]))
      for (const { line, error } of refused)
        results.write({ line, id: idOf(texts.get(line) ?? ''), outcome: 'refused', error })
      await results.drain()
    }
    progress.show('enqueueing', chunk.bytesRead, bytes, phraseCount(summary.lines, 'record'))
  }
  return all
}
