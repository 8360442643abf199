import { emit } from './events.ts'
import { type Handler, noSniffing, type Side } from './http.ts'

/** One side, from start to stop. */
export interface Service {
  /** Mounts in node:http, Express or Fastify; until start() has resolved it answers 503. */
  readonly handler: Handler
  /** Opens the store and begins to work. Rejects, naming the remedy, when it cannot. */
  start(): Promise<void>
  /** Takes no new messages, finishes what is under way within a bound, closes the store. */
  stop(withinMs?: number): Promise<void>
}

/** What a side is made of while it runs. */
export interface Composed {
  readonly handler: Handler
  close(withinMs: number): Promise<void>
}

/** Building, starting and stopping are three acts, the same for both sides. */
export function createService(side: Side, compose: (stopping: AbortSignal) => Promise<Composed>): Service {
  const stopping = new AbortController()
  let running: Composed | undefined
  return {
    handler(request, response) {
      if (running) return running.handler(request, response)
      response.writeHead(503, {
        'content-type': 'application/json',
        'retry-after': '1',
        [noSniffing[0]]: noSniffing[1],
      })
      response.end('{"error":"the server is starting: ask again"}')
    },
    async start() {
      running = await compose(stopping.signal)
    },
    async stop(withinMs = 10_000) {
      emit('server.stopping', { side })
      stopping.abort()
      await running?.close(withinMs)
    },
  }
}
