// A service worker for Web Push: shows each message once, opens its address after a click, follows a browser that replaces its subscription,
// and reports displayed, clicked and dismissed with the receipt token of the message. No user token lives here.
//
// It is a whole service worker, or a part of the site's own one: importScripts('/bellwire-push-worker.js').

import { safeUrl } from './safe-url.ts'

interface Payload {
  readonly push_id?: string | undefined
  readonly title?: string | undefined
  readonly body?: string | undefined
  readonly image?: string | undefined
  readonly icon?: string | undefined
  readonly url?: string | undefined
  readonly receipt?: Receipt | undefined
  readonly data?: unknown
}

interface Receipt {
  readonly url: string
  readonly token: string
}

/** The members that a notification keeps for its click. */
type Kept = Pick<Payload, 'url' | 'receipt' | 'data'>

// TypeScript has no types for pages and service workers together.
interface WorkerEvent extends Event {
  readonly data?: { text(): string } | null
  readonly notification: Notification & { readonly data: Kept | null }
  readonly oldSubscription?: PushSubscription | null
  readonly newSubscription?: PushSubscription | null
  waitUntil(work: Promise<unknown>): void
}
interface Tab {
  readonly url: string
  focus(): Promise<unknown>
}
interface Worker {
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    matchAll(options: object): Promise<readonly Tab[]>
    openWindow(url: string): Promise<unknown>
  }
  readonly location: Location
  addEventListener(name: string, listener: (event: WorkerEvent) => void): void
}
const worker = self as unknown as Worker

worker.addEventListener('push', (event) => event.waitUntil(show(event.data?.text() ?? '')))
worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { url, receipt } = event.notification.data ?? {}
  event.waitUntil(Promise.all([report(receipt, 'clicked'), openTab(safeUrl(url, worker.location.href))]))
})
worker.addEventListener('notificationclose', (event) =>
  event.waitUntil(report(event.notification.data?.receipt, 'dismissed')),
)
worker.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(followSubscription(event)))

/** Shows something for each push: a browser may end the subscription of a site that shows nothing. */
async function show(text: string): Promise<void> {
  const { push_id: tag, title, body, image, icon, url, receipt, data } = readPayload(text)
  // With the tag, a message that arrives twice is shown once.
  const options = { body, image, icon, tag, data: { url, receipt, data } satisfies Kept } as NotificationOptions
  await worker.registration.showNotification(title || worker.location.hostname, options)
  await report(receipt, 'displayed')
}

/** A text that is not our JSON, such as a test message of the developer tools, is the body. */
function readPayload(text: string): Payload {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return { body: text }
  }
}

/** Focuses an open tab at the address, or any tab of the site if there is no address. Without such a tab, opens one. */
async function openTab(url: string | undefined): Promise<void> {
  const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const tab = tabs.find((each) => url === undefined || each.url === url)
  await (tab ? tab.focus() : worker.clients.openWindow(url ?? worker.registration.scope))
}

/**
 * The browser replaced the subscription, or ended it. The new one is linked for the signed-in user, if the address of the worker names the
 * operator and the route of the subscriber token: /push-worker.js?url=https://api.example.com&token-url=/bellwire-token&key=B….
 * `key` is the VAPID public key, for a browser that does not pass on the old subscription.
 */
async function followSubscription({ oldSubscription: old, newSubscription }: WorkerEvent): Promise<void> {
  const { pushManager } = worker.registration
  const named = new URL(worker.location.href).searchParams
  const key = old?.options.applicationServerKey ?? named.get('key')
  const current =
    newSubscription ??
    (await pushManager.getSubscription()) ??
    (key && (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })))
  const [operator, tokenUrl] = [named.get('url'), named.get('token-url')]
  if (!current || !operator || !tokenUrl) return
  const { token } = (await (await fetch(tokenUrl, { method: 'POST' })).json()) as { token?: string | null }
  if (!token) return
  const change = (what: 'link' | 'unlink', subscription: string) =>
    post(`${operator.replace(/\/+$/, '')}/app/devices/${what}`, token, {
      tokens: [{ token: subscription, provider: 'webpush', channel: 'web' }],
    })
  await change('link', JSON.stringify(current))
  if (old && old.endpoint !== current.endpoint) await change('unlink', old.endpoint)
}

async function report(receipt: Receipt | undefined, status: 'displayed' | 'clicked' | 'dismissed'): Promise<void> {
  if (receipt) await post(receipt.url, receipt.token, { status })
}

/** The waits before each attempt. After the last one the request is lost: a browser ends a worker that waits for long. */
const waitsMs = [0, 1_000, 5_000]

async function post(url: string, token: string, body: object): Promise<void> {
  for (const waitMs of waitsMs) {
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      keepalive: true,
    }).catch(() => undefined)
    // Only a fault of the server or the network is repeated.
    if (answer && answer.status < 500) return
  }
}
