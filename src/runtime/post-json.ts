// POSTs JSON texts to one address, and reads the beginning of each answer.

import type { Dispatcher } from 'undici'
import { clock } from './clock.ts'
import { openPool } from './http1.ts'
import { messageOf } from './message-of.ts'

export interface PostContext {
  /** Epoch milliseconds. */
  readonly deadline: number
  readonly signal: AbortSignal
}

export type Posted =
  | { readonly status: number; readonly body: string; readonly retryAfter?: string; readonly now: number }
  /** No answer: the request may have arrived. */
  | { readonly lost: string; readonly isLate: boolean }

export interface JsonPoster {
  /** Never rejects. @param path is appended to the path of the address */
  post(path: string, body: string, headers: Readonly<Record<string, string>>, context: PostContext): Promise<Posted>
  close(): Promise<void>
}

/** Bytes of an answer that are read; the rest is ignored. */
const maxAnswerBytes = 16 * 1024

/** @param connections the most concurrent requests */
export function createJsonPoster(url: string, connections: number): JsonPoster {
  const address = new URL(url)
  const prefix = address.pathname.replace(/\/+$/, '')
  const pool = openPool(address.origin, { connections, pipelining: 1, connect: { timeout: 5_000 } })
  return {
    async post(path, body, headers, { deadline, signal }) {
      const late = clock.timeout(Math.max(1, deadline - clock.now()))
      try {
        const response = await pool.request({
          method: 'POST',
          path: prefix + path + address.search,
          headers: { 'content-type': 'application/json', ...headers },
          body,
          signal: AbortSignal.any([signal, late]),
        })
        const retryAfter = response.headers['retry-after']
        return {
          status: response.statusCode,
          body: await textOf(response),
          ...(typeof retryAfter === 'string' && { retryAfter }),
          now: clock.now(),
        }
      } catch (error) {
        return { lost: messageOf(error), isLate: late.aborted }
      }
    },
    close: () => pool.destroy(),
  }
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxAnswerBytes) break
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, maxAnswerBytes)
}
