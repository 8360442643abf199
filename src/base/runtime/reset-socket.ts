import type { Socket } from 'node:net'

/**
 * Closes a connection with a reset, so that the peer sees an error and no regular end. A connection that is ending already is only
 * closed: Node 26.10 would keep its handle, and the process would never exit.
 */
export function resetSocket(socket: Socket | null): void {
  if (socket?.writableEnded) socket.destroy()
  else socket?.resetAndDestroy()
}
