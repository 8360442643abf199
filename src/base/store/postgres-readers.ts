// Look-ups in a PostgreSQL database of the operator. The deadline of a look-up ends its query on the server too.

import pg from 'pg'
import { clock } from '../runtime/clock.ts'
import { atMost } from '../runtime/within.ts'
import { sendCancelRequest } from './postgres-cancel.ts'
import { StoreClient } from './postgres-client.ts'

export interface LookUpLimits {
  /** Epoch milliseconds. */
  readonly deadline: number
  /** Aborts when this process stops. */
  readonly signal: AbortSignal
}

/** Runs a query. Rejects without running it if the look-up has ended. */
export type RunQuery = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<pg.QueryResult<Row>>

export interface Readers {
  /** @throws at the deadline, or when the signal aborts. The server then ends the running query. */
  use<T>(limits: LookUpLimits, work: (query: RunQuery) => Promise<T>): Promise<T>
  /** Resolves after the server has ended the running queries. */
  close(): Promise<void>
}

/**
 * A pool of read-only connections. A look-up that has ended keeps its connection until its query has ended on the server. So the
 * server never runs more queries than there are connections.
 */
export function createReaders(config: pg.PoolConfig & { readonly max: number }): Readers {
  const pool = new pg.Pool({
    ...config,
    Client: StoreClient,
    options: `${config.options ?? ''} -c default_transaction_read_only=on`,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
    keepAlive: true,
  })
  // A broken idle connection is replaced at the next look-up.
  pool.on('error', () => {})
  const statementTimeouts = new WeakMap<pg.PoolClient, number>()

  /** Ends a query on the server even if this process is killed or cannot reach the server. */
  async function limitStatements(client: pg.PoolClient, deadline: number): Promise<number> {
    // In whole seconds, so that most look-ups find the value that is set already.
    const ms = Math.max(1, Math.ceil((deadline - clock.now()) / 1_000)) * 1_000
    if (statementTimeouts.get(client) !== ms) await client.query(`set statement_timeout = ${ms}`)
    statementTimeouts.set(client, ms)
    return ms
  }

  /** Keeps the connection's place in the pool until the query has ended. The connection is not used again. */
  async function endQuery(client: pg.PoolClient, work: Promise<unknown>): Promise<void> {
    sendCancelRequest(client)
    await atMost((statementTimeouts.get(client) ?? 0) + 1_000, work)
    client.release(true)
  }

  return {
    async use(limits, work) {
      const end = createEnd(limits)
      try {
        const connecting = pool.connect()
        const client = await Promise.race([connecting, end.promise]).catch((error: unknown) => {
          connecting.then((late) => late.release()).catch(() => {})
          throw error
        })
        const working = limitStatements(client, limits.deadline).then(() =>
          work(async (text, values) => {
            if (end.reached) throw new Error('the look-up has ended')
            return client.query(text, values as unknown[])
          }),
        )
        try {
          const result = await Promise.race([working, end.promise])
          client.release()
          return result
        } catch (error) {
          // After an SQL error the connection is still usable. After any other error it is destroyed.
          if (end.reached) void endQuery(client, working)
          else client.release(!(error instanceof pg.DatabaseError && error.severity === 'ERROR'))
          throw error
        }
      } finally {
        end.clear()
      }
    },
    close: () => pool.end(),
  }
}

/** `promise` rejects at the deadline, or when this process stops. */
function createEnd({ deadline, signal }: LookUpLimits) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const end = {
    promise,
    reached: false,
    clear(): void {
      clock.clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
  const fail = (message: string): void => {
    end.reached = true
    reject(new Error(message))
  }
  const stop = (): void => fail('this process is stopping')
  const timer = clock.setTimeout(
    () => fail('the query timed out: check that it can use an index'),
    Math.max(0, deadline - clock.now()),
  )
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return end
}
