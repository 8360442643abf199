import { each } from '../../../base/runtime/ranges.ts'
import type { Chunk } from './chunks.ts'
import type { AcceptedLines } from './enqueue.ts'
import type { SentRecord } from './outcomes.ts'

/**
 * All accepted records, in the order of the file.
 *
 * @param reread a second read of the file if the ids are needed, because keeping them all would need unbounded memory
 */
export async function* records(
  accepted: readonly AcceptedLines[],
  reread?: AsyncIterable<Chunk>,
): AsyncGenerator<SentRecord> {
  const ids = reread && readIds(reread)
  for (const { lines, seqs } of accepted) {
    const numbers = each(seqs)
    for (const line of each(lines)) {
      const record = { line, seq: numbers.next().value as number }
      const id = ids && (await findId(ids, line))
      yield id === undefined ? record : { ...record, id }
    }
  }
}

async function findId(
  ids: AsyncGenerator<{ line: number; id: string | undefined }>,
  line: number,
): Promise<string | undefined> {
  for (;;) {
    const { done, value } = await ids.next()
    if (done) return undefined
    if (value.line === line) return value.id
  }
}

async function* readIds(chunks: AsyncIterable<Chunk>): AsyncGenerator<{ line: number; id: string | undefined }> {
  for await (const chunk of chunks) for (const { line, text } of linesOf(chunk)) yield { line, id: idOf(text) }
}

export function* linesOf({ body, lines }: Chunk): Generator<{ line: number; text: string }> {
  const texts = body.toString('utf8').split('\n')
  let i = 0
  for (const line of each(lines)) yield { line, text: texts[i++] as string }
}

/**
 * The JSON text of activity.id, with all digits even if a double cannot hold them (row 1).
 *
 * @example idOf('{"activity":{"id":9223372036854775807}}') // '9223372036854775807'
 */
export function idOf(text: string): string | undefined {
  // TypeScript's types lack the third argument of the reviver.
  const parse = JSON.parse as (
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown,
  ) => { activity?: { id?: { source?: string } } } | null
  try {
    return parse(text, (key, value, { source }) => (key === 'id' ? { source } : value))?.activity?.id?.source
  } catch {
    return undefined
  }
}
