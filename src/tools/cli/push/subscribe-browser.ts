// Serves a page at which a browser subscribes to Web Push for one user, and links the subscription as the site of the operator would.
// Only programs of this machine reach the page. Its address has a random part, so that no other user of the machine can subscribe.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { judgeHost, judgeLocalRequest } from '../../../base/http/local-request.ts'
import { createSubscriberToken } from '../../../base/http/subscriber-token.ts'
import { limitUnanswered } from '../../../base/http/unanswered.ts'
import { listenAt } from '../../../base/runtime/local-server.ts'
import { messageOf } from '../../../base/runtime/message-of.ts'
import { readBody } from '../../../base/runtime/read-body.ts'
import type { OperatorConfig } from '../../../sides/config/table.ts'
import { readWidget } from '../../demo/read-widget.ts'
import { CliError, exit } from '../exit.ts'
import { callOperator } from './call-operator.ts'
import { brandAt, type OneMessage } from './one-message.ts'
import { pageOf } from './subscription-page.ts'

type Subscribing = Pick<OneMessage, 'brand' | 'user'> & { readonly port: number; readonly signal: AbortSignal }

/** Prints the address of the page. Resolves when a browser is linked to the user. */
export async function subscribeBrowser(operator: OperatorConfig, options: Subscribing): Promise<void> {
  const { user, port, signal } = options
  const brand = brandAt(operator, options)
  const [secret] = operator.app?.secrets ?? []
  if (secret === undefined)
    throw new CliError(exit.usage, '--subscribe needs operator.app.secrets: make one with `openssl rand -hex 32`')
  const page = pageOf({ user, brand, publicKey: publicKeyOf(operator, brand) })
  // A mistake shows here, and not after the person has subscribed.
  await callOperator(operator, { method: 'GET', path: '/healthz', signal })
  const worker = await readWidget('push-worker')
  const path = `/${randomBytes(16).toString('hex')}`
  const { promise: linked, resolve } = Promise.withResolvers<void>()
  const server = createServer(
    limitUnanswered((request, response) => {
      response.setHeader('connection', 'close')
      answer(request, response).catch((error: unknown) => reply(response, 502, messageOf(error)))
    }),
  )
  const origin = await listenAt(server, { port }).catch((error: Error) => {
    throw new CliError(exit.usage, `--subscribe: ${error.message}: name another port`)
  })
  console.error(`Open this page in a browser of this machine: ${origin}${path}`)
  try {
    await Promise.race([linked, rejectedBy(signal)])
    console.error(`The browser is linked to user ${user} of brand ${brand}.`)
  } finally {
    server.close()
    server.closeAllConnections()
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal =
      request.method === 'POST'
        ? judgeLocalRequest(request)
        : judgeHost(request.headers.host, Number(new URL(origin).port))
    if (refusal) return reply(response, refusal.status, refusal.error)
    switch (`${request.method} ${request.url}`) {
      case `GET ${path}`:
        response.writeHead(200, page.headers).end(page.html)
        return
      case 'GET /push-worker.js':
        response.writeHead(200, { 'content-type': 'text/javascript' }).end(worker)
        return
      case `POST ${path}`:
        await link(await readSubscription(request))
        response.once('close', resolve)
        return reply(response, 200, 'linked')
      default:
        return reply(response, 404, 'there is nothing at this address')
    }
  }

  /** @param subscription the PushSubscription of the browser, as JSON text */
  async function link(subscription: string): Promise<void> {
    const token = await createSubscriberToken({ secret: secret as string, brand, userId: user })
    const { status, text } = await callOperator(operator, {
      path: '/app/devices/link',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ tokens: [{ token: subscription, provider: 'webpush', channel: 'web' }] }),
    })
    if (status !== 200) throw new Error(`the operator refused the subscription with ${status}: ${text}`)
  }
}

function publicKeyOf({ push }: OperatorConfig, brand: string): string {
  const services = push?.is === 'devices' ? push.devices.services : []
  for (const service of services)
    if (service.is === 'web-push' && (service.brands?.includes(brand) ?? true)) return service.publicKey
  throw new CliError(exit.usage, `--subscribe needs a service web-push in operator.push.devices for brand ${brand}`)
}

const mostSubscriptionBytes = 10_000

async function readSubscription(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, mostSubscriptionBytes)
  if (!body) throw new Error('the subscription is too long')
  return body.toString()
}

function reply(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
    .end(text)
}

const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
