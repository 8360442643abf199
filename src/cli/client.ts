import { Pool } from 'undici'
import { CliError, exit } from './exit.ts'
import { interruptible } from './interruptible.ts'

/** Who is called, in the sentences that a person reads. */
export interface Called {
  readonly side: 'platform' | 'operator'
  /** Which key opens it: 'platform.keys with the scopes enqueue and read'. */
  readonly key: string
  /** What a person may do when we give up. */
  readonly later?: string
}

export interface ClientOptions {
  /** Where it listens; a path in it is kept. */
  readonly url: string
  readonly key: string
  readonly called: Called
  /** How long it may be away before we give up. */
  readonly patienceMs: number
  readonly signal: AbortSignal
  /** Told when it stays away, and when it is back. */
  readonly notice: (text: string) => void
}

export interface Client {
  /** Sends until it is answered; what it sends must be safe to repeat. @returns the answer and how many times it was sent */
  post(path: string, body: string | Buffer, type?: string): Promise<{ readonly answer: unknown; readonly sent: number }>
  get(path: string): Promise<unknown>
  close(): Promise<void>
}

const firstWaitMs = 100
const longestWaitMs = 5_000
/** A single busy answer is nobody's business. */
const worthTellingMs = 500

/** A client of a running side's /admin that outlives its restarts. */
export function createClient({ url, key, called, patienceMs, signal, notice }: ClientOptions): Client {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/+$/, '')
  const pool = new Pool(origin, { connections: 8, connectTimeout: 5_000, headersTimeout: 60_000, bodyTimeout: 60_000 })
  let awaySince: number | undefined
  let told = false

  async function untilAnswered(
    method: 'GET' | 'POST',
    path: string,
    body: string | Buffer | null,
    type: string,
  ): Promise<{ answer: unknown; sent: number }> {
    for (let sent = 1; ; sent++) {
      const tried = await attempt(method, base + path, body, type)
      if ('answer' in tried) {
        if (awaySince !== undefined && told)
          notice(`the ${called.side} is back after ${seconds(Date.now() - awaySince)}`)
        awaySince = undefined
        told = false
        return { answer: tried.answer, sent }
      }
      const now = Date.now()
      awaySince ??= now
      if (!told && now - awaySince >= worthTellingMs) {
        told = true
        notice(`${url} does not answer (${tried.trouble}): trying again for ${seconds(patienceMs)}`)
      }
      if (now - awaySince > patienceMs)
        throw new CliError(
          exit.unreachable,
          `${url} has not answered for ${seconds(patienceMs)} (${tried.trouble}). Is the ${called.side} running, and is --url right? ${called.later ?? 'Doing the same again later is safe'}`,
        )
      await rest(tried.retryAfterMs ?? Math.random() * Math.min(longestWaitMs, firstWaitMs * 2 ** sent), signal)
    }
  }

  return {
    post: (path, body, type = 'application/json') => untilAnswered('POST', path, body, type),
    get: async (path) => (await untilAnswered('GET', path, null, 'application/json')).answer,
    close: () => pool.destroy(),
  }

  async function attempt(
    method: 'GET' | 'POST',
    path: string,
    body: string | Buffer | null,
    type: string,
  ): Promise<{ answer: unknown } | Trouble> {
    signal.throwIfAborted()
    let status: number
    let text: string
    let retryAfter: unknown
    try {
      const response = await pool.request({
        method,
        path,
        body,
        headers: { 'content-type': type, 'x-api-key': key },
        signal,
      })
      status = response.statusCode
      retryAfter = response.headers['retry-after']
      text = await response.body.text()
      if (status === 200) return { answer: JSON.parse(text) }
    } catch (error) {
      signal.throwIfAborted()
      const { code, message } = error as Error & { code?: string }
      return { trouble: code ?? message }
    }
    if (status >= 500 || status === 408 || status === 429) return { trouble: `status ${status}`, ...waitOf(retryAfter) }
    throw new CliError(
      exit.usage,
      `${url}${path.slice(base.length)} answers ${status}: ${errorOf(text)}${remedyOf(status, called)}`,
    )
  }
}

/** Gives the work a client until it ends, or Ctrl-C ends it. */
export function withClient<T>(
  options: Omit<ClientOptions, 'signal'>,
  interrupted: string,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(interrupted, async (signal) => {
    const client = createClient({ ...options, signal })
    try {
      return await work(client, signal)
    } finally {
      await client.close()
    }
  })
}

interface Trouble {
  readonly trouble: string
  readonly retryAfterMs?: number
}

function waitOf(header: unknown): { retryAfterMs?: number } {
  const given = Number(header)
  return given > 0 ? { retryAfterMs: Math.min(given * 1000, longestWaitMs) } : {}
}

function errorOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return error
  } catch {
    // Not ours: a proxy, or another server.
  }
  return text.slice(0, 200) || 'nothing more'
}

function remedyOf(status: number, { side, key }: Called): string {
  if (status === 401 || status === 403) return `. Give a key of ${key}, with BELLWIRE_KEY or --key-file`
  if (status !== 404 && status !== 405) return ''
  return side === 'platform'
    ? '. Is --url the platform, not the operator?'
    : '. Is --url the operator, not the platform, and does it push to devices (operator.push.devices)?'
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** Waits, unless the command is ended. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
