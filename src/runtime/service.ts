import type { FastifyInstance } from 'fastify'
import { emit } from './events.ts'
import type { Side } from './http.ts'
import { createMount, type Mount } from './mount.ts'

/** One side, from start to stop. Itself, it mounts what the other party calls: the interface's paths, and /app where it is set. */
export interface Service extends Mount {
  /** /admin, /metrics, /docs, /openapi.json, /asyncapi.json, /healthz and /readyz. Not for the internet. */
  readonly admin: Mount
  /** /healthz and /readyz alone. */
  readonly health: Mount
  /** Opens the store and begins to work. Rejects, naming the remedy, when it cannot. */
  start(): Promise<void>
  /** Takes no new messages, finishes what is under way within a bound, closes the store. */
  stop(withinMs?: number): Promise<void>
}

/** What a side is made of while it runs: an administration route cannot be reached by the handler of the interface. */
export interface Composed {
  readonly app: FastifyInstance
  readonly admin: FastifyInstance
  close(withinMs: number): Promise<void>
}

const healthPaths = ['/healthz', '/readyz']
const adminPaths = ['/admin/*', '/docs/*', '/openapi.json', '/asyncapi.json', '/metrics', ...healthPaths]

/**
 * Building, starting and stopping are three acts, the same for both sides.
 *
 * @param paths those of the interface, and of /app
 */
export function createService(
  side: Side,
  paths: readonly string[],
  compose: (stopping: AbortSignal) => Promise<Composed>,
): Service {
  const stopping = new AbortController()
  let running: Composed | undefined
  return {
    ...createMount({ side, paths, routing: () => running?.app.routing }),
    admin: createMount({ side, paths: adminPaths, routing: () => running?.admin.routing }),
    health: createMount({ side, paths: healthPaths, routing: () => running?.admin.routing }),
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
