// What a side says of itself: /openapi.json and /asyncapi.json, and /docs, a page to read the first one on.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createHttp, HttpError, type Side } from './http.ts'
import { missingPackage } from './optional-package.ts'

export interface Documents {
  /** Built when they are first asked for. */
  readonly openApi: () => object
  readonly asyncApi: () => object
}

export const documentsDescribed = [
  { method: 'GET', url: '/openapi.json', says: 'This document. GET /docs shows it as a page.' },
  { method: 'GET', url: '/asyncapi.json', says: 'Device links as messages, as an AsyncAPI document (§4.3).' },
] as const

/** Open to anybody, as the interface itself is: they name no brands, no keys and no addresses. */
export function documentRoutes(app: FastifyInstance, side: Side, { openApi, asyncApi }: Documents): void {
  let interfaceText: string | undefined
  let channelText: string | undefined
  app.get('/openapi.json', async (request, reply) => {
    interfaceText ??= JSON.stringify(openApi()).slice(1)
    return reply.type(type).send(`{"servers":${JSON.stringify([{ url: baseOf(request) }])},${interfaceText}`)
  })
  app.get('/asyncapi.json', async (_request, reply) => {
    channelText ??= JSON.stringify(asyncApi())
    return reply.type(type).send(channelText)
  })
  pageRoutes(app, side)
}

const type = 'application/json; charset=utf-8'

/** Where the caller found us, with the prefix of whatever we are mounted in: what is shown there can be pasted into a shell. */
function baseOf({ protocol, host, originalUrl, url }: FastifyRequest): string {
  const prefix = originalUrl.endsWith(url) ? originalUrl.slice(0, -url.length) : ''
  return /^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}${prefix}` : prefix || '/'
}

/** The page is an instance of its own, made when it is first asked for: its package is large, and most processes never need it. */
function pageRoutes(app: FastifyInstance, side: Side): void {
  let page: Promise<FastifyInstance> | undefined
  for (const url of ['/docs', '/docs/*'])
    app.get(url, async (request, reply) => {
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

/** Whatever the page's package may learn to do: it loads nothing from elsewhere and calls nobody but us. */
const onlyUs =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

async function createPage(side: Side): Promise<FastifyInstance> {
  const missing = missingPackage('@scalar/fastify-api-reference')
  if (missing) throw new HttpError(501, `GET /docs ${missing.what}: ${missing.remedy}`)
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const page = createHttp(side, 1024)
  page.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', onlyUs)
  })
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      // Seen from /docs/, also where all of it is mounted under a path.
      url: '../openapi.json',
      pageTitle: `Bellwire: the ${side}'s API`,
      withDefaultFonts: false,
      telemetry: false,
      // Offers to send the document elsewhere.
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  })
  await page.ready()
  return page
}
