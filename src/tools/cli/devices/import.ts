import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { Client } from '../client.ts'
import type { Progress } from '../progress.ts'
import { mapInOrder } from '../send/map-in-order.ts'
import { countRefused } from '../send/summary.ts'
import { refusedLines, summaryLine } from '../text-table.ts'
import { type Batch, type Defaults, readBatches } from './read-file.ts'

/** The output of `bellwire devices import --json`. */
export interface ImportSummary {
  readonly file: string
  /** Lines of NDJSON, or rows of CSV. */
  records: number
  /** Tokens that the operator accepted. */
  tokens: number
  linked: number
  /** Tokens that belonged to another user before. */
  moved: number
  /** Tokens that were linked already, or have a later link or unlink: a later logout still counts. */
  unchanged: number
  refused: number
  /** The first refused lines. */
  readonly refused_lines: { line: number; error: string }[]
  seconds: number
}

const concurrency = 4

/** Links all tokens of a file. It is idempotent, because each link has the time from the file. */
export async function importFile(options: {
  readonly file: string
  readonly read: () => AsyncIterable<Buffer>
  readonly bytes: number | undefined
  readonly format: 'csv' | 'ndjson'
  readonly defaults: Defaults
  readonly client: Client<'operator'>
  readonly progress: Progress
}): Promise<ImportSummary> {
  const { file, read, bytes, format, defaults, client, progress } = options
  const startedAt = Date.now()
  const summary: ImportSummary = {
    file,
    records: 0,
    tokens: 0,
    linked: 0,
    moved: 0,
    unchanged: 0,
    refused: 0,
    refused_lines: [],
    seconds: 0,
  }
  const link = async (batch: Batch) => {
    const { body, lines } = batch
    const type = 'application/x-ndjson'
    return {
      batch,
      answer: lines.length > 0 ? await client.call('POST /admin/devices/link', { body, type }) : undefined,
    }
  }
  for await (const { batch, answer } of mapInOrder(readBatches(read(), format, defaults), concurrency, link)) {
    const refused = (answer?.refused ?? []).map(({ line, error }) => ({ line: batch.lines[line - 1] ?? 0, error }))
    const all = [...batch.refused, ...refused].sort((a, b) => a.line - b.line)
    summary.records += batch.lines.length + batch.refused.length
    summary.tokens += answer?.accepted ?? 0
    summary.linked += answer?.linked ?? 0
    summary.moved += answer?.moved ?? 0
    summary.unchanged += answer?.unchanged ?? 0
    countRefused(summary, all)
    progress.show('importing', batch.bytesRead, bytes, phraseCount(summary.records, 'record'))
  }
  summary.seconds = Math.round((Date.now() - startedAt) / 100) / 10
  return summary
}

/** The summary as text. */
export function phraseImport(summary: ImportSummary): string {
  const { file, records, tokens, linked, moved, unchanged, refused, refused_lines, seconds } = summary
  return [
    `${file}: ${phraseCount(records, 'record')}, ${phraseCount(tokens, 'token')} in ${seconds} s`,
    summaryLine('linked', linked),
    ...(moved > 0 ? [summaryLine('moved', moved, 'belonged to another user before')] : []),
    ...(unchanged > 0 ? [summaryLine('unchanged', unchanged, 'linked already, or changed later')] : []),
    ...refusedLines(refused, refused_lines),
  ].join('\n')
}
