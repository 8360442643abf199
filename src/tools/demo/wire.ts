// The network between platform and operator: passes on each request and each answer, and can lose an answer.

import { Agent, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Listening, listen } from '../../base/http/http.ts'

export interface Wire {
  readonly url: string
  /** The next answer of the operator does not reach the platform. */
  loseAnswer(): void
  /** An answer is going to be lost. */
  readonly isLosing: boolean
  /** The identifiers of messages in lost answers. */
  readonly lost: ReadonlySet<string>
  close(): Promise<void>
}

/** @param operator the operator's URL. While the operator does not listen, connections to the wire are reset. */
export async function startWire(operator: string): Promise<Wire> {
  const agent = new Agent({ keepAlive: true })
  const lost = new Set<string>()
  let isLosing = false

  const listening: Listening = await listen('operator', (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const request = send(new URL(url, operator), { method, headers, agent }, async (answer) => {
      const body = await text(answer)
      const identifiers = [...body.matchAll(/"(?:push_id|site_notification_id)":"([^"]+)"/g)]
      if (isLosing && identifiers.length > 0) {
        isLosing = false
        for (const [, identifier = ''] of identifiers) lost.add(identifier)
        incoming.socket.destroy()
      } else outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body)
    })
    request.once('error', () => incoming.socket.destroy())
    incoming.pipe(request)
  })
  return {
    url: listening.url,
    loseAnswer() {
      isLosing = true
    },
    get isLosing() {
      return isLosing
    },
    lost,
    async close() {
      agent.destroy()
      await listening.close(500)
    },
  }
}
