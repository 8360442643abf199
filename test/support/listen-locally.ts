import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface LocalServer {
  readonly port: number
  /** `http://127.0.0.1:PORT`, also if the server speaks another protocol. */
  readonly url: string
  /** Destroys all connections. */
  cut(): void
  close(): Promise<void>
}

/** A test, a test file, or what else has an end. */
interface Lifetime {
  after(work: () => Promise<void>): void
}

/** Lets a server of any protocol listen on this machine until the test ends. */
export async function listenLocally(t: Lifetime, server: Server, port = 0): Promise<LocalServer> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      cut()
    })
  t.after(close)
  return { port: bound, url: `http://127.0.0.1:${bound}`, cut, close }
}
