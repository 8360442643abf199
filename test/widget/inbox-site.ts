// Test helpers: an operator with an inbox, and a site that shows the widget. The site's backend makes the tokens.

import { createServer, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { bundleWidget } from '../../release/bundle-widget.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { type EventName, on } from '../../src/base/runtime/events.ts'
import type { AttributeSource } from '../../src/subjects/attributes/attribute-source.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { element, keys, post, startOperator } from '../support/sides.ts'
import { type TcpProxy, tcpProxy } from '../support/tcp-proxy.ts'

const secret = 'the-secret-of-the-widget-tests-long-enough'
const widget = Buffer.from(await bundleWidget('inbox-element'))

export interface InboxSite {
  /** The address of the page: `?user=1001&brand=1`. */
  readonly url: string
  /** Between the browser and the operator. */
  readonly proxy: TcpProxy
  /** The lifetime of the tokens that the backend makes from now on; 0: no user is signed in. */
  tokenSeconds: number
  /** The user who is signed in, instead of the user in the address of the page. */
  signedIn: string | undefined
  /** Tokens that the backend has made. */
  readonly tokens: number
  /** The open streams at the operator, and the most that were open at the same time. */
  readonly streams: { open: number; most: number; opened: number }
  /** Sends a notification as the platform does. @returns its site_notification_id */
  send(content: object, user?: string): Promise<string>
  /** Sends many notifications to user 1001. */
  sendMany(count: number): Promise<void>
  /** The user's inbox, read without the widget. */
  stored(user?: string): Promise<readonly Record<string, unknown>[]>
}

/** A user who has excluded herself: the operator keeps her inbox closed. */
export const excludedUser = '1003'
const exclusions: AttributeSource = {
  name: 'exclusions',
  fields: ['excluded'],
  among: async (_, users) => new Map([['excluded', new Set(users.filter((user) => user === excludedUser))]]),
}

/** @param options further options of the operator */
export async function startInboxSite(
  t: TestContext,
  options: Parameters<typeof startOperator>[1] = {},
): Promise<InboxSite> {
  const origins: string[] = []
  const server = createServer((request, response) => {
    answer(new URL(request.url ?? '/', 'http://site'), response).catch((error) =>
      response.writeHead(500).end(`${error}`),
    )
  })
  const { url } = await listenLocally(t, server)
  origins.push(url)
  const operator = await startOperator(t, { app: { secrets: [secret], origins }, attributes: exclusions, ...options })
  const proxy = await tcpProxy(t, operator.url)
  const streams = { open: 0, most: 0, opened: 0 }
  const count = (name: EventName, by: number): void => {
    t.after(
      on(name, () => {
        streams.open += by
        streams.opened += Math.max(by, 0)
        streams.most = Math.max(streams.most, streams.open)
      }),
    )
  }
  count('inbox.opened', 1)
  count('inbox.closed', -1)

  const site: InboxSite & { tokens: number } = {
    url,
    proxy,
    tokenSeconds: 600,
    signedIn: undefined,
    tokens: 0,
    streams,
    async send(content, user = '1001') {
      const { activity } = element({ user_id: user })
      const { status, body } = await post(
        `${operator.url}/channels/site/single`,
        { activity, ...content },
        keys.one.key,
      )
      if (status !== 200) throw new Error(`the operator answered ${status}: ${JSON.stringify(body)}`)
      return body.site_notification_id
    },
    async sendMany(count) {
      const all = Array.from({ length: count }, (_, i) => ({ ...element(), title: `One of many ${i}` }))
      const { status, body } = await post(`${operator.url}/channels/site/batch`, all, keys.one.key)
      if (status !== 200 || body.successful.length !== count) throw new Error(JSON.stringify(body).slice(0, 500))
    },
    async stored(user = '1001') {
      const token = await createSubscriberToken({ secret, brand: '1', userId: user })
      const response = await fetch(`${operator.url}/app/inbox?limit=100`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return ((await response.json()) as { items: Record<string, unknown>[] }).items
    },
  }
  return site

  async function answer({ pathname, searchParams }: URL, response: ServerResponse): Promise<void> {
    if (pathname === '/widget.js')
      return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(widget)
    if (pathname === '/token') {
      if (site.tokenSeconds === 0) return void response.writeHead(401).end()
      site.tokens++
      const userId = site.signedIn ?? searchParams.get('user') ?? '1001'
      const token = await createSubscriberToken({ secret, brand: '1', userId, ttlSeconds: site.tokenSeconds })
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token }))
    }
    if (pathname === '/picture.svg')
      return void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture)
    if (pathname === '/favicon.ico') return void response.writeHead(204).end()
    // As docs/inbox.md says.
    const policy = `default-src 'none'; script-src 'self'; connect-src 'self' ${proxy.url}; img-src 'self' data:; require-trusted-types-for 'script'; trusted-types lit-html`
    if (searchParams.has('policy')) response.setHeader('content-security-policy', policy)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(proxy.url, searchParams))
  }
}

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#7aa"/></svg>'

function page(operator: string, query: URLSearchParams): string {
  const user = query.get('user') ?? '1001'
  const view = query.get('view') ?? 'bell'
  return `<!doctype html>
<html lang="${query.get('lang') ?? 'en'}" dir="${query.get('dir') ?? 'ltr'}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A shop</title>
<style>body { font-family: sans-serif; background: Canvas; color: CanvasText } header { display: flex; justify-content: end }</style>
${query.has('clock') ? `<script>{ const now = Date.now; Date.now = () => now() + ${query.get('clock')} }</script>` : ''}
${query.has('attack') ? `<script>${replaceLinks(query.get('attack') ?? '')}</script>` : ''}
<script type="module" src="/widget.js"></script>
<header><bellwire-inbox id="widget" view="${view}" url="${operator}" token-url="/token?user=${user}"></bellwire-inbox></header>
<main><h1>A shop</h1><p><a href="#top">A link</a></p></main>`
}

/** Replaces the links and images that the operator sends. */
function replaceLinks(url: string): string {
  return `
    const real = fetch
    window.fetch = async (input, init) => {
      const response = await real(input, init)
      if (!String(input).includes('/app/inbox?')) return response
      const page = await response.json()
      return Response.json({ ...page, items: page.items.map((item) => ({ ...item, url: '${url}', image_url: '${url}' })) })
    }`
}
