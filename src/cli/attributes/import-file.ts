import type { Client } from '../client.ts'
import { chunks } from '../send/chunks.ts'
import { each } from '../send/ranges.ts'

export interface ImportFile {
  readonly stream: AsyncIterable<Buffer>
  readonly format: 'ndjson' | 'csv'
  readonly path: string
  readonly client: Client
  /** Told after each request: bytes of the file, and users so far. */
  readonly read: (bytes: number, users: number) => void
}

export interface ImportSummary {
  users: number
  changed: number
  refused_count: number
  /** The first 100, with their lines in the file. */
  readonly refused: { readonly line: number; readonly error: string }[]
}

const refusedKept = 100
const newline = 10

/** In requests of bounded size, each of which may be repeated; in the order of the file, so that the last line of a user counts. */
export async function importFile({ stream, format, path, client, read }: ImportFile): Promise<ImportSummary> {
  const summary: ImportSummary = { users: 0, changed: 0, refused_count: 0, refused: [] }
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  let header: Buffer | undefined
  for await (const { body, lines, bytesRead } of chunks(stream)) {
    // A CSV's first line goes with every request; the first one has it already.
    const first = header === undefined
    if (format === 'csv') header ??= body.subarray(0, body.indexOf(newline) + 1)
    const whole = first || !header ? body : Buffer.concat([header, body])
    const answer = (await client.post(path, whole, type)).answer as ImportSummary
    summary.users += answer.users
    summary.changed += answer.changed
    summary.refused_count += answer.refused_count
    const numbers = [...each(lines)]
    const before = first || !header ? 1 : 2
    for (const { line, error } of answer.refused.slice(0, refusedKept - summary.refused.length))
      summary.refused.push({ line: numbers[line - before] ?? 0, error })
    read(bytesRead, summary.users)
    header ??= Buffer.alloc(0)
  }
  return summary
}
