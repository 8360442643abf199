import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopbackAddress } from './address.ts'

/** The refusal of a request to a server that only this machine may use. */
export interface LocalRefusal {
  readonly status: 403 | 415
  readonly error: string
}

/**
 * Refuses requests from other machines, which may send any Host, if the server listens on an address that they reach. Also refuses
 * requests that a web page of another site makes a browser on this machine send. The page can reach every loopback port:
 * under its own host name, resolved to 127.0.0.1 (DNS rebinding), or by a form or script (CSRF). DNS rebinding shows in Host;
 * CSRF shows in Origin or Sec-Fetch-Site, or in a content type that browsers send to other sites without a preflight request.
 *
 * @example judgeLocalRequest(request)?.error // 'Host evil.example is not this server: …'
 */
export function judgeLocalRequest({
  method,
  headers,
  socket,
}: Pick<IncomingMessage, 'method' | 'headers'> & {
  readonly socket: Pick<Socket, 'remoteAddress' | 'localPort'>
}): LocalRefusal | undefined {
  if (!isLoopbackAddress(socket.remoteAddress))
    return { status: 403, error: `only programs on this machine may use this: not ${socket.remoteAddress}` }
  const refused = judgeHost(headers.host, socket.localPort ?? 0)
  if (refused) return refused
  const { origin, 'sec-fetch-site': site = 'none', 'content-type': type = '' } = headers
  if (origin !== undefined && origin !== `http://${headers.host}`)
    return { status: 403, error: `pages of ${origin} must not send requests to this server` }
  if (site !== 'none' && site !== 'same-origin')
    return { status: 403, error: 'pages of other sites must not send requests to this server' }
  if (method === 'POST' && !/^application\/json *(;|$)/i.test(type))
    return { status: 415, error: 'send JSON, and the header content-type: application/json' }
  return undefined
}

/** Checks only Host: for resources that every user of this machine may read, such as the files of a page. */
export function judgeHost(host = '', port: number): LocalRefusal | undefined {
  const [, name = '', ofPort = '80'] = /^([^:]+|\[[^\]]*\])(?::(\d+))?$/.exec(host) ?? []
  if (isLoopback(name.toLowerCase()) && Number(ofPort) === port) return undefined
  return { status: 403, error: `Host ${host} is not this server: use 127.0.0.1:${port} or localhost:${port}` }
}

/**
 * Whether a program on this machine sends the request, under the machine's own name: no other machine and no web page can. A proxy on
 * this machine is told by Host, if it keeps the name that its client used.
 */
export function isLocalRequest({ socket, headers }: IncomingMessage): boolean {
  return isLoopbackAddress(socket.localAddress) && judgeHost(headers.host, socket.localPort ?? 0) === undefined
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}
