// Opens the socket of a connection: TCP or TLS, directly or through an HTTP proxy.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { clock } from '../runtime/clock.ts'
import { type ConnectionOptions, noHttp2 } from './connection.ts'

/** @param onOpen called when the socket can be written. An error comes as the event of the socket. */
export function openSocket(
  { origin, ca, lookup, tunnel }: Omit<ConnectionOptions, 'limits'>,
  onOpen: () => void,
): Socket {
  const { isTls, host, port } = readOrigin(origin)
  if (!isTls) {
    if (tunnel) queueMicrotask(onOpen)
    return tunnel ?? connectTcp({ host, port, noDelay: true, ...(lookup && { lookup }) }, onOpen)
  }
  const socket = connectTls(
    {
      host,
      port,
      ALPNProtocols: ['h2'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== undefined && { ca }),
      ...(tunnel ? { socket: tunnel } : lookup && { lookup }),
    },
    () => {
      if (socket.alpnProtocol === 'h2') onOpen()
      else socket.destroy(notHttp2(origin))
    },
  )
  socket.setNoDelay(true)
  return socket
}

const notHttp2 = (origin: string): Error =>
  Object.assign(new Error(`${origin} does not speak HTTP/2`), { code: noHttp2 })

/** The most bytes of a proxy's answer. */
const mostAnswerBytes = 16 * 1024

/** Opens a tunnel to an origin through an HTTP proxy (RFC 9110 §9.3.6). Rejects within `timeoutMs`. */
export async function openTunnel(proxy: string, origin: string, timeoutMs: number): Promise<Socket> {
  const { username, password, ...parts } = readOrigin(proxy)
  const target = readOrigin(origin)
  const authority = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  const authorization = username === '' ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`
  const socket = connectTcp({ host: parts.host, port: parts.port, noDelay: true })
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const fail = (error: Error): void => {
    socket.destroy()
    reject(Object.assign(new Error(`proxy ${parts.host}:${parts.port}: ${error.message}`), error))
  }
  let answer = Buffer.alloc(0)
  // Bytes after the answer stay in the buffer of the socket.
  const read = (): void => {
    answer = Buffer.concat([answer, (socket.read() as Buffer | null) ?? Buffer.alloc(0)])
    const end = answer.indexOf('\r\n\r\n')
    if (end < 0 && answer.length < mostAnswerBytes) return
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1', 0, 12))?.[1]
    if (end < 0 || status === undefined) return void fail(new Error('the answer to CONNECT is not HTTP/1.1'))
    if (!status.startsWith('2')) return void fail(new Error(`CONNECT ${authority} was answered ${status}`))
    // The connection that uses the tunnel reports its errors.
    socket
      .off('readable', read)
      .off('error', fail)
      .off('close', closed)
      .on('error', () => {})
    if (answer.length > end + 4) socket.unshift(answer.subarray(end + 4))
    resolve(socket)
  }
  const closed = (): void => fail(new Error('the proxy closed the connection'))
  const timer = clock.setTimeout(() => fail(new Error(`no tunnel within ${timeoutMs} ms`)), timeoutMs)
  socket.on('connect', () =>
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`),
  )
  socket.on('readable', read).on('error', fail).on('close', closed)
  try {
    return await promise
  } finally {
    clock.clearTimeout(timer)
  }
}

function readOrigin(url: string) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isTls = protocol === 'https:'
  return {
    isTls,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (isTls ? 443 : 80),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }
}
