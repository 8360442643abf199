import { setTimeout as sleep } from 'node:timers/promises'
import { createCaller, type OpenAnswer } from '../../base/http-client/caller.ts'
import { objectIn } from '../../base/runtime/json.ts'
import { apiKeyHeaders } from '../../contract/endpoints.ts'
import {
  type AnswerOf,
  type AnyRequest,
  type Requested,
  type RequestOf,
  type RouteName,
  type SideName,
  type WrittenRequest,
  writeRequest,
} from '../../sides/admin/calls.ts'
import { CliError, exit } from './exit.ts'

/** The called side, as error messages describe it. */
export interface Peer {
  readonly side: SideName | 'server'
  /** The required key: 'platform.keys with the scopes enqueue and read'. */
  readonly key: string
  /** Advice for the user after the client gave up. */
  readonly retryHint?: string
}

export interface ClientOptions {
  /** The base URL, which may contain a path. */
  readonly url: string
  readonly key: string
  /** An HTTP proxy. Absent: a direct connection. */
  readonly proxy?: string | undefined
  /** The only certificate of the server that is accepted (PEM), under any name. Absent: those of known authorities. */
  readonly pinned?: string | undefined
  readonly peer: Peer
  /** The longest outage before the client gives up. */
  readonly patienceMs: number
  readonly signal: AbortSignal
  /** Called with a message when an outage lasts, and when it ends. */
  readonly notify: (text: string) => void
}

/** A client of /admin of a running side. Without a side: of either. */
export interface Client<Side extends SideName = SideName> {
  /** Retries until there is an answer, so the request must be idempotent. */
  call<Name extends RouteName<Side>>(name: Name, ...request: Requested<Side, Name>): Promise<AnswerOf<Side, Name>>
  /** Passes on the body of an answer as it arrives. Retries only until the first byte: afterwards a lost connection is an error. */
  download<Name extends RouteName<Side>>(
    name: Name,
    request: RequestOf<Side, Name>,
    write: (chunk: Buffer) => Promise<void>,
  ): Promise<void>
  close(): Promise<void>
}

const firstBackoffMs = 100
const maxBackoffMs = 5_000
/** A shorter outage is not reported. */
const notifyAfterMs = 500

/** Creates a client that retries while the side restarts. */
export function createClient<Side extends SideName>({
  url,
  key,
  proxy,
  pinned,
  peer,
  patienceMs,
  signal,
  notify,
}: ClientOptions): Client<Side> {
  const caller = createCaller({
    url,
    connections: 8,
    idleMs: 60_000,
    headers: apiKeyHeaders(key),
    ...(proxy !== undefined && { proxy }),
    ...(pinned !== undefined && { pinned }),
  })
  let downSince: number | undefined
  let notified = false

  async function requestWithRetries(request: WrittenRequest, read: ReadBody, onRetry?: () => void): Promise<unknown> {
    for (let sent = 1; ; sent++) {
      if (sent > 1) onRetry?.()
      const result = await attempt(request, read)
      if ('answer' in result) {
        if (downSince !== undefined && notified)
          notify(`the ${peer.side} answers again after ${seconds(Date.now() - downSince)}`)
        downSince = undefined
        notified = false
        return result.answer
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
      const backoffMs = Math.random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** sent)
      await sleep(result.retryAfterMs ?? backoffMs, undefined, { signal })
    }
  }

  return {
    async call(name, ...requested) {
      const [request = {}] = requested as [request?: AnyRequest]
      return (await requestWithRetries(writeRequest(name, request), readJson, request.onRetry)) as never
    },
    async download(name, request, write) {
      await requestWithRetries(writeRequest(name, request as AnyRequest), (body) => copyBody(body, write))
    },
    close: caller.destroy,
  }

  async function attempt(request: WrittenRequest, read: ReadBody): Promise<{ answer: unknown } | Failure> {
    signal.throwIfAborted()
    let status: number
    let text: string
    let retryAfter: unknown
    try {
      const response = await caller.open({ ...request, signal })
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
    throw new CliError(
      exit.usage,
      `${url}${request.path} answers ${status}: ${errorOf(text)}${remedyOf(status, errorOf(text), peer)}`,
    )
  }
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

/** An answer without a JSON error is from a proxy or another server. */
function errorOf(text: string): string {
  const error = objectIn(text)?.error
  return typeof error === 'string' ? error : text.slice(0, 200) || 'empty answer'
}

function remedyOf(status: number, error: string, { side, key }: Peer): string {
  if (status === 401 || status === 403) return `. Give a key of ${key}, with BELLWIRE_KEY or --key-file`
  if (status !== 404 && status !== 405) return ''
  // The side knows the path, and not the lane, brand or run that the request names.
  if (/\b(is|has) no |is not reconciled/.test(error)) return ''
  if (side === 'server') return '. Check that --url is the address of /admin of an operator or a platform'
  const address = `. Check that --url is the address of /admin of the ${side}: that of ${side}.admin, if it is set`
  return side === 'platform' ? address : `${address}. Devices need operator.push.devices`
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}
