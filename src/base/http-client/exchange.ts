import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Exchanged } from '../http2/connection.ts'
import { collectBytes } from '../runtime/collect-bytes.ts'

/** `stale`: the connection was used before, and was lost before any byte of this answer: the other side had closed it. */
export type ExchangedOnce = Exchanged & { readonly stale?: true }
export type { Exchanged }

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH'

export interface ExchangeRequest {
  /** The origin of the request. A pool has only one, and needs none here. */
  readonly origin?: string
  readonly method: Method
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
  /** Maximum size of the answer's body in bytes. A longer body is cut. */
  readonly most: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Makes one request and collects the answer. Never rejects, and follows no redirects.
 *
 * Uses `dispatch`, on which `request` of undici is built: it alone shows whether an aborted or lost request had begun to be
 * written. Only then may the message have arrived.
 */
export function exchange(
  dispatcher: Dispatcher,
  { origin, method, path, headers, body, most, signal }: ExchangeRequest,
): Promise<ExchangedOnce> {
  return new Promise((resolve) => {
    let written = false
    let isStale = (): boolean => false
    let abortRequest: ((reason: Error) => void) | undefined
    let status = 0
    let answerHeaders: Readonly<Record<string, string | readonly string[] | undefined>> = {}
    const answered = collectBytes()

    const end = (exchanged: ExchangedOnce): void => {
      signal?.removeEventListener('abort', abort)
      resolve(exchanged)
    }
    const lose = (error: Error, stale = false): void => end({ lost: error, written, ...(stale && { stale }) })
    function abort(): void {
      const reason = signal?.reason instanceof Error ? signal.reason : new Error('aborted')
      lose(reason)
      abortRequest?.(reason)
    }
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })

    try {
      dispatcher.dispatch(
        { method, path, headers, body: body ?? null, ...(origin !== undefined && { origin }) },
        {
          onRequestStart(controller) {
            // The request was aborted while it waited for a connection, so it was not written.
            if (signal?.aborted) return controller.abort(new Error('aborted'))
            abortRequest = (reason) => controller.abort(reason)
            written = true
            nextSocket = (socket, reused) => {
              const before = socket.bytesRead
              isStale = () => reused && socket.bytesRead === before
            }
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode
            answerHeaders = responseHeaders
          },
          onResponseData(_controller, chunk) {
            answered.add(chunk)
            if (answered.bytes <= most) return
            end({ status, headers: answerHeaders, body: answered.join().subarray(0, most), cut: true })
            abortRequest?.(new Error('the answer is too long'))
          },
          onResponseEnd: () => end({ status, headers: answerHeaders, body: answered.join(), cut: false }),
          onResponseError: (_controller, error) => lose(error, isStale()),
        },
      )
    } catch (error) {
      lose(error as Error)
    }
  })
}

/** Takes the socket of the request that undici is about to write. */
let nextSocket: ((socket: Socket, reused: boolean) => void) | undefined
const usedSockets = new WeakSet<Socket>()

// undici names the socket of a request nowhere else. It publishes in the same turn as onRequestStart, when it writes the headers.
subscribe('undici:client:sendHeaders', (message) => {
  const { socket } = message as { readonly socket: Socket }
  const take = nextSocket
  nextSocket = undefined
  take?.(socket, usedSockets.has(socket))
  usedSockets.add(socket)
})
