// Opens the HTTP server of a fake.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { limitUnanswered } from '../../base/http/unanswered.ts'
import { closeServer, listenAt } from '../../base/runtime/local-server.ts'
import { reply } from './forward.ts'

export interface OpenServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * @param serve answers a request; an error is answered 500
 * @param stop called when the server is closed, or could not be opened
 */
export async function openServer(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  address: { readonly host: string; readonly port: number },
  stop: () => Promise<void>,
): Promise<OpenServer> {
  const server = createServer(
    limitUnanswered((request, response) => {
      serve(request, response).catch((error: Error) => {
        if (response.headersSent) response.destroy()
        else reply(response, 500, JSON.stringify({ error: error.message }))
      })
    }),
  )
  const url = await listenAt(server, address).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return {
    url,
    async close() {
      await closeServer(server)
      await stop()
    },
  }
}
