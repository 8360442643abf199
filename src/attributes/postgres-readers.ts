import pg from 'pg'
import { clock } from '../runtime/clock.ts'
import type { LookUp } from './attribute-source.ts'

/** More concurrent look-ups would only wait inside the server. */
const connections = 4

export interface Readers {
  use<T>(lookUp: LookUp, work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A pool of connections for look-ups. A connection that times out is destroyed, so that its query cannot delay the next one. */
export function createReaders(config: pg.ClientConfig): Readers {
  const pool = new pg.Pool({
    ...config,
    options: `${config.options} -c statement_timeout=30s`,
    max: connections,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  })
  // A broken idle connection is replaced at the next look-up.
  pool.on('error', () => {})
  return {
    async use(lookUp, work) {
      const timeout = createTimeout(lookUp)
      let client: pg.PoolClient | undefined
      let abandoned = false
      try {
        const connecting = pool.connect()
        connecting.then((late) => abandoned && late.release()).catch(() => {})
        client = await Promise.race([connecting, timeout.promise])
        const result = await Promise.race([work(client), timeout.promise])
        client.release()
        return result
      } catch (error) {
        abandoned = true
        // After an SQL error the connection is still usable. After any other error it is destroyed.
        client?.release(!(error instanceof pg.DatabaseError && error.severity === 'ERROR'))
        throw error
      } finally {
        timeout.clear()
      }
    },
    close: () => pool.end(),
  }
}

/** Rejects at the deadline, or when this process is stopping. */
function createTimeout({ deadline, signal }: LookUp): { promise: Promise<never>; clear(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const timer = clock.setTimeout(() => reject(new Error('no answer in time')), Math.max(0, deadline - clock.now()))
  const abort = (): void => reject(new Error('this process is stopping'))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return {
    promise,
    clear() {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
