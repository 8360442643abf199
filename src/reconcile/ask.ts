// §4.1: POST {base_url}/reconciliation, and its answer as chunks, for as long as the operator keeps sending.

import { Client } from 'undici'
import { apiKeyHeader, reconciliation } from '../contract/endpoints.ts'
import type { ReconciliationField as Field } from '../contract/records.ts'
import { shortened } from '../contract/storable.ts'
import { clock } from '../runtime/clock.ts'
import { Refused } from './refusal.ts'

export interface Asking {
  /** The operator's {base_url}. */
  readonly url: string
  readonly apiKey: string
  readonly field: Field
  /** Longest silence of the operator; our own work between two chunks does not count. */
  readonly idleMs: number
  /** For all of it. */
  readonly totalMs: number
  /** The platform stops. */
  readonly signal: AbortSignal
}

export interface Asked {
  /** Undefined: the operator has no source for this field (row 16). */
  readonly chunks: AsyncIterable<Uint8Array> | undefined
  close(): Promise<void>
}

/** @throws Refused */
export async function ask({ url, apiKey, field, idleMs, totalMs, signal }: Asking): Promise<Asked> {
  const { origin, pathname } = new URL(url)
  // Its own timeouts are off: they would count the time in which we load.
  const client = new Client(origin, { headersTimeout: 0, bodyTimeout: 0, connectTimeout: Math.min(idleMs, 30_000) })
  const ended = new AbortController()
  const end = (refused: Refused): void => ended.abort(refused)
  const stop = (): void => end(new Refused('interrupted', 'the platform is stopping'))
  signal.addEventListener('abort', stop, { once: true })
  const total = clock.setTimeout(
    () => end(new Refused('slow', `not done within ${totalMs} ms (limits.total)`)),
    totalMs,
  )
  let read = 0

  async function waiting<T>(next: Promise<T>): Promise<T> {
    const idle = clock.setTimeout(() => end(new Refused('silent', `nothing for ${idleMs} ms (limits.idle)`)), idleMs)
    try {
      return await next
    } catch (error) {
      if (ended.signal.aborted) throw ended.signal.reason
      const { code, message } = error as Error & { code?: string }
      const what = code === undefined ? message : `${code}: ${message}`
      throw read > 0
        ? new Refused('cut_short', `the connection broke after ${read} bytes (${what})`)
        : new Refused('unreachable', `${origin}: ${what}`)
    } finally {
      clock.clearTimeout(idle)
    }
  }

  async function close(): Promise<void> {
    clock.clearTimeout(total)
    signal.removeEventListener('abort', stop)
    await client.destroy()
  }

  async function* chunksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const iterator = body[Symbol.asyncIterator]()
    for (;;) {
      const { done, value } = await waiting(iterator.next())
      if (done) return
      read += value.length
      yield value
    }
  }

  try {
    signal.throwIfAborted()
    const { statusCode, headers, body } = await waiting(
      client.request({
        method: reconciliation.method,
        path: `${pathname.replace(/\/+$/, '')}${reconciliation.path}`,
        headers: { 'content-type': 'application/json', accept: 'application/json', [apiKeyHeader]: apiKey },
        body: JSON.stringify({ field }),
        signal: ended.signal,
      }),
    )
    body.on('error', () => {}) // told by its iterator
    if (statusCode === 501) return { chunks: undefined, close }
    if (statusCode !== 200) throw new Refused('status', `${statusCode} ${await beginning(chunksOf(body))}`.trim())
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity')
      throw new Refused('not_json', `it is compressed (${String(encoding)}), which nobody asked for`)
    return { chunks: chunksOf(body), close }
  } catch (error) {
    await close()
    if (signal.aborted) throw new Refused('interrupted', 'the platform is stopping')
    throw error
  }
}

/** The first of what it says beside its status. */
async function beginning(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const chunk of chunks) {
      text += Buffer.from(chunk).toString()
      if (text.length > 2_000) break
    }
  } catch {
    // The status says enough.
  }
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return shortened(error, 300)
  } catch {
    // Not ours: a proxy, or a page.
  }
  return shortened(text, 300)
}
