import pg from 'pg'
import { messageOf } from '../runtime/message-of.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface LogFlusher {
  /** Resolves when everything committed before the call is on disk, and on standbys if `synchronous_commit` demands that. */
  flush(): Promise<void>
  close(): Promise<void>
}

/**
 * The writer commits without waiting for the disk; this connection waits while the writer runs the next transaction. It commits
 * an empty logical message, which has no reader: PostgreSQL flushes its log in order, so the commit is on disk only when
 * everything before it is. (A transaction that wrote no WAL would not wait for a flush, hence the message.)
 */
export function openLogFlusher(config: pg.ClientConfig, answerWithinMs: number): LogFlusher {
  let opening: Promise<pg.Client> | undefined
  let closed = false

  async function write(): Promise<void> {
    if (closed) throw new Error('the database is closed')
    opening ??= open(config, answerWithinMs)
    const connection = opening
    try {
      await (await connection).query({ name: 'flush', text: `select pg_logical_emit_message(true, 'bellwire', '')` })
    } catch (error) {
      if (opening === connection) opening = undefined
      connection.then((client) => client.end()).catch(() => {})
      throw error
    }
  }

  return {
    async flush() {
      try {
        // Retries once, since an idle connection may have been lost; flushing twice is harmless.
        await write().catch(write)
      } catch (error) {
        throw new StoreUnavailable(`PostgreSQL: the log cannot be flushed to disk: ${messageOf(error)}`, {
          cause: error,
        })
      }
    },
    async close() {
      closed = true
      const client = await opening?.catch(() => undefined)
      opening = undefined
      await client?.end()
    },
  }
}

async function open(config: pg.ClientConfig, answerWithinMs: number): Promise<pg.Client> {
  const client = new pg.Client({
    ...config,
    application_name: 'bellwire flusher',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    query_timeout: answerWithinMs,
  })
  // The next flush reports an error of the idle connection.
  client.on('error', () => {})
  await client.connect()
  // Keeps a server setting stricter than `on`.
  await client.query(
    `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
  )
  return client
}
