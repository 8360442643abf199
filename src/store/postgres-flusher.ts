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
  let opening: Promise<pg.Client> | undefined
  let closed = false

  async function write(): Promise<void> {
    if (closed) throw new Error('the database is closed')
    opening ??= open(config, answerWithinMs)
    const mine = opening
    try {
      await (await mine).query({ name: 'flush', text: `select pg_logical_emit_message(true, 'bellwire', '')` })
    } catch (error) {
      if (opening === mine) opening = undefined
      mine.then((client) => client.end()).catch(() => {})
      throw error
    }
  }

  return {
    async flush() {
      try {
        // A connection that was cut while nobody used it is no reason to fail: flushing twice does no harm.
        await write().catch(write)
      } catch (error) {
        throw new StoreUnavailable(`PostgreSQL: the log cannot be brought to disk: ${messageOf(error)}`, {
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
  // An error of an idle connection shows at the next flush.
  client.on('error', () => {})
  await client.connect()
  // What is stricter than `on` stays as the server has it.
  await client.query(
    `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
  )
  return client
}
