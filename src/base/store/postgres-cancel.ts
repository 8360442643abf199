import { connect } from 'node:net'
import type pg from 'pg'

/** The fields of a connected client that the type definitions of pg leave out. */
type Running = pg.ClientBase & {
  readonly processID: number | null
  readonly secretKey: number | null
  readonly host: string
  readonly port: number
}

/** Cancels the client's query on the server and closes the client. */
export function cancelQuery(client: pg.Client): void {
  client.connection.stream.destroy()
  sendCancelRequest(client)
}

/**
 * Cancels the client's query on the server. The request goes over a second connection, which the server reads before
 * authentication and TLS: https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export function sendCancelRequest(client: pg.ClientBase): void {
  const { processID, secretKey, host, port } = client as Running
  if (processID === null || secretKey === null) return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80_877_102, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(2_000, () => socket.destroy())
  // If the server cannot be reached, client_connection_check_interval or statement_timeout ends the query.
  socket.on('error', () => socket.destroy())
  socket.end(request)
}
