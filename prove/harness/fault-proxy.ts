// An HTTP proxy between one lane and its operator that plays a sick operator.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeServer, listenAt } from '../../src/base/runtime/local-server.ts'
import { resetSocket } from '../../src/base/runtime/reset-socket.ts'
import { apiKeyHeader, sendPaths } from '../../src/contract/endpoints.ts'

/** @returns true if it has answered the request, and the operator must not get it */
export type Fault = (body: string, response: ServerResponse, request: IncomingMessage) => boolean | Promise<boolean>

export interface FaultProxy {
  readonly url: string
  /** Undefined: the operator is healthy. */
  fault: Fault | undefined
  readonly requests: number
  /** The answers with delivered messages, in order of time: epoch milliseconds, and the number of successful messages. */
  readonly deliveries: readonly { readonly at: number; readonly messages: number }[]
  close(): Promise<void>
}

export async function startFaultProxy(operator: string): Promise<FaultProxy> {
  const deliveries: { at: number; messages: number }[] = []
  let requests = 0
  const server = createServer(async (request, response) => {
    requests++
    try {
      const body = await readBody(request)
      if (await proxy.fault?.(body, response, request)) return
      const answer = await fetch(operator + request.url, {
        method: 'POST',
        headers: {
          'content-type': String(request.headers['content-type']),
          [apiKeyHeader]: String(request.headers[apiKeyHeader]),
        },
        body,
      })
      const text = await answer.text()
      if (answer.status === 200) {
        const { successful } = JSON.parse(text) as { successful?: readonly object[] }
        const messages = request.url === sendPaths.push.single ? 1 : (successful?.length ?? 0)
        if (messages > 0) deliveries.push({ at: Date.now(), messages })
      }
      reply(response, answer.status, text)
    } catch {
      // The platform was killed during its request.
      response.destroy()
    }
  })
  const url = await listenAt(server)
  const proxy: FaultProxy & { fault: Fault | undefined } = {
    url,
    fault: undefined,
    deliveries,
    get requests() {
      return requests
    },
    close: () => closeServer(server),
  }
  return proxy
}

/** The operator's host is away: each connection is reset. */
export const dead: Fault = (_, response) => {
  resetSocket(response.socket)
  return true
}

/** The operator gets each request later. */
export const slow =
  (ms: number): Fault =>
  async () => {
    await sleep(ms)
    return false
  }

/** 500 without a delivered message. */
export const failing =
  (share: number): Fault =>
  (_, response) =>
    Math.random() < share && reply(response, 500, '{"error":"the database is busy"}')

/** 500 to each request with a message that contains the mark. */
export const poisonedBy =
  (mark: string): Fault =>
  (body, response) =>
    body.includes(mark) && reply(response, 500, '{"error":"an unexpected error"}')

/** The platform has a key that the operator revoked. */
export const wrongKey: Fault = (_, response) => reply(response, 401, '{"error":"the API key is unknown"}')

/** 200, and all messages are fatal. */
export const allFatal: Fault = (body, response) => {
  const ids = [...body.matchAll(/"activity":\{"id":(\d+)/g)].map(([, id]) => `{"id":${id},"error":"not now"}`)
  return reply(response, 200, `{"successful":[],"failed":[],"fatal":[${ids}]}`)
}

function reply(response: ServerResponse, status: number, body: string): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  return true
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
