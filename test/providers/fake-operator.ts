import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Starts an HTTP server in place of an operator. It records requests and answers with the given function. */
export async function startFakeOperator(
  t: TestContext,
  answer: (received: Received, response: ServerResponse) => void,
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const listener: RequestListener = async (request, response) => {
    const { method = '', url = '', headers } = request
    const got = { method, path: url, headers, body: await text(request) }
    received.push(got)
    answer(got, response)
  }
  const server = createServer(listener)
  const { url } = await listenLocally(t, server)
  return { url, received }
}
