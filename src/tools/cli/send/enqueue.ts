import { each, push, type Ranges, size } from '../../../base/runtime/ranges.ts'
import type { Client } from '../client.ts'
import type { Chunk } from './chunks.ts'
import { mapInOrder } from './map-in-order.ts'

/** The lines of a chunk and their queue numbers, stored as ranges because a file may have millions of lines. */
export interface AcceptedLines {
  readonly lines: Ranges
  readonly seqs: Ranges
}

/** The result of one request. */
export interface Enqueued {
  readonly chunk: Chunk
  readonly acceptedLines: AcceptedLines
  readonly accepted: number
  readonly repeated: number
  readonly refused: readonly { readonly line: number; readonly error: string }[]
  /** The request was sent more than once, so some of `repeated` may come from its first attempt. */
  readonly retried: boolean
}

/** Concurrent requests: the next one is read and sent while the platform writes to disk. */
const concurrency = 4

/** Sends all chunks concurrently, and yields the results in the order of the file. */
export async function* enqueue(
  chunks: AsyncIterable<Chunk>,
  client: Client<'platform'>,
  channel: 'push' | 'site',
): AsyncGenerator<Enqueued> {
  yield* mapInOrder(chunks, concurrency, (chunk) => enqueueChunk(chunk, client, channel))
}

async function enqueueChunk(chunk: Chunk, client: Client<'platform'>, channel: 'push' | 'site'): Promise<Enqueued> {
  let retried = false
  const { accepted, repeated, refused, seqs } = await client.call('POST /admin/activities/:channel', {
    params: { channel },
    body: chunk.body,
    type: 'application/x-ndjson',
    onRetry: () => {
      retried = true
    },
  })
  const fileLines = [...each(chunk.lines)]
  const refusedAt = new Map(refused.map(({ line, error }) => [line, error]))
  const lines: Ranges = []
  for (const [i, line] of fileLines.entries()) if (!refusedAt.has(i + 1)) push(lines, line)
  if (size(lines) !== size(seqs)) throw new Error(`the platform answered for ${size(seqs)} of ${size(lines)} lines`)
  return {
    chunk,
    acceptedLines: { lines, seqs },
    accepted,
    repeated,
    refused: refused.map(({ line, error }) => ({ line: fileLines[line - 1] ?? 0, error })),
    retried,
  }
}
