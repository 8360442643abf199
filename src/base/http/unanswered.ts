// A limit on pipelining. Node parses all requests of a received chunk and calls the handler for each; the answers of a client that
// does not read them stay in memory, and may be a thousand times larger than the requests.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Browsers, HTTP clients and proxies have one unanswered request on a connection of HTTP/1.1. */
const mostUnanswered = 4

const unanswered = new WeakMap<Socket, Set<ServerResponse>>()

/**
 * Counts a request on its connection until its answer is sent, and closes the connection at the fifth unanswered request. A request
 * may be counted several times, by the server and by a mount.
 *
 * @returns false if the connection is closed: the request must not be handled
 */
export function admitRequest({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse): boolean {
  if (httpVersionMajor > 1) return true // HTTP/2 limits its streams itself
  if (socket.destroyed) return false
  const responses = unanswered.get(socket) ?? trackSocket(socket)
  if (responses.has(response)) return true
  if (responses.size >= mostUnanswered) {
    socket.destroy()
    return false
  }
  responses.add(response)
  response.once('close', () => responses.delete(response))
  return true
}

/** Whether the connection has a request that is not answered yet. */
export const hasUnanswered = (socket: Socket): boolean => (unanswered.get(socket)?.size ?? 0) > 0

function trackSocket(socket: Socket): Set<ServerResponse> {
  const responses = new Set<ServerResponse>()
  unanswered.set(socket, responses)
  // Before Node 26, a response that still waited for its turn on the connection had no `close`, and its reservations were kept.
  socket.once('close', () => {
    for (const response of responses) response.emit('close')
  })
  return responses
}

type Handle<More extends unknown[]> = (request: IncomingMessage, response: ServerResponse, ...more: More) => void

/** @example createServer(limitUnanswered((request, response) => response.end('hello'))) */
export function limitUnanswered<More extends unknown[]>(handle: Handle<More>): Handle<More> {
  return (request, response, ...more) => {
    if (admitRequest(request, response)) handle(request, response, ...more)
  }
}
