import { connect } from 'node:net'
import type pg from 'pg'

/** As pg knows it, beyond its types. */
type Running = pg.Client & { readonly processID: number | null; readonly secretKey: number | null }

/**
 * Ends what the client runs, at the server too, and the client with it. The server is told on a connection of its own, which
 * it reads before it asks for a password or TLS: https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export function cancelQuery(client: pg.Client): void {
  const { processID, secretKey, host, port } = client as Running
  client.connection.stream.destroy()
  if (processID === null || secretKey === null) return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80_877_102, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(2_000, () => socket.destroy())
  // A server that cannot be reached finds out by itself: client_connection_check_interval.
  socket.on('error', () => socket.destroy())
  socket.end(request)
}
