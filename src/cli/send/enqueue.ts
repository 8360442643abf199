import type { Client } from '../client.ts'
import type { Chunk } from './chunks.ts'
import { inOrder } from './in-order.ts'
import { each, push, type Ranges, size } from './ranges.ts'

/** Which lines got which queue numbers. Compact, because a file may have millions of lines. */
export interface Taken {
  readonly lines: Ranges
  readonly seqs: Ranges
}

/** What became of one request. */
export interface Enqueued {
  readonly chunk: Chunk
  readonly taken: Taken
  readonly accepted: number
  readonly repeated: number
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  /** The request was sent more than once, so some of `repeated` may be our own. */
  readonly again: boolean
}

interface Answer {
  readonly accepted: number
  readonly repeated: number
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  readonly seqs: Ranges
}

/** Requests under way at a time: the next is read and sent while one waits for the disk. */
const parallel = 4

/** Sends all chunks, a few at a time, and gives what became of each in the order of the file. */
export async function* enqueue(
  chunks: AsyncIterable<Chunk>,
  client: Client,
  channel: string,
): AsyncGenerator<Enqueued> {
  yield* inOrder(chunks, parallel, (chunk) => enqueueChunk(chunk, client, channel))
}

async function enqueueChunk(chunk: Chunk, client: Client, channel: string): Promise<Enqueued> {
  const { answer, sent } = await client.post(`/admin/activities/${channel}`, chunk.body, 'application/x-ndjson')
  const { accepted, repeated, refused, seqs } = answer as Answer
  const fileLines = [...each(chunk.lines)]
  const refusedAt = new Map(refused.map(({ line, error }) => [line, error]))
  const lines: Ranges = []
  for (const [i, line] of fileLines.entries()) if (!refusedAt.has(i + 1)) push(lines, line)
  if (size(lines) !== size(seqs)) throw new Error(`the platform answered for ${size(seqs)} of ${size(lines)} lines`)
  return {
    chunk,
    taken: { lines, seqs },
    accepted,
    repeated,
    refused: refused.map(({ line, error }) => ({ line: fileLines[line - 1] ?? 0, error })),
    again: sent > 1,
  }
}
