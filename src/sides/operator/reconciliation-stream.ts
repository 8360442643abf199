import type { ServerResponse } from 'node:http'
import { noSniffing } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { createAbortableWait } from '../../base/runtime/within.ts'
import { shortened } from '../../contract/storable.ts'
import type { Snapshot } from '../../subjects/attributes/attribute-source.ts'
import { jsonOf } from '../../subjects/attributes/id-chunks.ts'

export interface StreamLimits {
  /** The list is aborted after this time without data from the source, or without a read by the client. */
  readonly stallMs: number
  /** Timeout of a whole list. */
  readonly streamMs: number
  readonly stopping: AbortSignal
}

/** The end of a list. `client`: the client closed the connection. `slow`: the client did not read. */
export interface ListEnd {
  readonly ended: 'whole' | 'error' | 'client' | 'slow'
  readonly users: number
  readonly bytes: number
  readonly error?: string
}

/**
 * Writes a whole answer: `{"users":[…],"timestamp":"…"}`. If the source fails on the way, the answer is still valid JSON:
 * `{"users":[…],"error":"…"}` (§7.3, row 17). A reader that finds no timestamp discards the list. One chunk at a time is in
 * memory: the next chunk is requested from the source when the client has read the last one.
 *
 * @param abort aborted here when the source's data is no longer needed; aborted by the caller: the client closed the connection
 */
export async function streamUsers(
  response: ServerResponse,
  snapshot: Snapshot,
  abort: AbortController,
  { stallMs, streamMs, stopping }: StreamLimits,
): Promise<ListEnd> {
  const chunks = snapshot.chunks[Symbol.asyncIterator]()
  const wait = createAbortableWait()
  const onStop = (): void => wait.abort(new Error('the server is stopping'))
  const onClose = (): void => wait.abort(closed)
  const total = clock.setTimeout(
    () => wait.abort(new Error(`the list was not complete within ${streamMs} ms`)),
    streamMs,
  )
  if (stopping.aborted) onStop()
  stopping.addEventListener('abort', onStop, { once: true })
  response.once('close', onClose)
  let users = 0
  let bytes = 0
  let stall: NodeJS.Timeout | undefined
  const withTimeout = async <T>(work: Promise<T>, error: Error): Promise<T> => {
    stall = clock.setTimeout(() => wait.abort(error), stallMs)
    try {
      return await wait.for(work)
    } finally {
      clock.clearTimeout(stall)
    }
  }
  const silent = new Error(`the source sent no data for ${stallMs} ms`)

  try {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      [noSniffing[0]]: noSniffing[1],
    })
    response.write('{"users":[')
    for (;;) {
      const next = await withTimeout(chunks.next(), silent)
      if (next.done) break
      const { json, count } = jsonOf(next.value)
      if (json.length === 0) continue
      await withTimeout(write(response, bytes === 0 ? json.subarray(1) : json), slow) // the first id has no comma before it
      users += count
      bytes += json.length
    }
    response.end(`],"timestamp":${JSON.stringify(snapshot.timestamp)}}`)
    return { ended: 'whole', users, bytes }
  } catch (thrown) {
    // The source is stopped, but not awaited: it may hang.
    abort.abort()
    chunks.return?.().then(undefined, () => {})
    if (thrown === closed) return { ended: 'client', users, bytes }
    if (thrown === slow) {
      response.destroy()
      return { ended: 'slow', users, bytes }
    }
    const error = shortened(thrown instanceof Error ? thrown.message : String(thrown))
    response.end(`],"error":${JSON.stringify(error)}}`)
    return { ended: 'error', users, bytes, error }
  } finally {
    clock.clearTimeout(total)
    stopping.removeEventListener('abort', onStop)
    response.off('close', onClose)
    destroyAfter(response, stallMs)
  }
}

const closed = new Error('the client closed the connection')
const slow = new Error('the client does not read')

/** Resolves when all bytes were handed to the operating system: only then their memory may be reused. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => response.write(bytes, () => resolve()))
}

/** Destroys the response if the client does not read the last bytes in time. */
function destroyAfter(response: ServerResponse, stallMs: number): void {
  if (response.destroyed || response.writableFinished) return
  const timer = clock.setTimeout(() => response.destroy(), stallMs)
  response.once('close', () => clock.clearTimeout(timer))
  response.once('finish', () => clock.clearTimeout(timer))
}
