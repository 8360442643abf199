import { haveOneUser, readToken, type Token } from './token.ts'
import type { InboxOptions } from './types.ts'

/** Longest wait for the answer to a request. */
const timeoutMs = 20_000

/** The operator answered with an error. */
export class Refused extends Error {
  readonly status: number
  readonly retryAfterMs: number

  constructor(status: number, message: string, retryAfterMs: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** `getToken` returned no token. */
export class SignedOut extends Error {}

/** `getToken` returned the token of another user. */
export class OtherUser extends Error {}

export interface OperatorCalls {
  /** The token of the signed-in user, for whom the later calls are. A new one, if the last has expired. */
  token(): Promise<Token>
  /** Gets a new token for the same user. @throws SignedOut, OtherUser */
  renew(): Promise<Token>
  /** The next call gets a new token. */
  dropToken(): void
  /** Sends a request with the token. A token that the operator refuses is renewed once. @throws Refused, SignedOut, OtherUser */
  call(path: string, request: CallRequest): Promise<Response>
  /** The time of the operator, in epoch milliseconds. */
  now(): number
}

export interface CallRequest {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON with POST. */
  readonly body?: object
  /** The answer is a stream without an end. */
  readonly endless?: boolean
}

export function createOperatorCalls({ url, getToken }: InboxOptions): OperatorCalls {
  const base = url.replace(/\/+$/, '')
  let current: (Token & { readonly receivedAt: number }) | undefined
  let renewal: Promise<Token> | undefined
  let served: Token | undefined
  /** How much later it is at the operator. The clock of the device may be wrong. */
  let aheadMs = 0

  return {
    async token() {
      served = await validToken()
      return served
    },
    async renew() {
      const user = served
      return demandUser(await newToken(), user)
    },
    dropToken() {
      current = undefined
    },
    call,
    now: () => Date.now() + aheadMs,
  }

  async function validToken(): Promise<Token> {
    // The age of the token counts, not the clock of the device.
    if (current && performance.now() - current.receivedAt < current.lifetimeMs) return current
    return newToken()
  }

  function newToken(): Promise<Token> {
    renewal ??= fetchToken().finally(() => {
      renewal = undefined
    })
    return renewal
  }

  async function fetchToken(): Promise<Token> {
    const text = await getToken()
    if (!text) {
      current = undefined
      throw new SignedOut('no user is signed in')
    }
    current = { ...readToken(text), receivedAt: performance.now() }
    return current
  }

  async function call(path: string, request: CallRequest): Promise<Response> {
    // Another user may be served when the token has come.
    const user = served
    const used = demandUser(await validToken(), user)
    const response = await send(path, used, request)
    if (response.status !== 401) return demandOk(response)
    if (current === used) current = undefined
    return demandOk(await send(path, demandUser(await validToken(), user ?? used), request))
  }

  /** A call with the token of another user would show or mark that user's notifications. */
  function demandUser(token: Token, user: Token | undefined): Token {
    if (user && !haveOneUser(token, user)) throw new OtherUser('another user is signed in')
    return token
  }

  async function send(path: string, { text }: Token, request: CallRequest): Promise<Response> {
    const { signal, headers, body, endless } = request
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error('the operator did not answer')), timeoutMs)
    try {
      const response = await fetch(base + path, {
        headers: {
          authorization: `Bearer ${text}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        cache: 'no-store',
        credentials: 'omit',
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
        // A mark is sent although its link leads to another page.
        ...(body && { method: 'POST', body: JSON.stringify(body), keepalive: true }),
      })
      aheadMs = Date.parse(response.headers.get('date') ?? '') - Date.now() || 0
      return response
    } finally {
      // The timeout of an ordinary request covers the body too.
      if (endless) clearTimeout(timer)
    }
  }
}

async function demandOk(response: Response): Promise<Response> {
  if (response.ok) return response
  const { error } = (await response.json().catch(() => ({}))) as { error?: string }
  const seconds = Number(response.headers.get('retry-after') ?? 0)
  throw new Refused(response.status, error ?? `the operator answered ${response.status}`, seconds * 1000 || 0)
}
