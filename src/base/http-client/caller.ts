// The caller of every address outside, except the push services over HTTP/2: one address with its proxy, certificates and
// authentication, and requests with a deadline and a limit of the answer's size. It follows no redirects.

import type { Dispatcher } from 'undici'
import { clock } from '../runtime/clock.ts'
import { type Auth, type AuthHeaders, type AuthOptions, createAuth } from './auth.ts'
import { type ConnectionOptions, type DispatcherOptions, openDispatcher } from './dispatcher.ts'
import { type ExchangedOnce, exchange, type Method } from './exchange.ts'

export type { ConnectionOptions }

/** How an address is reached, and how we authenticate ourselves there. */
export interface AddressOptions extends ConnectionOptions {
  readonly auth?: AuthOptions | undefined
}

export interface CallerOptions extends AddressOptions, DispatcherOptions {
  /** The address. Its query is sent with each request. */
  readonly url: string
  /** Headers of each request, such as an API key. */
  readonly headers?: Readonly<Record<string, string>>
  /** A repeated request has no further effect: on a reused connection that the other side had closed, it is repeated at once. */
  readonly repeatable?: true
  /** Creates the connections to an origin. Default: HTTP. A simulation has connections in memory. */
  readonly connect?: ((origin: string) => Dispatcher) | undefined
}

interface Target {
  /** Default: POST. */
  readonly method?: Method
  /** Is appended to the path of the address. */
  readonly path?: string
  /** Is added to the query of the address. */
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly signal?: AbortSignal | undefined
}

export interface CallRequest extends Target {
  /** The most bytes of the answer's body. A longer body is cut. */
  readonly most: number
  /** Epoch milliseconds. Absent: only the signal ends the call. */
  readonly deadline?: number
  /** Sends no credentials. */
  readonly anonymous?: true
}

export interface OpenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: AsyncIterable<Buffer>
  /** Gives the rest of the body up. */
  end(): void
}

export interface Caller {
  readonly auth: Auth
  /** Collects the answer. Never rejects. */
  call(request: CallRequest): Promise<ExchangedOnce>
  /** Returns the answer while its body still arrives. Only the signal ends it. Rejects if there is no answer. */
  open(request: Target): Promise<OpenAnswer>
  /** Completes the requests in flight. May be called several times. */
  close(): Promise<void>
  /** Ends the requests in flight. */
  destroy(): Promise<void>
}

/**
 * @example
 * const caller = createCaller({ url: 'https://backend.example/api?tenant=1', proxy, ca, auth: { kind: 'bearer', token } })
 * const answer = await caller.call({ path: '/devices', body: '{}', most: 65_536, deadline: clock.now() + 5_000 })
 */
export function createCaller(options: CallerOptions): Caller {
  const { url, headers: common = {}, repeatable, connect = (at) => openDispatcher(at, options) } = options
  const { origin, pathname, search } = new URL(url)
  const auth = createAuth(options.auth, options)
  const dispatcher = connect(origin)
  let closing: Promise<void> | undefined

  function targetOf({ method = 'POST', path, query, headers, body }: Target) {
    const parameters = query === undefined ? '' : `${search === '' ? '?' : '&'}${new URLSearchParams(query)}`
    const base = path === undefined ? pathname : pathname.replace(/\/+$/, '') + path
    return { origin, method, path: base + search + parameters, headers: { ...common, ...headers }, body }
  }

  /** If the other side refuses the token, the request is sent once more with a new one. */
  async function withAuth<Answer>(
    signal: AbortSignal | undefined,
    send: (headers: AuthHeaders) => Promise<Answer>,
    isRefused: (answer: Answer) => boolean,
  ): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const found = auth.headers()
      const headers = found instanceof Promise ? await abortable(found, signal) : found
      const answer = await send(headers)
      if (tries > 1 || !isRefused(answer) || !auth.onRefused(headers)) return answer
    }
  }

  return {
    auth,
    async call({ most, deadline, anonymous, ...request }) {
      const target = targetOf(request)
      const limit = deadline === undefined ? undefined : withinDeadline(deadline, request.signal)
      const signal = limit?.signal ?? request.signal
      const send = async (headers: AuthHeaders): Promise<ExchangedOnce> => {
        const one = { ...target, headers: { ...target.headers, ...headers }, most, signal }
        const exchanged = await exchange(dispatcher, one)
        if (!('stale' in exchanged) || !repeatable) return exchanged
        const fresh = connect(origin)
        try {
          return await exchange(fresh, one)
        } finally {
          void fresh.close()
        }
      }
      try {
        if (anonymous) return await send({})
        return await withAuth(signal, send, (answer) => 'status' in answer && answer.status === 401)
      } catch (error) {
        return { lost: error as Error, written: false }
      } finally {
        limit?.end()
      }
    },
    async open(request) {
      const target = targetOf(request)
      let previous: OpenAnswer | undefined
      const send = async (headers: AuthHeaders): Promise<OpenAnswer> => {
        previous?.end()
        const {
          statusCode,
          headers: answered,
          body,
        } = await dispatcher.request({
          ...target,
          headers: { ...target.headers, ...headers },
          body: target.body ?? null,
          signal: request.signal ?? null,
        })
        body.on('error', () => {}) // the iterator throws the error
        previous = { status: statusCode, headers: answered, body, end: () => void body.destroy() }
        return previous
      }
      return withAuth(request.signal, send, ({ status }) => status === 401)
    },
    close() {
      closing ??= Promise.all([auth.close(), dispatcher.close()]).then(() => {})
      return closing
    },
    async destroy() {
      await Promise.all([auth.close(), dispatcher.destroy()])
    },
  }
}

/** A signal that aborts at the deadline, or when the given signal aborts. */
function withinDeadline(deadline: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  const stop = (): void => controller.abort(outer?.reason)
  const late = (): void => controller.abort(new Error('no answer in time'))
  if (outer?.aborted) stop()
  else if (deadline <= clock.now()) late()
  outer?.addEventListener('abort', stop, { once: true })
  // A timer may fire a fraction of a millisecond early.
  const timer = clock.setTimeout(late, Math.min(longestTimerMs, Math.max(0, deadline - clock.now()) + 1))
  return {
    signal: controller.signal,
    end() {
      clock.clearTimeout(timer)
      outer?.removeEventListener('abort', stop)
    },
  }
}

const longestTimerMs = 2 ** 31 - 1

/** Rejects as soon as the signal aborts. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
