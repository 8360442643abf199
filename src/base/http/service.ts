import type { FastifyInstance } from 'fastify'
import { emit } from '../runtime/events.ts'
import type { Side } from './http.ts'
import { createMount, type Mount } from './mount.ts'

/** One side. Its own handler serves the paths that the other party calls: the interface, and /app if it is configured. */
export interface Service extends Mount {
  /** /admin, /console, /metrics, /docs, /openapi.json, /asyncapi.json, /healthz and /readyz. Do not expose them to the internet. */
  readonly admin: Mount
  /** The same without /console, for an address that others reach. */
  readonly adminForPrograms: Mount
  /** Only /healthz and /readyz. */
  readonly health: Mount
  /**
   * Opens the store and starts to work. Rejects with an error that names the remedy. It can be called again only if it rejected:
   * a side starts once.
   */
  start(): Promise<void>
  /** Rejects if the stores are away, so that the side could not be started again now. */
  checkStores(): Promise<void>
  /**
   * Accepts no new messages, finishes the work in progress for at most `withinMs`, and closes the store. During start() it waits
   * for its end, and start() rejects.
   */
  stop(withinMs?: number): Promise<void>
}

/** The result of a reload: the settings that were applied, and those that changed but need a restart. */
export interface Reloaded {
  readonly applied: readonly string[]
  readonly restart: readonly string[]
}

/** A setting of a running side, without secrets. */
export interface ShownSetting {
  /** @example 'operator.keys[0].name' */
  readonly setting: string
  readonly value: string
  /** @example 'bellwire.yaml:12', 'BELLWIRE_OPERATOR_PORT', 'default' */
  readonly source: string
  /** The value that a restart applies, if it differs. */
  readonly after_restart?: string
}

/** The latest reload of a process. */
export type LatestReload = Partial<Reloaded> & {
  /** Epoch milliseconds. */
  readonly at: number
  /** Why nothing was changed. */
  readonly error?: string
}

/** The configuration of a running side. */
export interface Configuration {
  describe(): { readonly settings: readonly ShownSetting[]; readonly reload?: LatestReload }
  /** Reads the configuration again. Rejects if it is not valid: then nothing changes. */
  reload(): Promise<Reloaded>
}

/** The parts of a running side. Administration has its own app, so that the handler of the interface cannot reach its routes. */
export interface Composed {
  readonly app: FastifyInstance
  readonly admin: FastifyInstance
  /** See Service. */
  checkStores(): Promise<unknown>
  close(withinMs: number): Promise<void>
}

const healthPaths = ['/healthz', '/readyz']
const adminPaths = ['/admin/*', '/docs/*', '/openapi.json', '/asyncapi.json', '/metrics', ...healthPaths]

/**
 * Creates a side without starting it; the same for both sides.
 *
 * @param paths the paths of the interface and of /app
 */
export function createService(
  side: Side,
  paths: readonly string[],
  compose: (stopping: AbortSignal) => Promise<Composed>,
): Service {
  const stopping = new AbortController()
  let composing: Promise<Composed> | undefined
  let running: Composed | undefined
  const refuseStopped = (): void => {
    if (stopping.signal.aborted) throw new Error(`the ${side} was stopped, and starts once: create another one`)
  }
  return {
    ...createMount({ side, paths, routing: () => running?.app.routing }),
    admin: createMount({ side, paths: [...adminPaths, '/console/*'], routing: () => running?.admin.routing }),
    adminForPrograms: createMount({ side, paths: adminPaths, routing: () => running?.admin.routing }),
    health: createMount({ side, paths: healthPaths, routing: () => running?.admin.routing }),
    async start() {
      refuseStopped()
      if (composing) throw new Error(`the ${side} was started already: call start() once`)
      composing = compose(stopping.signal)
      try {
        running = await composing
      } catch (error) {
        composing = undefined
        throw error
      }
      refuseStopped()
      emit('server.started', { side })
    },
    async checkStores() {
      await running?.checkStores()
    },
    async stop(withinMs = 10_000) {
      emit('server.stopping', { side })
      stopping.abort()
      const composed = await composing?.catch(() => undefined)
      await composed?.close(withinMs)
    },
  }
}
