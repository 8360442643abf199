// A site with push: its page subscribes, and its service worker shows each message and reports it to the test.

import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'

/** A message at the service worker: the text as the browser decrypted it, and the notifications that are shown after it. */
export interface Received {
  readonly text: string
  readonly shown: readonly { readonly title: string; readonly body: string; readonly tag: string }[]
}

export interface PushSite {
  readonly url: string
  /** The next message that no call of next() has returned yet. */
  next(): Promise<Received>
  /** The number of messages that no call of next() has returned yet. */
  readonly waiting: number
}

// As the payload is documented (src/subjects/providers/web-push/payload.ts): JSON, shown under push_id as its tag.
const reportingWorker = `
  self.addEventListener('install', () => self.skipWaiting())
  self.addEventListener('activate', (event) => event.waitUntil(clients.claim()))
  self.addEventListener('push', (event) => event.waitUntil(receive(event.data.text())))
  async function receive(text) {
    const shown = await show(JSON.parse(text)).catch((error) => [{ title: 'not shown: ' + error }])
    await fetch('/received', { method: 'POST', body: JSON.stringify({ text, shown }) })
  }
  async function show({ push_id: tag, title, body, image, data }) {
    await registration.showNotification(title, { body, image, data, tag })
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }))
  }
`

/**
 * @param worker the text of the service worker; default: one that reports to next()
 * @param files further files of the site, by path
 */
export async function startPushSite(
  t: TestContext,
  worker: string = reportingWorker,
  files: Readonly<Record<string, { readonly type: string; readonly body: string | Uint8Array }>> = {},
): Promise<PushSite> {
  const received: Received[] = []
  const waiting: ((one: Received) => void)[] = []
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/worker.js'))
      return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(worker)
    const file = files[request.url ?? '']
    if (file) return void response.writeHead(200, { 'content-type': file.type }).end(file.body)
    if (request.url !== '/received')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Shop</title>')
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      response.end()
      const one = JSON.parse(body) as Received
      const next = waiting.shift()
      if (next) next(one)
      else received.push(one)
    })
  })
  const { url } = await listenLocally(t, server)
  return {
    url,
    next: () => within(new Promise((resolve) => takeNext(resolve)), 'the service worker received nothing'),
    get waiting() {
      return received.length
    },
  }

  function takeNext(resolve: (one: Received) => void): void {
    const one = received.shift()
    if (one) resolve(one)
    else waiting.push(resolve)
  }
}

/** A timeout for steps of a browser, which may hang. */
export function within<T>(promise: Promise<T>, what: string, ms = 30_000): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`Not within ${ms} ms: ${what}`)), ms)
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

/**
 * Runs in the page.
 *
 * @param publicKey or, for the query of the worker's address, the whole query with `key`
 * @returns the subscription as JSON text, as a site would link it
 */
export async function subscribeInPage(publicKey: string): Promise<string> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
  const { navigator, URLSearchParams } = globalThis as any
  const key = new URLSearchParams(publicKey).get('key')
  await navigator.serviceWorker.register(key === null ? '/worker.js' : `/worker.js?${publicKey}`)
  const registration = await navigator.serviceWorker.ready
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: key ?? publicKey,
  })
  return JSON.stringify(subscription)
}

/** Runs in the page. */
export async function unsubscribeInPage(): Promise<boolean> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
  const registration = await (globalThis as any).navigator.serviceWorker.ready
  return (await registration.pushManager.getSubscription()).unsubscribe()
}

/** Runs in the page: shows the widget, which reads the inbox at this address, and clicks the first notification. */
export async function clickInWidget(address: string): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
  const { document } = globalThis as any
  await import('/widget.js' as string)
  const widget = document.createElement('bellwire-inbox')
  widget.setAttribute('url', address)
  widget.setAttribute('token-url', '/token')
  document.body.append(widget)
  const appears = (selector: string): Promise<{ click(): void }> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = widget.shadowRoot?.querySelector(selector)
        if (found) resolve(found)
        else setTimeout(look, 20)
      }
      look()
    })
  await appears('.badge')
  const bell = await appears('.bell')
  bell.click()
  const link = await appears('.link')
  link.click()
}

/** Runs in the page: the worker replaces its subscription. */
export async function replaceInPage(): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
  const registration = await (globalThis as any).navigator.serviceWorker.ready
  registration.active.postMessage('replace')
}

/** Runs in the page: the worker clicks the notification that is shown. @returns the address of this tab, when it is focused */
export async function clickInPage(): Promise<string> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
  const { serviceWorker } = (globalThis as any).navigator
  const registration = await serviceWorker.ready
  const focused = new Promise<string>((resolve) =>
    serviceWorker.addEventListener('message', ({ data }: { data: string }) => resolve(data)),
  )
  registration.active.postMessage('click')
  return focused
}
