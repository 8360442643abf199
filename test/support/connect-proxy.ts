import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { listenLocally } from './listen-locally.ts'

/** A proxy that opens tunnels, or answers each CONNECT with a status. */
export async function connectProxy(t: TestContext, status?: number) {
  const tunnels: { to: string; authorization: string | undefined }[] = []
  const server = createServer()
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    socket.on('error', () => {})
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    tunnels.push({ to: request.url ?? '', authorization: request.headers['proxy-authorization'] })
    const [host, port] = (request.url ?? '').split(':')
    const other = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      other.write(head)
      socket.pipe(other).pipe(socket)
    })
    other.on('error', () => socket.destroy())
    socket.on('close', () => other.destroy())
  })
  const { port } = await listenLocally(t, server)
  const url = (user = '', password = '') => {
    const credentials = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
    return `http://${credentials}127.0.0.1:${port}`
  }
  return { tunnels, url }
}
