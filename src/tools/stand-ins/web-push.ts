// A Web Push service (RFC 8030, 8291, 8292). It makes subscriptions with real keys, and decrypts and shows their messages. It
// also serves real browsers: Firefox connects to it as to Mozilla's push service (web-push/autopush.ts).

import { createECDH, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  constants,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { limitUnanswered } from '../../base/http/unanswered.ts'
import { createArrivals } from './arrivals.ts'
import type { Certificate } from './certificate.ts'
import { createFaults, type Fault } from './faults.ts'
import { closeServer, listen } from './listen.ts'
import type { ShownNotification, StandIn } from './stand-in.ts'
import { serveAutopush } from './web-push/autopush.ts'
import type { BrowserOptions, BrowserSubscription } from './web-push/browser.ts'
import { decrypt } from './web-push/decrypt.ts'
import { createMailbox } from './web-push/mailbox.ts'
import { type Headers, readRequest } from './web-push/read-request.ts'
import { createScreen, readContent, type Screen } from './web-push/screen.ts'
import type { Refusal } from './web-push/vapid.ts'

export interface WebPushStandInOptions {
  readonly host?: string
  /** Default: 0, a free port. */
  readonly port?: number
  /** Absent: no TLS. With it, the server speaks HTTP/2 and HTTP/1.1, and real browsers cannot connect. */
  readonly certificate?: Certificate
  /** Default: true, with a certificate. */
  readonly http2?: boolean
  /** The origin of its endpoints, which the setting `origins` maps to this server. Default: its own URL. */
  readonly origin?: string
  /** Seed of the random faults. */
  readonly seed?: number
  /** The clock, in epoch milliseconds. */
  readonly now?: () => number
}

export interface SubscribeOptions {
  /** VAPID public key of the only server that may send to the subscription. Absent: every server may. */
  readonly applicationServerKey?: string
  /** End of the subscription in epoch milliseconds, as reported by the browser. */
  readonly expirationTime?: number
}

/** A token is the JSON text of a subscription from subscribe(). For a real browser, the endpoint alone is a valid token too. */
export interface WebPushStandIn extends StandIn {
  /** Adds a device. @returns its subscription as JSON text, like that of pushManager.subscribe() in a page */
  subscribe(options?: SubscribeOptions): string
  /** Adds a subscription of a real browser. */
  addBrowser(browser: BrowserOptions): BrowserSubscription
  /** The value for dom.push.serverURL of Firefox. */
  readonly autopush: string
}

interface Device {
  readonly token: string
  readonly key: string | undefined
  readonly screen: Screen
  /** Undefined if only a real browser has the keys. */
  readonly decrypt: ((body: Buffer) => string) | undefined
  readonly mailbox: ReturnType<typeof createMailbox>
  forgotten: boolean
}

/**
 * @example
 * const service = await startWebPushStandIn()
 * const token = service.subscribe({ applicationServerKey: publicKey })
 * const sender = webPush({ publicKey, privateKey, subject, origins: { [service.url]: service.url } })
 * service.shown(token) // the decrypted messages
 */
export async function startWebPushStandIn(options: WebPushStandInOptions = {}): Promise<WebPushStandIn> {
  const { host = '127.0.0.1', port = 0, seed, now = Date.now } = options
  const faults = createFaults(seed)
  const devices = new Map<string, Device>()
  const arrivals = createArrivals()
  const listeners = new Set<(token: string, shown: ShownNotification) => void>()
  const stopping = new AbortController()

  const handle = limitUnanswered((request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })
  const server = openServer(options, handle)
  const url = await listen(server, host, port, options.certificate ? 'https' : 'http')
  const origin = options.origin ?? url
  const endpointOf = (id: string): string => `${origin}/wpush/v2/${id}`
  const newId = (): string => randomBytes(24).toString('base64url')

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    if (request.httpVersion === '2.0' && !isProcessed(request)) return
    const device = devices.get(idOf(request.url ?? ''))
    const fault = faults.match(device?.token ?? endpointOf(idOf(request.url ?? '')))
    const answer = fault?.reset === 'before' ? undefined : (fault?.answer ?? acceptMessage(request, device, body))
    const lost = answer === undefined || fault?.reset === 'after'
    arrivals.add({
      at: now(),
      token: device?.token ?? endpointOf(idOf(request.url ?? '')),
      headers: request.headers as Headers,
      body: device ? readable(device, body) : body.toString('base64url'),
      status: lost ? 0 : answer.status,
      accepted: answer?.status === 201 && fault?.answer === undefined,
    })
    if (fault?.delayMs !== undefined) await sleep(fault.delayMs, undefined, { signal: stopping.signal })
    if (lost) return void reset(request, fault?.reset)
    // HTTP/1.1 has no GOAWAY: the connection closes after this answer.
    if (fault?.goaway && request.httpVersion === '2.0') goaway(request)
    else if (fault?.goaway) response.setHeader('connection', 'close')
    response.writeHead(answer.status, answer.headers)
    response.end(answer.body)
  }

  /** Handles a request without a fault. */
  function acceptMessage(
    request: IncomingMessage,
    device: Device | undefined,
    body: Buffer,
  ): Required<Fault>['answer'] {
    const refuse = ({ status, errno, message }: Refusal) => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: status, errno, message }),
    })
    if (request.method !== 'POST') return refuse({ status: 405, errno: 999, message: 'use POST' })
    if (!device) return refuse({ status: 404, errno: 102, message: 'there is no such endpoint' })
    if (device.forgotten) return refuse({ status: 410, errno: 106, message: 'the subscription no longer exists' })
    const vapid = { audience: origin, key: device.key, now: now() }
    const read = readRequest(request.headers as Headers, body.length, vapid)
    if ('status' in read) return refuse(read)
    const id = randomUUID()
    const at = now()
    device.mailbox.put({ ...read, id, at, expiresAt: at + read.ttl * 1_000, body, replaced: 0 })
    return { status: 201, headers: { location: `${origin}/m/${id}`, ttl: String(read.ttl) }, body: '' }
  }

  function add(
    id: string,
    device: Omit<Device, 'mailbox' | 'forgotten'>,
    deliver: BrowserOptions['deliver'],
    online = true,
  ) {
    const mailbox = createMailbox(deliver, now, online)
    devices.set(id, { ...device, mailbox, forgotten: false })
    return mailbox
  }

  function subscribe({ applicationServerKey, expirationTime }: SubscribeOptions = {}): string {
    const keys = createECDH('prime256v1')
    keys.generateKeys()
    const auth = randomBytes(16)
    const id = newId()
    const token = JSON.stringify({
      endpoint: endpointOf(id),
      expirationTime: expirationTime ?? null,
      keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') },
    })
    const screen = createScreen()
    const read = (body: Buffer): string => decrypt(body, keys, auth).toString()
    const mailbox = add(id, { token, key: applicationServerKey, screen, decrypt: read }, (mail) => {
      mailbox.acknowledge(mail.id)
      const text = attempt(() => read(mail.body))
      // A browser discards a message that it cannot decrypt. The push service has answered 201 already.
      if (text === undefined) return
      const shown = screen.show(text, now(), mail.replaced)
      for (const listener of listeners) listener(token, shown)
    })
    return token
  }

  function addBrowser({ id = newId(), applicationServerKey, deliver, online }: BrowserOptions): BrowserSubscription {
    const token = endpointOf(id)
    const device = { token, key: applicationServerKey, screen: createScreen(), decrypt: undefined }
    const { acknowledge, setOnline } = add(id, device, deliver, online)
    return { endpoint: token, acknowledge, setOnline, forget: () => forget(token) }
  }

  function forget(token: string): void {
    const device = devices.get(idOf(token))
    if (device) device.forgotten = true
  }

  const autopush = serveAutopush(server, { addBrowser })
  return {
    url,
    autopush: `${url.replace('http', 'ws')}/`,
    arrivals: arrivals.list,
    subscribe,
    addBrowser,
    forget,
    shown: (token) => devices.get(idOf(token))?.screen.shown ?? [],
    kept(token) {
      const device = devices.get(idOf(token))
      return device?.mailbox.kept().map(({ body }) => readContent(readable(device, body))) ?? []
    },
    onShown(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    setOnline: (token, online) => devices.get(idOf(token))?.mailbox.setOnline(online),
    play: (fault) =>
      faults.play(
        fault.token === undefined ? fault : { ...fault, token: devices.get(idOf(fault.token))?.token ?? fault.token },
      ),
    async close() {
      stopping.abort()
      autopush.close()
      await closeServer(server)
    },
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server of HTTP/1.1, and with a certificate of HTTP/2 too. Node offers the same requests for both. */
function openServer({ certificate, http2 = true }: WebPushStandInOptions, handle: Handler): Server {
  if (certificate === undefined) return createServer(handle)
  if (!http2) return createHttpsServer({ ...certificate }, handle)
  const server = createSecureServer({ ...certificate, allowHTTP1: true })
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  server.on('request', handle as unknown as (request: Http2ServerRequest, response: Http2ServerResponse) => void)
  return Object.assign(server as unknown as Server, {
    closeAllConnections() {
      for (const session of sessions) session.destroy()
    },
  })
}

/** HTTP/2 resets the stream, and says whether the request was processed. HTTP/1.1 can only end the connection. */
function reset(request: IncomingMessage, when: Fault['reset']): void {
  if (request.httpVersion !== '2.0') return void request.socket.destroy()
  const { stream } = request as unknown as Http2ServerRequest
  stream.close(when === 'before' ? constants.NGHTTP2_REFUSED_STREAM : constants.NGHTTP2_INTERNAL_ERROR)
}

/** The last processed stream of each session, and the last stream of its GOAWAY. */
const processed = new WeakMap<object, { last: number; goaway: number }>()

/** Streams may arrive between the call of goaway() and the frame on the wire. Their client sends them again, so they are ignored. */
function isProcessed(request: IncomingMessage): boolean {
  const { session, id = 0 } = (request as unknown as Http2ServerRequest).stream
  if (!session) return false
  const state = processed.get(session) ?? { last: 0, goaway: Number.POSITIVE_INFINITY }
  processed.set(session, state)
  if (id > state.goaway) return false
  state.last = Math.max(state.last, id)
  return true
}

function goaway(request: IncomingMessage): void {
  const { session } = (request as unknown as Http2ServerRequest).stream
  const state = session && processed.get(session)
  if (!state || state.goaway !== Number.POSITIVE_INFINITY) return
  state.goaway = state.last
  session.goaway(constants.NGHTTP2_NO_ERROR, state.last)
}

/** The last part of an endpoint's path. The argument is a subscription, an endpoint or a path. */
function idOf(token: string): string {
  const endpoint = attempt(() => (JSON.parse(token) as { endpoint: string }).endpoint) ?? token
  return endpoint.slice(endpoint.lastIndexOf('/') + 1)
}

function readable({ decrypt: read }: Device, body: Buffer): string {
  return (read && attempt(() => read(body))) ?? body.toString('base64url')
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
