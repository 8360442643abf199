// Sends the requests of the checker. It uses node:http, because some requests must be incomplete, slow or cut, which no ordinary
// HTTP client allows.

import * as http from 'node:http'
import https from 'node:https'
import { clock } from '../../base/runtime/clock.ts'
import { collectBytes } from '../../base/runtime/collect-bytes.ts'
import { redactSecrets } from '../../base/runtime/redact-secrets.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import type { Answer, Exchange, KeyUse, Lost } from './exchange.ts'

export interface WireRequest {
  readonly label: string
  readonly method?: string
  /** Below the base URL. */
  readonly path: string
  readonly key?: KeyUse
  /** The spelling of the header of the key; default: X-Api-Key. */
  readonly keyHeader?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The bytes to send instead of `body`, which then describes them. */
  readonly bytes?: Buffer
  /** Requests with the same mark use one connection, as long as the operator keeps it open. All others have one of their own. */
  readonly together?: symbol
  /** Sends the body in chunks, without a Content-Length. */
  readonly chunked?: true
  /** Sends the body in five pieces over this time. */
  readonly writeOverMs?: number
  /** Sends the last of these pieces after this promise. */
  readonly lastPieceAfter?: Promise<unknown>
  /** Waits this long before reading the body of the answer. */
  readonly readAfterMs?: number
  /** Closes the connection: within the body, some time after the request, or after the first bytes of the answer. */
  readonly abandon?: 'first_bytes' | { readonly after: 'half_body' | 'request'; readonly ms: number }
}

export interface HttpClientOptions {
  readonly url: string
  readonly key: string
  readonly timeoutMs: number
}

export interface HttpClient {
  /** Never rejects: a request without an answer is an exchange that was lost, blamed on the connection. */
  send(request: WireRequest): Promise<Exchange>
  close(): void
}

/** Longer answers are not read. */
const mostAnswerBytes = 256 * 1024 * 1024
const pieces = 5

export function createHttpClient({ url, key, timeoutMs }: HttpClientOptions): HttpClient {
  const base = new URL(url)
  const { request: open, Agent } = base.protocol === 'https:' ? https : http
  // A fault that spoils a connection must not spoil the requests of other checks. The header still says keep-alive, as a platform does.
  const single = Object.assign(new Agent({ keepAlive: true }), { keepSocketAlive: () => false })
  const shared = new Map<symbol, http.Agent>()
  const agentOf = (together: symbol | undefined): http.Agent => {
    if (together === undefined) return single
    const agent = shared.get(together) ?? new Agent({ keepAlive: true, timeout: 1_000, maxSockets: 1 })
    shared.set(together, agent)
    return agent
  }
  const keys = keyValues(key)
  const secrets = Object.values(keys).flatMap((value) => value || [])

  const closeAll = (): void => {
    for (const agent of [single, ...shared.values()]) agent.destroy()
  }

  async function send(wire: WireRequest): Promise<Exchange> {
    const target = new URL(base.pathname.replace(/\/+$/, '') + wire.path, base)
    const headers = { ...bodyHeaders(wire), ...wire.headers }
    const { key: keyUse = 'right', keyHeader = 'X-Api-Key', method = 'POST' } = wire
    const value = keys[keyUse]
    const request = {
      method,
      url: withoutCredentials(target),
      headers,
      key: keyUse,
      keyHeader,
      body: wire.body ?? '',
      ...noteOf(wire),
    }
    const startedAt = clock.now()
    const from = clock.monotonic()
    const attempt = (): Promise<Ending> =>
      new Promise((resolve) => {
        const outgoing = open(target, {
          method,
          headers: { ...headers, ...(value !== undefined && { [keyHeader]: value }) },
          // A connection that the checker closes belongs to this request alone.
          agent: wire.abandon ? false : agentOf(wire.together),
          ...(base.username !== '' && { auth: `${base.username}:${base.password}` }),
        })
        follow(outgoing, wire, timeoutMs, resolve)
        void writeBody(outgoing, wire)
      })
    let ending = await attempt()
    // The server closed an idle connection just as it was used again.
    if (ending.staleConnection) ending = await attempt()
    const redacted = (text: string): string => redactSecrets(text, secrets)
    return {
      label: wire.label,
      request,
      startedAt,
      ms: Math.round(clock.monotonic() - from),
      ...(ending.answer && { answer: redactAnswer(ending.answer, redacted) }),
      ...(ending.lost && { lost: { ...ending.lost, detail: redacted(ending.lost.detail), blame: 'connection' } }),
      ...(ending.abandoned && { abandoned: true }),
    }
  }

  return { send, close: closeAll }
}

function redactAnswer(answer: Answer, redacted: (text: string) => string): Answer {
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, redacted(value)] as const)
  return { ...answer, headers: Object.fromEntries(headers), body: redacted(answer.body) }
}

interface Ending {
  readonly answer?: Answer
  readonly lost?: Omit<Lost, 'blame'>
  readonly abandoned?: true
  readonly staleConnection?: boolean
}

/** Reports the end of a request once: its answer, its loss, or that the checker abandoned it. */
function follow(
  outgoing: http.ClientRequest,
  wire: WireRequest,
  timeoutMs: number,
  report: (ending: Ending) => void,
): void {
  let abandoned = false
  let late = false
  const cancel = afterIdle(timeoutMs, () => {
    late = true
    outgoing.destroy()
  })
  const end = (ending: Ending): void => {
    cancel()
    report(abandoned ? { abandoned: true } : ending)
  }
  const abandon = (): void => {
    abandoned = true
    outgoing.destroy()
    end({})
  }
  let answer: http.IncomingMessage | undefined
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // Bytes that follow a complete answer do not belong to it.
    if (answer?.complete) return
    const staleConnection = outgoing.reusedSocket && error.code === 'ECONNRESET' && !late
    end({ lost: late ? timedOut(timeoutMs) : lossOf(error), staleConnection })
  })
  outgoing.on('response', (incoming) => {
    answer = incoming
    if (wire.abandon === 'first_bytes') incoming.once('data', abandon)
    readAnswer(incoming, wire.readAfterMs, () => (late ? timedOut(timeoutMs) : undefined), end)
  })
  const { abandon: when } = wire
  if (typeof when !== 'object') return
  outgoing.once(when.after === 'request' ? 'finish' : 'half', () => clock.setTimeout(abandon, when.ms))
}

/**
 * A timeout that starts again if the checker itself was too busy to notice an answer: that must not count against the operator.
 *
 * @returns a function that cancels it
 */
function afterIdle(ms: number, act: () => void): () => void {
  const from = clock.monotonic()
  let timer = clock.setTimeout(() => {
    const delayedMs = clock.monotonic() - from - ms
    if (delayedMs < mostDelayMs) act()
    else timer = clock.setTimeout(act, ms)
  }, ms)
  return () => clock.clearTimeout(timer)
}

const mostDelayMs = 200

function readAnswer(
  incoming: http.IncomingMessage,
  readAfterMs: number | undefined,
  lateness: () => Omit<Lost, 'blame'> | undefined,
  end: (ending: Ending) => void,
): void {
  const body = collectBytes()
  const isTooLong = (): boolean => body.bytes > mostAnswerBytes
  const read = (): void => {
    incoming.on('data', (chunk: Buffer) => {
      body.add(chunk)
      if (isTooLong()) incoming.destroy()
    })
  }
  if (readAfterMs === undefined) read()
  else clock.setTimeout(read, readAfterMs)
  incoming.on('error', () => {}) // 'close' follows
  incoming.on('close', () => {
    if (isTooLong())
      return end({ lost: { how: 'too_long', detail: `the answer is longer than ${mostAnswerBytes} bytes` } })
    const answer = {
      status: incoming.statusCode as number,
      headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
      body: body.join().toString('utf8'),
      complete: incoming.complete,
    }
    const late = incoming.complete ? undefined : lateness()
    end({ answer, ...(late && { lost: late }) })
  })
}

async function writeBody(outgoing: http.ClientRequest, wire: WireRequest): Promise<void> {
  const bytes = bytesOf(wire)
  if (typeof wire.abandon === 'object' && wire.abandon.after === 'half_body') {
    outgoing.write(bytes.subarray(0, bytes.length >> 1), () => outgoing.emit('half'))
    return
  }
  if (wire.writeOverMs !== undefined || wire.chunked) {
    const size = Math.ceil(bytes.length / pieces)
    for (let at = 0; at < bytes.length && !outgoing.destroyed; at += size) {
      if (at + size >= bytes.length) await wire.lastPieceAfter
      outgoing.write(bytes.subarray(at, at + size))
      if (wire.writeOverMs !== undefined) await sleep(wire.writeOverMs / pieces)
    }
    outgoing.end()
  } else outgoing.end(bytes)
}

const bytesOf = ({ bytes, body = '' }: WireRequest): Buffer => bytes ?? Buffer.from(body)

function bodyHeaders(wire: WireRequest): Record<string, string> {
  const common = { accept: 'application/json', 'user-agent': 'bellwire-check' }
  if (wire.body === undefined) return common
  return {
    ...common,
    'content-type': 'application/json',
    ...(!wire.chunked && { 'content-length': String(bytesOf(wire).length) }),
  }
}

function noteOf({ abandon, chunked, writeOverMs, readAfterMs, bytes, headers }: WireRequest): { note?: string } {
  if (abandon === 'first_bytes')
    return { note: 'the checker closed the connection after the first bytes of the answer' }
  if (abandon) {
    const after = abandon.after === 'request' ? 'the request' : 'half of the body'
    return { note: `the checker closed the connection ${abandon.ms} ms after ${after}` }
  }
  if (writeOverMs !== undefined) return { note: `the body was sent in ${pieces} pieces over ${writeOverMs} ms` }
  if (readAfterMs !== undefined) return { note: `the checker began to read the answer after ${readAfterMs} ms` }
  if (chunked) return { note: 'the body was sent in chunks, without Content-Length' }
  if (headers?.['content-encoding'] !== undefined) return { note: 'the body was sent compressed with gzip' }
  return bytes ? { note: 'in place of U+FFFD, the byte FF was sent' } : {}
}

function keyValues(key: string): Readonly<Record<KeyUse, string | undefined>> {
  return {
    right: key,
    none: undefined,
    other: 'bellwire-check-wrong-key',
    shortened: key.slice(0, -1),
    lengthened: `${key}x`,
    other_case: inOtherCase(key),
    empty: '',
  }
}

/** A key without letters has no other case: it is replaced by a key that is wrong. */
function inOtherCase(key: string): string {
  const other = key.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
  return other === key ? `${key}-bellwire-check` : other
}

const timedOut = (ms: number): Omit<Lost, 'blame'> => ({
  how: 'timeout',
  detail: `no complete answer within ${ms / 1000} s`,
})

function lossOf({ code = '', message }: NodeJS.ErrnoException): Omit<Lost, 'blame'> {
  if (code.startsWith('HPE_')) return { how: 'not_http', detail: `the answer is not HTTP: ${message}` }
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return { how: 'cut', detail: 'the connection was closed without an answer' }
  return { how: 'unreachable', detail: message === '' ? code : message }
}

export function withoutCredentials(url: URL | string): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  return shown.href
}
