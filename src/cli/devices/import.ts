import type { Client } from '../client.ts'
import type { Progress } from '../progress.ts'
import { inOrder } from '../send/in-order.ts'
import { type Defaults, type Part, parts } from './read-file.ts'

/** What `bellwire devices import --json` prints. */
export interface ImportSummary {
  readonly file: string
  /** Records: lines of NDJSON, rows of CSV. */
  records: number
  /** Tokens that the operator knows now. */
  tokens: number
  linked: number
  /** Of another user before. */
  moved: number
  /** Known already, or something later was: a user who logged out since stays logged out. */
  unchanged: number
  refused: number
  /** The first of them. */
  readonly refused_lines: { line: number; error: string }[]
  seconds: number
}

interface Answer {
  readonly accepted: number
  readonly linked: number
  readonly moved: number
  readonly unchanged: number
  readonly refused: readonly { readonly line: number; readonly error: string }[]
}

const atATime = 4
const refusedShown = 100

/** Links every token of a file. Doing it again changes nothing: each link has the time that the file gives it. */
export async function importFile(options: {
  readonly file: string
  readonly read: () => AsyncIterable<Buffer>
  readonly bytes: number | undefined
  readonly format: 'csv' | 'ndjson'
  readonly defaults: Defaults
  readonly client: Client
  readonly progress: Progress
}): Promise<ImportSummary> {
  const { file, read, bytes, format, defaults, client, progress } = options
  const begun = Date.now()
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
  const link = async (part: Part): Promise<{ part: Part; answer: Answer | undefined }> => {
    if (part.lines.length === 0) return { part, answer: undefined }
    const { answer } = await client.post('/admin/devices/link', part.body, 'application/x-ndjson')
    return { part, answer: answer as Answer }
  }
  for await (const { part, answer } of inOrder(parts(read(), format, defaults), atATime, link)) {
    const refused = (answer?.refused ?? []).map(({ line, error }) => ({ line: part.lines[line - 1] ?? 0, error }))
    const all = [...part.refused, ...refused].sort((a, b) => a.line - b.line)
    summary.records += part.lines.length + part.refused.length
    summary.tokens += answer?.accepted ?? 0
    summary.linked += answer?.linked ?? 0
    summary.moved += answer?.moved ?? 0
    summary.unchanged += answer?.unchanged ?? 0
    summary.refused += all.length
    summary.refused_lines.push(...all.slice(0, refusedShown - summary.refused_lines.length))
    progress.show('importing', part.bytesRead, bytes, `${summary.records} records`)
  }
  summary.seconds = Math.round((Date.now() - begun) / 100) / 10
  return summary
}

/** For a person. */
export function phraseImport(summary: ImportSummary): string {
  const { file, records, tokens, linked, moved, unchanged, refused, refused_lines, seconds } = summary
  const row = (name: string, count: number, more = ''): string =>
    `  ${name.padEnd(10)} ${count.toLocaleString('en').padStart(12)}${more && `   ${more}`}`
  return [
    `${file}: ${records.toLocaleString('en')} records, ${tokens.toLocaleString('en')} tokens in ${seconds} s`,
    row('linked', linked),
    ...(moved > 0 ? [row('moved', moved, "another user's before")] : []),
    ...(unchanged > 0 ? [row('unchanged', unchanged, 'known already, or something later is')] : []),
    ...(refused > 0 ? [row('refused', refused)] : []),
    ...refused_lines.slice(0, 10).map(({ line, error }) => `      line ${line}: ${error}`),
    ...(refused > 10 ? [`      and ${refused - 10} more; --json lists the first ${refusedShown}`] : []),
  ].join('\n')
}
