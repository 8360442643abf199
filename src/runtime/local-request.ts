import type { IncomingMessage } from 'node:http'

/** Why a request to a server that is only for this machine is refused. */
export interface LocalRefusal {
  readonly status: 403 | 415
  readonly error: string
}

/**
 * Judges whether a request was made on this machine on purpose. A web page that is open in a browser here can reach every
 * port of loopback: under a host name of its own that it points to 127.0.0.1 (DNS rebinding), or with a form or a script on
 * another site (CSRF). The first gives itself away by Host; the second by Origin or Sec-Fetch-Site, or by a content type
 * that a browser sends to others without asking first.
 *
 * @param port  where the server listens
 * @example judgeLocalRequest(request, 4700)?.error // 'Host evil.example is not this machine: …'
 */
export function judgeLocalRequest(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  port: number,
): LocalRefusal | undefined {
  const refused = judgeHost(headers.host, port)
  if (refused) return refused
  const { origin, 'sec-fetch-site': site = 'none', 'content-type': type = '' } = headers
  if (origin !== undefined && origin !== `http://${headers.host}`)
    return { status: 403, error: `a page of ${origin} may not ask here` }
  if (site !== 'none' && site !== 'same-origin')
    return { status: 403, error: 'a page of another site may not ask here' }
  if (method === 'POST' && !/^application\/json *(;|$)/i.test(type))
    return { status: 415, error: 'send JSON, and the header content-type: application/json' }
  return undefined
}

/** For what anybody may read who is on this machine, as the files of a page. */
export function judgeHost(host = '', port: number): LocalRefusal | undefined {
  const [, name = '', ofPort = '80'] = /^([^:]+|\[[^\]]*\])(?::(\d+))?$/.exec(host) ?? []
  if (isLoopback(name.toLowerCase()) && Number(ofPort) === port) return undefined
  return { status: 403, error: `Host ${host} is not this server: use 127.0.0.1:${port} or localhost:${port}` }
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}
