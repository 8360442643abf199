import type { ServerResponse } from 'node:http'
import type { Snapshot } from '../attributes/attribute-source.ts'
import { jsonOf } from '../attributes/id-chunks.ts'
import { shortened } from '../contract/storable.ts'
import { noSniffing } from '../runtime/http.ts'
import { createAbortableWait } from '../runtime/within.ts'

export interface StreamLimits {
  /** A source that gives nothing, or a reader that takes nothing, for so long is given up. */
  readonly stallMs: number
  /** The longest that a list may take. */
  readonly streamMs: number
  readonly stopping: AbortSignal
}

/** How a list ended. `client`: it left; `slow`: it did not read. */
export interface Done {
  readonly ended: 'whole' | 'error' | 'client' | 'slow'
  readonly users: number
  readonly bytes: number
  readonly error?: string
}

/**
 * Writes a whole answer: `{"users":[…],"timestamp":"…"}`. Where the source fails on the way, the JSON is closed all the same, as
 * `{"users":[…],"error":"…"}` (§7.3, row 17): a reader that finds no timestamp discards the list. One chunk at a time is in
 * memory; the source is asked for the next when the reader has taken the last.
 *
 * @param leave aborted here when nobody needs the source's answer any more; aborted by others: the client left
 */
export async function streamUsers(
  response: ServerResponse,
  snapshot: Snapshot,
  leave: AbortController,
  { stallMs, streamMs, stopping }: StreamLimits,
): Promise<Done> {
  const chunks = snapshot.chunks[Symbol.asyncIterator]()
  const waiting = createAbortableWait()
  const stop = (): void => waiting.abort(new Error('the server is stopping'))
  const left = (): void => waiting.abort(gone)
  const total = setTimeout(() => waiting.abort(new Error(`the list was not done within ${streamMs} ms`)), streamMs)
  if (stopping.aborted) stop()
  stopping.addEventListener('abort', stop, { once: true })
  response.once('close', left)
  let users = 0
  let bytes = 0
  let stall: NodeJS.Timeout | undefined
  const within = async <T>(work: Promise<T>, why: Error): Promise<T> => {
    stall = setTimeout(waiting.abort, stallMs, why)
    try {
      return await waiting.for(work)
    } finally {
      clearTimeout(stall)
    }
  }
  const silent = new Error(`the source gave nothing for ${stallMs} ms`)

  try {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      [noSniffing[0]]: noSniffing[1],
    })
    response.write('{"users":[')
    for (;;) {
      const next = await within(chunks.next(), silent)
      if (next.done) break
      const { json, count } = jsonOf(next.value)
      if (json.length === 0) continue
      await within(written(response, bytes === 0 ? json.subarray(1) : json), slow) // the first id has no comma before it
      users += count
      bytes += json.length
    }
    response.end(`],"timestamp":${JSON.stringify(snapshot.timestamp)}}`)
    return { ended: 'whole', users, bytes }
  } catch (thrown) {
    // What the source still does is for nobody. It may hang, so it is not waited for.
    leave.abort()
    chunks.return?.().then(undefined, () => {})
    if (thrown === gone) return { ended: 'client', users, bytes }
    if (thrown === slow) {
      response.destroy()
      return { ended: 'slow', users, bytes }
    }
    const error = shortened(thrown instanceof Error ? thrown.message : String(thrown))
    response.end(`],"error":${JSON.stringify(error)}}`)
    return { ended: 'error', users, bytes, error }
  } finally {
    clearTimeout(total)
    stopping.removeEventListener('abort', stop)
    response.off('close', left)
    endSoon(response, stallMs)
  }
}

const gone = new Error('the client left')
const slow = new Error('the client does not read')

/** Resolves when the network has taken it all: only then may its memory be used for the next. */
function written(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => response.write(bytes, () => resolve()))
}

/** The last bytes, too, are waited for only so long. */
function endSoon(response: ServerResponse, stallMs: number): void {
  if (response.destroyed || response.writableFinished) return
  const cut = setTimeout(() => response.destroy(), stallMs)
  response.once('close', () => clearTimeout(cut))
  response.once('finish', () => clearTimeout(cut))
}
