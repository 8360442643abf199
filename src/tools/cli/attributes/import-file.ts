import { each } from '../../../base/runtime/ranges.ts'
import type { AnswerOf, RequestOf } from '../../../sides/admin/calls.ts'
import type { Client } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import { chunks } from '../send/chunks.ts'

export interface ImportFile {
  readonly stream: AsyncIterable<Buffer>
  readonly format: 'ndjson' | 'csv'
  readonly to: Pick<RequestOf<'platform', 'POST /admin/attributes/:brand'>, 'params' | 'query'>
  readonly client: Client<'platform'>
  /** Called after each request with the bytes read and the users imported so far. */
  readonly onProgress: (bytes: number, users: number) => void
}

/** With the first 100 refused lines, and their numbers in the file. */
export type ImportSummary = AnswerOf<'platform', 'POST /admin/attributes/:brand'>

const maxRefused = 100
const newline = 10

/** Sends the file in idempotent requests of bounded size, in order, so that the last line of a user counts. @throws if it is empty */
export async function importFile({ stream, format, to, client, onProgress }: ImportFile): Promise<ImportSummary> {
  const summary: ImportSummary = { users: 0, changed: 0, refused_count: 0, refused: [] }
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  let header: Buffer | undefined
  for await (const { body, lines, bytesRead } of chunks(stream)) {
    // Every request of a CSV file needs the header line; the first request has it already.
    const first = header === undefined
    if (format === 'csv') header ??= body.subarray(0, body.indexOf(newline) + 1)
    const complete = first || !header ? body : Buffer.concat([header, body])
    const answer = await client.call('POST /admin/attributes/:brand', { ...to, body: complete, type })
    summary.users += answer.users
    summary.changed += answer.changed
    summary.refused_count += answer.refused_count
    const numbers = [...each(lines)]
    const offset = first || !header ? 1 : 2
    for (const { line, error } of answer.refused.slice(0, maxRefused - summary.refused.length))
      summary.refused.push({ line: numbers[line - offset] ?? 0, error })
    onProgress(bytesRead, summary.users)
    header ??= Buffer.alloc(0)
  }
  // An export that failed must not look like a success.
  if (header === undefined) throw new CliError(exit.usage, 'the file is empty: nothing was imported')
  return summary
}
