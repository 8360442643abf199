// A Web Push service (RFC 8030, 8291, 8292). It makes subscriptions with real keys of its own, whose messages it decrypts and
// shows, and takes those of real browsers: Firefox speaks to it as to Mozilla's (web-push/autopush.ts).

import { createECDH, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createArrivals } from './arrivals.ts'
import { createFaults, type Fault } from './faults.ts'
import { listen, shut } from './listen.ts'
import type { Shown, StandIn } from './stand-in.ts'
import { serveAutopush } from './web-push/autopush.ts'
import { decrypt } from './web-push/decrypt.ts'
import { createMailbox, type Mail } from './web-push/mailbox.ts'
import { type Headers, readRequest } from './web-push/read-request.ts'
import { createScreen, readContent, type Screen } from './web-push/screen.ts'
import type { Refusal } from './web-push/vapid.ts'

export interface WebPushStandInOptions {
  readonly host?: string
  /** 0, the default, takes a free one. */
  readonly port?: number
  /** The origin that its endpoints carry, to be led here by the setting `origins`; its own address. */
  readonly origin?: string
  /** Of what the fault scripts draw. */
  readonly seed?: number
  /** Epoch milliseconds. */
  readonly now?: () => number
}

export interface SubscribeOptions {
  /** The VAPID public key of who may send to it; absent: anybody. */
  readonly applicationServerKey?: string
  /** Epoch milliseconds: the subscription says that it ends then. */
  readonly expirationTime?: number
}

/** What a real browser behind a subscription needs. */
export interface Adopting {
  /** The last part of the endpoint's path; a random one. */
  readonly id?: string
  readonly applicationServerKey?: string | undefined
  /** Gets each message; says done() with its id when it has it. */
  readonly deliver: (mail: Mail) => void
  readonly online?: boolean
}

export interface Adopted {
  readonly endpoint: string
  done(id: string): void
  setOnline(online: boolean): void
  forget(): void
}

/** Tokens are subscriptions as JSON text, as subscribe() gives them; a browser's own may be given by its endpoint alone. */
export interface WebPushStandIn extends StandIn {
  /** A new device's subscription: what a page gets from pushManager.subscribe(), as JSON text. */
  subscribe(options?: SubscribeOptions): string
  /** A subscription whose device is a real browser. */
  adopt(browser: Adopting): Adopted
  /** What Firefox takes as dom.push.serverURL. */
  readonly autopush: string
}

interface Device {
  readonly token: string
  readonly key: string | undefined
  readonly screen: Screen
  /** Undefined where the keys are in a browser. */
  readonly decrypt: ((body: Buffer) => string) | undefined
  readonly mailbox: ReturnType<typeof createMailbox>
  forgotten: boolean
}

/**
 * @example
 * const service = await startWebPushStandIn()
 * const token = service.subscribe({ applicationServerKey: publicKey })
 * const sender = webPush({ publicKey, privateKey, subject, origins: { [service.url]: service.url } })
 * service.shown(token) // what was sent, decrypted
 */
export async function startWebPushStandIn(options: WebPushStandInOptions = {}): Promise<WebPushStandIn> {
  const { host = '127.0.0.1', port = 0, seed, now = Date.now } = options
  const faults = createFaults(seed)
  const devices = new Map<string, Device>()
  const arrivals = createArrivals()
  const listeners = new Set<(token: string, shown: Shown) => void>()
  const stopping = new AbortController()

  const server = createServer(
    (request, response) => void serve(request, response).catch(() => request.socket.destroy()),
  )
  const url = await listen(server, host, port)
  const origin = options.origin ?? url
  const endpointOf = (id: string): string => `${origin}/wpush/v2/${id}`
  const newId = (): string => randomBytes(24).toString('base64url')

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const device = devices.get(idOf(request.url ?? ''))
    const fault = faults.meet(device?.token ?? endpointOf(idOf(request.url ?? '')))
    if (fault?.delayMs !== undefined) await sleep(fault.delayMs, undefined, { signal: stopping.signal })
    const answer = fault?.reset === 'before' ? undefined : (fault?.answer ?? take(request, device, body))
    const lost = answer === undefined || fault?.reset === 'after'
    arrivals.add({
      at: now(),
      token: device?.token ?? endpointOf(idOf(request.url ?? '')),
      headers: request.headers as Headers,
      body: device ? readable(device, body) : body.toString('base64url'),
      status: lost ? 0 : answer.status,
      accepted: answer?.status === 201 && fault?.answer === undefined,
    })
    if (lost) return void request.socket.destroy()
    // HTTP/1.1 has no GOAWAY: it ends the connection with this answer.
    response.writeHead(answer.status, { ...answer.headers, ...(fault?.goaway && { connection: 'close' }) })
    response.end(answer.body)
  }

  /** Serves a request well. */
  function take(request: IncomingMessage, device: Device | undefined, body: Buffer): Required<Fault>['answer'] {
    const refuse = ({ status, errno, message }: Refusal) => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: status, errno, message }),
    })
    if (request.method !== 'POST') return refuse({ status: 405, errno: 999, message: 'only POST is known here' })
    if (!device) return refuse({ status: 404, errno: 102, message: 'there is no such endpoint' })
    if (device.forgotten)
      return refuse({ status: 410, errno: 106, message: 'the subscription does not exist any more' })
    const vapid = { audience: origin, key: device.key, now: now() }
    const read = readRequest(request.headers as Headers, body.length, vapid)
    if ('status' in read) return refuse(read)
    const id = randomUUID()
    const at = now()
    device.mailbox.put({ ...read, id, at, expiresAt: at + read.ttl * 1_000, body, replaced: 0 })
    return { status: 201, headers: { location: `${origin}/m/${id}`, ttl: String(read.ttl) }, body: '' }
  }

  function add(id: string, device: Omit<Device, 'mailbox' | 'forgotten'>, deliver: Adopting['deliver'], online = true) {
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
      mailbox.done(mail.id)
      const text = attempt(() => read(mail.body))
      // A browser drops what it cannot decrypt; the push service has answered 201 all the same.
      if (text === undefined) return
      const shown = screen.show(text, now(), mail.replaced)
      for (const listener of listeners) listener(token, shown)
    })
    return token
  }

  function adopt({ id = newId(), applicationServerKey, deliver, online }: Adopting): Adopted {
    const token = endpointOf(id)
    const device = { token, key: applicationServerKey, screen: createScreen(), decrypt: undefined }
    const { done, setOnline } = add(id, device, deliver, online)
    return { endpoint: token, done, setOnline, forget: () => forget(token) }
  }

  function forget(token: string): void {
    const device = devices.get(idOf(token))
    if (device) device.forgotten = true
  }

  const autopush = serveAutopush(server, { adopt })
  return {
    url,
    autopush: `${url.replace('http', 'ws')}/`,
    arrivals: arrivals.list,
    subscribe,
    adopt,
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
      await shut(server)
    },
  }
}

/** The last part of an endpoint's path, from a subscription, an endpoint or a path. */
function idOf(token: string): string {
  const endpoint = attempt(() => (JSON.parse(token) as { endpoint: string }).endpoint) ?? token
  return endpoint.slice(endpoint.lastIndexOf('/') + 1)
}

function readable({ decrypt: read }: Device, body: Buffer): string {
  return (read && attempt(() => read(body))) ?? body.toString('base64url')
}

function attempt<T>(what: () => T): T | undefined {
  try {
    return what()
  } catch {
    return undefined
  }
}
