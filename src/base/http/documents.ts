// The API documents of a side: /openapi.json, /asyncapi.json, and /docs, a page that shows the OpenAPI document.

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { missingPackage } from '../runtime/optional-package.ts'
import type { AcceptedKeys } from './accepted-keys.ts'
import type { AccessKey } from './access.ts'
import type { Authentication } from './authentication.ts'
import { createHttp, HttpError, type Side } from './http.ts'
import { keyAuthentication } from './key-authentication.ts'
import { isLocalRequest } from './local-request.ts'

export interface Documents {
  /** Both documents are built at their first request. */
  readonly openApi: () => object
  readonly asyncApi: () => object
}

export const documentsDescribed = [
  { method: 'GET', url: '/openapi.json', says: 'This OpenAPI document. GET /docs shows it as a page.' },
  { method: 'GET', url: '/asyncapi.json', says: 'The AsyncAPI document of the device link messages.' },
] as const

/**
 * The documents contain no brands, no keys and no addresses. Programs on this machine read them without a key; others need a key for
 * /admin, so that strangers cannot make the server send large answers.
 *
 * @param keys the keys for /admin
 */
export function documentRoutes(
  app: FastifyInstance,
  side: Side,
  keys: AcceptedKeys<AccessKey>,
  { openApi, asyncApi }: Documents,
): void {
  const onRequest = demandKeyFromOutside(keys)
  // One buffer for all answers, however many are being sent.
  let rest: Buffer | undefined
  let channels: Buffer | undefined
  app.get('/openapi.json', { onRequest }, async (request, reply) => {
    rest ??= Buffer.from(JSON.stringify(openApi()).slice(1))
    const start = Buffer.from(`{"servers":${JSON.stringify([{ url: baseOf(request) }])},`)
    return reply.type(type).send(Readable.from([start, rest]))
  })
  app.get('/asyncapi.json', { onRequest }, async (_request, reply) => {
    channels ??= Buffer.from(JSON.stringify(asyncApi()))
    return reply.type(type).send(Readable.from([channels]))
  })
  pageRoutes(app, side, onRequest)
}

function demandKeyFromOutside(keys: AcceptedKeys<AccessKey>): Authentication<AccessKey>['onRequest'] {
  const missing = 'the API documents need a key for /admin in the header X-Api-Key, except for programs on this machine'
  const authentication = keyAuthentication({ keys, missing, unknown: missing })
  return async (request, reply) => {
    if (!isLocalRequest(request.raw)) await authentication.onRequest(request, reply)
  }
}

const type = 'application/json; charset=utf-8'

/** The base URL of the request, including the prefix under which we are mounted, so that examples can be pasted into a shell. */
function baseOf({ protocol, host, originalUrl, url }: FastifyRequest): string {
  const prefix = originalUrl.endsWith(url) ? originalUrl.slice(0, -url.length) : ''
  return /^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}${prefix}` : prefix || '/'
}

/** The page has its own Fastify instance, created at the first request: its package is large, and few processes need it. */
function pageRoutes(app: FastifyInstance, side: Side, onRequest: Authentication<AccessKey>['onRequest']): void {
  let page: Promise<FastifyInstance> | undefined
  for (const url of ['/docs', '/docs/*'])
    app.get(url, { onRequest }, async (request, reply) => {
      page ??= createPage(side).catch((error: unknown) => {
        page = undefined
        throw error
      })
      const { routing } = await page
      reply.hijack()
      routing(request.raw, reply.raw)
    })
  app.addHook('onClose', async () => (await page)?.close())
}

/** Whatever a later version of the page's package does: the page can load from and connect to this server only. */
const selfOnlyPolicy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

async function createPage(side: Side): Promise<FastifyInstance> {
  const missing = missingPackage('@scalar/fastify-api-reference')
  if (missing) throw new HttpError(501, `GET /docs ${missing.description}: ${missing.remedy}`)
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const page = createHttp(side, 1024)
  page.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', selfOnlyPolicy)
  })
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      // Relative to /docs/, so that it also works under a prefix.
      url: '../../openapi.json',
      pageTitle: `Bellwire: ${side} API`,
      withDefaultFonts: false,
      telemetry: false,
      // The agent would offer to send the document to another server.
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  })
  await page.ready()
  return page
}
