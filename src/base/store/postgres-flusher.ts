import type pg from 'pg'
import { messageOf } from '../runtime/message-of.ts'
import { connected, createClient } from './postgres-client.ts'
import { aliveOwners } from './postgres-locks.ts'
import { runRead } from './postgres-run.ts'
import { op } from './statement.ts'
import { StoreUnavailable } from './store-unavailable.ts'

export interface LogFlusher {
  /**
   * Resolves when everything that the session of this owner has committed is on disk, and on standbys if `synchronous_commit` demands
   * that. Rejects if the session has ended: its commits may be lost.
   */
  flush(owner: string): Promise<void>
  close(): Promise<void>
}

interface Opened {
  readonly client: pg.Client
  /** Its session is on the same server. */
  readonly owner: string
}

/**
 * The writer commits without waiting for the disk; this connection waits while the writer runs the next transaction. It commits
 * an empty logical message, which has no reader: PostgreSQL flushes its log in order, so the commit is on disk only when
 * everything before it is. (A transaction that wrote no WAL would not wait for a flush, hence the message.)
 *
 * The connection must be to the server of the session: after a failover, the log of another server would be flushed instead.
 */
export function openLogFlusher(config: pg.ClientConfig, answerWithinMs: number): LogFlusher {
  let opening: Promise<Opened> | undefined
  let closed = false

  async function write(owner: string): Promise<void> {
    if (closed) throw new Error('the database is closed')
    opening ??= open(config, answerWithinMs, owner)
    const connection = opening
    try {
      const { client, owner: of } = await connection
      if (of !== owner) throw new Error('the session has another connection')
      await client.query({ name: 'flush', text: `select pg_logical_emit_message(true, 'bellwire', '')` })
    } catch (error) {
      if (opening === connection) opening = undefined
      connection.then(({ client }) => client.end()).catch(() => {})
      throw error
    }
  }

  return {
    async flush(owner) {
      try {
        // Retries once, since an idle connection may have been lost; flushing twice is harmless.
        await write(owner).catch(() => write(owner))
      } catch (error) {
        throw new StoreUnavailable(`PostgreSQL: the log cannot be flushed to disk: ${messageOf(error)}`, {
          cause: error,
        })
      }
    },
    async close() {
      closed = true
      const opened = await opening?.catch(() => undefined)
      opening = undefined
      await opened?.client.end()
    },
  }
}

async function open(config: pg.ClientConfig, answerWithinMs: number, owner: string): Promise<Opened> {
  const client = createClient({ ...config, application_name: 'bellwire flusher', query_timeout: answerWithinMs })
  return connected(client, async () => {
    // Keeps a server setting stricter than `on`.
    await client.query(
      `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
    )
    const alive = await runRead(client, op(aliveOwners, [[owner]]))
    if (alive.length === 0) throw new Error('the session has ended, or is on another server')
    return { client, owner }
  })
}
