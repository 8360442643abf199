import type { Pool } from 'undici'

export interface ExchangeRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Most bytes of the answer's body that are kept. */
  readonly most: number
  readonly signal: AbortSignal
}

export type Exchanged =
  | {
      readonly status: number
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
      readonly body: Buffer
      /** The body was longer than `most`: this is its beginning. */
      readonly cut: boolean
    }
  /** No answer, or half of one. Written: the other side may have acted on the request. */
  | { readonly lost: Error & { readonly code?: string }; readonly written: boolean }

/**
 * POSTs a body and collects the answer. Never rejects, follows no redirect.
 *
 * By `Pool.dispatch`, on which `Pool.request` is built: only there it can be seen whether a request that was aborted, or
 * whose connection was lost, had been begun to be written. Whether a message may have arrived hangs on it.
 */
export function exchange(pool: Pool, { path, headers, body, most, signal }: ExchangeRequest): Promise<Exchanged> {
  return new Promise((resolve) => {
    let written = false
    let stop: ((reason: Error) => void) | undefined
    let status = 0
    let answered: Readonly<Record<string, string | readonly string[] | undefined>> = {}
    const chunks: Buffer[] = []
    let bytes = 0

    const end = (exchanged: Exchanged): void => {
      signal.removeEventListener('abort', abort)
      resolve(exchanged)
    }
    const lose = (error: Error): void => end({ lost: error, written })
    function abort(): void {
      const reason = signal.reason instanceof Error ? signal.reason : new Error('aborted')
      lose(reason)
      stop?.(reason)
    }
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })

    try {
      pool.dispatch(
        { method: 'POST', path, headers, body },
        {
          onRequestStart(controller) {
            // Aborted while it waited for a connection: it is not written.
            if (signal.aborted) return controller.abort(new Error('aborted'))
            stop = (reason) => controller.abort(reason)
            written = true
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode
            answered = responseHeaders
          },
          onResponseData(_controller, chunk) {
            bytes += chunk.length
            chunks.push(chunk)
            if (bytes <= most) return
            end({ status, headers: answered, body: Buffer.concat(chunks).subarray(0, most), cut: true })
            stop?.(new Error('the answer is too long'))
          },
          onResponseEnd: () => end({ status, headers: answered, body: Buffer.concat(chunks), cut: false }),
          onResponseError: (_controller, error) => lose(error),
        },
      )
    } catch (error) {
      lose(error as Error)
    }
  })
}
