import pg from 'pg'
import { messageOf } from './postgres-errors.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface LogFlusher {
  /** Resolves when all that was committed before the call is on disk (and where the server's settings want it besides). */
  flush(): Promise<void>
  close(): Promise<void>
}

/**
 * The writer commits without waiting for the disk; this connection waits, while the writer is already at the next
 * transaction. It commits an empty message to the log, which nobody reads: PostgreSQL writes its log in order, so that
 * commit is on disk only when everything before it is. (A transaction that has only a number is not waited for.)
 */
export function openLogFlusher(config: pg.ClientConfig, answerWithinMs: number): LogFlusher {
  const pool = new pg.Pool({
    ...config,
    max: 1,
    min: 1,
    application_name: 'bellwire flusher',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
    query_timeout: answerWithinMs,
  })
  pool.on('error', () => {})
  // What is stricter than `on` stays as the server has it.
  pool.on('connect', (client) => {
    client
      .query(`select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`)
      .catch(() => {})
  })
  return {
    async flush() {
      try {
        await pool.query({ name: 'flush', text: `select pg_logical_emit_message(true, 'bellwire', '')` })
      } catch (error) {
        throw new StoreUnavailable(`PostgreSQL: the log cannot be brought to disk: ${messageOf(error)}`, {
          cause: error,
        })
      }
    },
    async close() {
      if (!pool.ending) await pool.end()
    },
  }
}
