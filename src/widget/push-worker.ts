// A service worker for Web Push: shows each message once, opens its address after a click, and reports displayed, clicked and dismissed
// with the receipt token of the message. No user token lives here.
//
// It is a whole service worker, or a part of the site's own one: importScripts('/bellwire-push-worker.js').

interface Payload {
  readonly push_id: string
  readonly title?: string | undefined
  readonly body?: string | undefined
  readonly image?: string | undefined
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
  readonly data?: { text(): string }
  readonly notification: Notification & { readonly data: Kept | null }
  waitUntil(work: Promise<unknown>): void
}
interface Worker {
  readonly registration: ServiceWorkerRegistration
  readonly clients: { openWindow(url: string): Promise<unknown> }
  readonly location: Location
  addEventListener(name: string, listener: (event: WorkerEvent) => void): void
}
const worker = self as unknown as Worker

worker.addEventListener('push', (event) => event.waitUntil(show(event.data?.text() ?? '')))
worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { url, receipt } = event.notification.data ?? {}
  const target = safeUrl(url)
  event.waitUntil(Promise.all([report(receipt, 'clicked'), target && worker.clients.openWindow(target)]))
})
worker.addEventListener('notificationclose', (event) =>
  event.waitUntil(report(event.notification.data?.receipt, 'dismissed')),
)

async function show(text: string): Promise<void> {
  const { push_id: tag, title = '', body, image, url, receipt, data } = JSON.parse(text) as Payload
  // With the tag, a message that arrives twice is shown once.
  const options = { body, image, tag, data: { url, receipt, data } satisfies Kept } as NotificationOptions
  await worker.registration.showNotification(title, options)
  await report(receipt, 'displayed')
}

/** The waits before each attempt. After the last one the report is lost: a browser ends a worker that waits for long. */
const waitsMs = [0, 1_000, 5_000]

async function report(receipt: Receipt | undefined, status: 'displayed' | 'clicked' | 'dismissed'): Promise<void> {
  if (!receipt) return
  for (const waitMs of waitsMs) {
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const answer = await fetch(receipt.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${receipt.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ status }),
      keepalive: true,
    }).catch(() => undefined)
    // Only a fault of the server or the network is repeated.
    if (answer && answer.status < 500) return
  }
}

/** The absolute form of an address, or undefined if it is not http or https, such as `javascript:`. */
function safeUrl(url: string | undefined): string | undefined {
  if (!url) return undefined
  try {
    const { protocol, href } = new URL(url, worker.location.href)
    return protocol === 'https:' || protocol === 'http:' ? href : undefined
  } catch {
    return undefined
  }
}
