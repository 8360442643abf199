import type { Chunk } from './chunks.ts'
import type { Taken } from './enqueue.ts'
import type { SentRecord } from './outcomes.ts'
import { each } from './ranges.ts'

/**
 * Every record that was taken, in the order of the file.
 *
 * @param reread the file once more, when the records' ids are wanted: remembering them all would cost memory without bound
 */
export async function* records(all: readonly Taken[], reread?: AsyncIterable<Chunk>): AsyncGenerator<SentRecord> {
  const ids = reread && idsOf(reread)
  for (const { lines, seqs } of all) {
    const numbers = each(seqs)
    for (const line of each(lines)) {
      const record = { line, seq: numbers.next().value as number }
      const id = ids && (await seek(ids, line))
      yield id === undefined ? record : { ...record, id }
    }
  }
}

async function seek(
  ids: AsyncGenerator<{ line: number; id: string | undefined }>,
  line: number,
): Promise<string | undefined> {
  for (;;) {
    const { done, value } = await ids.next()
    if (done) return undefined
    if (value.line === line) return value.id
  }
}

async function* idsOf(chunks: AsyncIterable<Chunk>): AsyncGenerator<{ line: number; id: string | undefined }> {
  for await (const chunk of chunks) for (const { line, text } of linesOf(chunk)) yield { line, id: idOf(text) }
}

export function* linesOf({ body, lines }: Chunk): Generator<{ line: number; text: string }> {
  const texts = body.toString('utf8').split('\n')
  let i = 0
  for (const line of each(lines)) yield { line, text: texts[i++] as string }
}

/**
 * The JSON text of activity.id: its digits as they are, also where a number could not hold them (row 1).
 *
 * @example idOf('{"activity":{"id":9223372036854775807}}') // '9223372036854775807'
 */
export function idOf(text: string): string | undefined {
  // TypeScript does not know the reviver's third argument yet.
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
