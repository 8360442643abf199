import pg from 'pg'
import type { LookUp } from './attribute-source.ts'

/** More look-ups at a time would only wait inside the server. */
const connections = 4

export interface Readers {
  use<T>(lookUp: LookUp, work: (client: pg.ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Connections for look-ups. One that does not answer in time is destroyed: what hangs on it must not hang the next. */
export function createReaders(config: pg.ClientConfig): Readers {
  const pool = new pg.Pool({
    ...config,
    options: `${config.options} -c statement_timeout=30s`,
    max: connections,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  })
  // An idle connection that breaks is replaced at the next question.
  pool.on('error', () => {})
  return {
    async use(lookUp, work) {
      const ended = endOf(lookUp)
      let client: pg.PoolClient | undefined
      let givenUp = false
      try {
        const connecting = pool.connect()
        connecting.then((late) => givenUp && late.release()).catch(() => {})
        client = await Promise.race([connecting, ended.promise])
        const result = await Promise.race([work(client), ended.promise])
        client.release()
        return result
      } catch (error) {
        givenUp = true
        // An error of the query leaves the connection as good as it was; anything else does not.
        client?.release(!(error instanceof pg.DatabaseError && error.severity === 'ERROR'))
        throw error
      } finally {
        ended.stop()
      }
    },
    close: () => pool.end(),
  }
}

/** Rejects at the deadline, or when this process stops. */
function endOf({ deadline, signal }: LookUp): { promise: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const timer = setTimeout(() => reject(new Error('no answer in time')), Math.max(0, deadline - Date.now()))
  const abort = (): void => reject(new Error('this process is stopping'))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return {
    promise,
    stop() {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
