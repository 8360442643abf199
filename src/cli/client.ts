import { apiKeyHeaders } from '../contract/endpoints.ts'
import { createCaller, type OpenAnswer } from '../http-client/caller.ts'
import { CliError, exit } from './exit.ts'
import { interruptible } from './interruptible.ts'

/** The called side, as error messages describe it. */
export interface Peer {
  readonly side: 'platform' | 'operator' | 'server'
  /** The required key: 'platform.keys with the scopes enqueue and read'. */
  readonly key: string
  /** Advice for the user after the client gave up. */
  readonly retryHint?: string
}

export interface ClientOptions {
  /** The base URL, which may contain a path. */
  readonly url: string
  readonly key: string
  readonly peer: Peer
  /** The longest outage before the client gives up. */
  readonly patienceMs: number
  readonly signal: AbortSignal
  /** Called with a message when an outage lasts, and when it ends. */
  readonly notify: (text: string) => void
}

export interface Client {
  /** Retries until there is an answer, so the request must be idempotent. @returns the answer and the number of attempts */
  post(path: string, body: string | Buffer, type?: string): Promise<{ readonly answer: unknown; readonly sent: number }>
  get(path: string): Promise<unknown>
  /** Passes on the body of an answer as it arrives. Retries only until the first byte: afterwards a lost connection is an error. */
  download(path: string, write: (chunk: Buffer) => Promise<void>): Promise<void>
  close(): Promise<void>
}

const firstBackoffMs = 100
const maxBackoffMs = 5_000
/** A shorter outage is not reported. */
const notifyAfterMs = 500

/** A client of a running side's /admin that retries while the side restarts. */
export function createClient({ url, key, peer, patienceMs, signal, notify }: ClientOptions): Client {
  const caller = createCaller({ url, connections: 8, idleMs: 60_000, headers: apiKeyHeaders(key) })
  let downSince: number | undefined
  let notified = false

  async function requestWithRetries(
    method: 'GET' | 'POST',
    path: string,
    body: string | Buffer | undefined,
    type: string,
    read: ReadBody = readJson,
  ): Promise<{ answer: unknown; sent: number }> {
    for (let sent = 1; ; sent++) {
      const result = await attempt(method, path, body, type, read)
      if ('answer' in result) {
        if (downSince !== undefined && notified)
          notify(`the ${peer.side} answers again after ${seconds(Date.now() - downSince)}`)
        downSince = undefined
        notified = false
        return { answer: result.answer, sent }
      }
      const now = Date.now()
      downSince ??= now
      if (!notified && now - downSince >= notifyAfterMs) {
        notified = true
        notify(
          `${url} ${result.answered ? `answers ${result.failure}` : `does not answer (${result.failure})`}: retrying for ${seconds(patienceMs)}`,
        )
      }
      if (now - downSince > patienceMs)
        throw new CliError(
          exit.unreachable,
          `${
            result.answered
              ? `${url} has answered with an error for ${seconds(patienceMs)} (${result.failure})`
              : `${url} has not answered for ${seconds(patienceMs)} (${result.failure}). Check that the ${peer.side} is running and that --url is right`
          }. ${peer.retryHint ?? 'It is safe to repeat the command later'}`,
        )
      await sleep(result.retryAfterMs ?? Math.random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** sent), signal)
    }
  }

  return {
    post: (path, body, type = 'application/json') => requestWithRetries('POST', path, body, type),
    get: async (path) => (await requestWithRetries('GET', path, undefined, 'application/json')).answer,
    async download(path, write) {
      await requestWithRetries('GET', path, undefined, 'application/json', (body) => copyBody(body, write))
    },
    close: caller.destroy,
  }

  async function attempt(
    method: 'GET' | 'POST',
    path: string,
    body: string | Buffer | undefined,
    type: string,
    read: ReadBody,
  ): Promise<{ answer: unknown } | Failure> {
    signal.throwIfAborted()
    let status: number
    let text: string
    let retryAfter: unknown
    try {
      const headers = { 'content-type': type }
      const response = await caller.open({ method, path, headers, ...(body !== undefined && { body }), signal })
      status = response.status
      retryAfter = response.headers['retry-after']
      if (status === 200) return { answer: await read(response.body) }
      text = await textOf(response.body)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof CliError) throw error
      const { code, message } = error as Error & { code?: string }
      return { failure: code ?? message }
    }
    if (status >= 500 || status === 408 || status === 429)
      return { failure: `${status}: ${errorOf(text)}`, answered: true, ...readRetryAfter(retryAfter) }
    throw new CliError(exit.usage, `${url}${path} answers ${status}: ${errorOf(text)}${remedyOf(status, peer)}`)
  }
}

/** Runs the work with a client, and closes the client afterwards. Ctrl-C aborts the work. */
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

type Body = OpenAnswer['body']
type ReadBody = (body: Body) => Promise<unknown>

const readJson: ReadBody = async (body) => JSON.parse(await textOf(body))

async function textOf(body: Body): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function copyBody(body: Body, write: (chunk: Buffer) => Promise<void>): Promise<void> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      await write(chunk)
    }
  } catch (error) {
    if (bytes === 0 || error instanceof CliError) throw error
    const { code, message } = error as Error & { code?: string }
    throw new CliError(
      exit.unreachable,
      `the answer broke off after ${bytes} bytes (${code ?? message}): repeat the command`,
    )
  }
}

interface Failure {
  readonly failure: string
  /** The side answered, and `failure` is its status and its error. */
  readonly answered?: true
  readonly retryAfterMs?: number
}

function readRetryAfter(header: unknown): { retryAfterMs?: number } {
  const delay = Number(header)
  return delay > 0 ? { retryAfterMs: Math.min(delay * 1000, maxBackoffMs) } : {}
}

function errorOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return error
  } catch {
    // The answer is from a proxy or another server.
  }
  return text.slice(0, 200) || 'empty answer'
}

function remedyOf(status: number, { side, key }: Peer): string {
  if (status === 401 || status === 403) return `. Give a key of ${key}, with BELLWIRE_KEY or --key-file`
  if (status !== 404 && status !== 405) return ''
  if (side === 'server') return '. Check that --url is the address of /admin of an operator or a platform'
  return side === 'platform'
    ? '. Check that --url is the platform, not the operator'
    : '. Check that --url is the operator, not the platform, and that it pushes to devices (operator.push.devices)'
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** Waits. Rejects when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
