// Sends POST {base_url}/reconciliation (§4.1) and returns the answer as a stream of chunks.

import { type AddressOptions, createCaller } from '../../base/http-client/caller.ts'
import { clock } from '../../base/runtime/clock.ts'
import { objectIn } from '../../base/runtime/json.ts'
import { describeStatus } from '../../contract/describe-status.ts'
import { apiKeyHeaders, reconciliation } from '../../contract/endpoints.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import { shortened } from '../../contract/storable.ts'
import { AnswerRefused } from './answer-refused.ts'

export interface ListRequest extends AddressOptions {
  /** The operator's {base_url}. */
  readonly url: string
  readonly apiKey?: string | undefined
  readonly field: Field
  /** The longest time without data from the operator. Our own work between two chunks does not count. */
  readonly idleMs: number
  /** The time limit of the whole answer. */
  readonly totalMs: number
  /** Aborts when the platform stops. */
  readonly signal: AbortSignal
}

export interface ListResponse {
  /** Undefined: the operator has no source for this field (row 16). */
  readonly chunks: AsyncIterable<Uint8Array> | undefined
  close(): Promise<void>
}

/** @throws AnswerRefused */
export async function requestList(request: ListRequest): Promise<ListResponse> {
  const { url, apiKey, field, idleMs, totalMs, signal } = request
  const caller = createCaller({ ...request, connections: 1, headers: apiKeyHeaders(apiKey) })
  const aborting = new AbortController()
  const abort = (refused: AnswerRefused): void => aborting.abort(refused)
  const stop = (): void => abort(new AnswerRefused('interrupted', 'the platform is stopping'))
  signal.addEventListener('abort', stop, { once: true })
  const totalTimer = clock.setTimeout(
    () => abort(new AnswerRefused('slow', `the answer was not complete after ${totalMs} ms (limits.total)`)),
    totalMs,
  )
  let bytesRead = 0

  async function withIdleLimit<T>(next: Promise<T>): Promise<T> {
    const idleTimer = clock.setTimeout(
      () => abort(new AnswerRefused('silent', `no data for ${idleMs} ms (limits.idle)`)),
      idleMs,
    )
    try {
      return await next
    } catch (error) {
      if (aborting.signal.aborted) throw aborting.signal.reason
      const { code, message } = error as Error & { code?: string }
      const cause = code === undefined ? message : `${code}: ${message}`
      throw bytesRead > 0
        ? new AnswerRefused('cut_short', `the connection broke after ${bytesRead} bytes (${cause})`)
        : new AnswerRefused('unreachable', `${new URL(url).origin}: ${cause}`)
    } finally {
      clock.clearTimeout(idleTimer)
    }
  }

  async function close(): Promise<void> {
    clock.clearTimeout(totalTimer)
    signal.removeEventListener('abort', stop)
    await caller.destroy()
  }

  async function* chunksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const iterator = body[Symbol.asyncIterator]()
    for (;;) {
      const { done, value } = await withIdleLimit(iterator.next())
      if (done) return
      bytesRead += value.length
      yield value
    }
  }

  try {
    signal.throwIfAborted()
    const { status, headers, body } = await withIdleLimit(
      caller.open({
        path: reconciliation.path,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ field }),
        signal: aborting.signal,
      }),
    )
    if (status === 501) return { chunks: undefined, close }
    if (status !== 200)
      throw new AnswerRefused(
        'status',
        `${describeStatus(status, headers.location)} ${await readBeginning(chunksOf(body))}`.trim(),
      )
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity')
      throw new AnswerRefused(
        'not_json',
        `it is compressed (${String(encoding)}) although the request did not allow it`,
      )
    return { chunks: chunksOf(body), close }
  } catch (error) {
    await close()
    if (signal.aborted) throw new AnswerRefused('interrupted', 'the platform is stopping')
    throw error
  }
}

/** Reads the beginning of an error response: its `error`, or its text. */
async function readBeginning(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const chunk of chunks) {
      text += Buffer.from(chunk).toString()
      if (text.length > 2_000) break
    }
  } catch {
    // The status is reported without a text.
  }
  // Without a JSON error, it is perhaps the page of a proxy.
  const error = objectIn(text)?.error
  return shortened(typeof error === 'string' ? error : text, 300)
}
