// A Web Push service (RFC 8030, 8291, 8292). It makes subscriptions with real keys, and decrypts and shows their messages. It
// also serves real browsers: Firefox connects to it as to Mozilla's push service (web-push/autopush.ts).

import { createECDH, randomBytes, randomUUID } from 'node:crypto'
import { createArrivals } from './arrivals.ts'
import type { Certificate } from './certificate.ts'
import { createFaults } from './faults.ts'
import { type Answer, openPushServer, type Request } from './push-server.ts'
import type { ShownNotification, StandIn } from './stand-in.ts'
import { serveAutopush } from './web-push/autopush.ts'
import type { BrowserOptions, BrowserSubscription } from './web-push/browser.ts'
import { decrypt } from './web-push/decrypt.ts'
import { createMailbox } from './web-push/mailbox.ts'
import { readRequest } from './web-push/read-request.ts'
import { createScreen, readContent, type Screen } from './web-push/screen.ts'
import type { Refusal } from './web-push/vapid.ts'

export interface WebPushStandInOptions {
  /** Default: 0, a free port. */
  readonly port?: number
  /** Absent: no TLS. With it, the server speaks HTTP/2 and HTTP/1.1, and real browsers cannot connect. */
  readonly certificate?: Certificate
  /** Default: true, with a certificate. */
  readonly http2?: boolean
  /** The origin of its endpoints, which the setting `origins` maps to this server. Default: its own URL. */
  readonly origin?: string
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
  const { port = 0, certificate, http2 = true, now = Date.now } = options
  const faults = createFaults()
  const devices = new Map<string, Device>()
  const arrivals = createArrivals()
  const listeners = new Set<(token: string, shown: ShownNotification) => void>()

  const pushServer = await openPushServer({
    port,
    certificate,
    versions: certificate && http2 ? 'both' : 'http1',
    faults,
    tokenOf: ({ path }) => devices.get(idOf(path))?.token ?? endpointOf(idOf(path)),
    textOf({ path, body }) {
      const device = devices.get(idOf(path))
      return device ? readable(device, body) : body.toString('base64url')
    },
    serve,
    onArrival: arrivals.add,
  })
  const { url, server } = pushServer
  const origin = options.origin ?? url
  const endpointOf = (id: string): string => `${origin}/wpush/v2/${id}`
  const newId = (): string => randomBytes(24).toString('base64url')

  function serve({ method, path, headers, body }: Request): Answer {
    const refuse = ({ status, errno, message }: Refusal): Answer => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: status, errno, message }),
      accepted: false,
    })
    if (method !== 'POST') return refuse({ status: 405, errno: 999, message: 'use POST' })
    const device = devices.get(idOf(path))
    if (!device) return refuse({ status: 404, errno: 102, message: 'there is no such endpoint' })
    if (device.forgotten) return refuse({ status: 410, errno: 106, message: 'the subscription no longer exists' })
    const read = readRequest(headers, body.length, { audience: origin, key: device.key, now: now() })
    if ('status' in read) return refuse(read)
    const id = randomUUID()
    const at = now()
    device.mailbox.put({ ...read, id, at, expiresAt: at + read.ttl * 1_000, body, replaced: 0 })
    return { status: 201, headers: { location: `${origin}/m/${id}`, ttl: String(read.ttl) }, accepted: true }
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
      autopush.close()
      await pushServer.close()
    },
  }
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
