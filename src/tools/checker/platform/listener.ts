// The HTTP server that plays an operator: it reads each request completely, and replies as it is told.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer, listenAt } from '../../../base/runtime/local-server.ts'
import { readBody } from '../../../base/runtime/read-body.ts'
import { resetSocket } from '../../../base/runtime/reset-socket.ts'
import { sleep } from '../../../base/runtime/sleep.ts'
import type { SentRequest } from '../exchange.ts'
import { type Feature, features, pathOf } from '../target.ts'
import type { Reply } from './request.ts'

/** A request that has arrived completely. */
export interface Arrived extends Omit<SentRequest, 'url' | 'note'> {
  readonly feature: Feature | undefined
  readonly path: string
  /** The path with its query. */
  readonly target: string
}

/** @returns the reply; `ended` is called when it is written, or the platform has closed the connection */
export type OnArrival = (arrived: Arrived) => { readonly reply: Reply; readonly ended: (closed: boolean) => void }

export interface Listener {
  readonly url: string
  close(): Promise<void>
}

export interface ListenerOptions {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  /** The API key that the platform must send. */
  readonly key: string
  readonly onArrival: OnArrival
}

export async function openListener({ host, port, key, onArrival }: ListenerOptions): Promise<Listener> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request)
    const path = (request.url ?? '/').replace(/\?.*$/, '')
    const { 'x-api-key': given, ...headers } = request.headers
    const { reply, ended } = onArrival({
      feature: features.find((feature) => pathOf(feature) === path),
      method: request.method ?? '',
      path,
      target: request.url ?? '/',
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      key: given === undefined ? 'none' : given === key ? 'right' : 'other',
      keyHeader: request.rawHeaders.find((name) => name.toLowerCase() === 'x-api-key') ?? 'X-Api-Key',
      body,
    })
    // A reply that breaks the connection on purpose is written at once.
    const onPurpose = reply.cut === 'reset' || reply.cut === 'body'
    response.on('close', () => ended(!onPurpose && !response.writableFinished))
    if (reply.delayMs !== undefined) await sleep(reply.delayMs)
    if (!response.destroyed) await write(response, reply)
  }

  return { url: await listenAt(server, { host, port }), close: () => closeServer(server) }
}

async function write(response: ServerResponse, reply: Reply): Promise<void> {
  const { status = 200, headers = {}, body = '', cut, streamMs } = reply
  if (streamMs !== undefined) {
    response.writeHead(status, headers).write(body.slice(0, body.length >> 1))
    await sleep(streamMs)
    return void response.end(body.slice(body.length >> 1))
  }
  if (cut === 'hang') return
  if (cut === 'reset') return void resetSocket(response.socket)
  if (cut === undefined) return void response.writeHead(status, headers).end(body)
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  // The first half arrives before the connection is closed.
  response.write(body.slice(0, body.length >> 1), () => response.socket?.end(() => response.destroy()))
}

async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request)
  if (body === undefined) throw new Error('the body is too large')
  return body.toString('utf8')
}
