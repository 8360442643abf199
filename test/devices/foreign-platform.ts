import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'

export interface PlatformRequest {
  readonly what: 'link' | 'unlink'
  readonly key: string | undefined
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read any part of the body
  readonly body: any
}

/**
 * Starts a platform of another vendor that records all requests. `answer` chooses the status of each; `accepted()` returns the
 * requests that were answered 200.
 */
export async function foreignPlatform(
  t: TestContext,
  // biome-ignore lint/suspicious/noExplicitAny: as above
  answer: (body: any, what: PlatformRequest['what']) => number = () => 200,
  port = 0,
): Promise<{
  url: string
  port: number
  all: PlatformRequest[]
  accepted(): PlatformRequest[]
  close(): Promise<void>
}> {
  const all: PlatformRequest[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    const what = request.url?.endsWith('/v1/integration/user/device/link') ? 'link' : 'unlink'
    const status = request.url?.startsWith('/integration-api/api/v1/integration/user/device/')
      ? answer(body, what)
      : 404
    all.push({ what, key: request.headers['x-api-key'] as string | undefined, status, body })
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 200 ? '{}' : '{"error":"rejected by the test"}')
  })
  const { port: bound, close } = await listenLocally(t, server, port)
  return {
    url: `http://127.0.0.1:${bound}/integration-api/api`,
    port: bound,
    all,
    accepted: () => all.filter(({ status }) => status === 200),
    close,
  }
}
