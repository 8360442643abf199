// What a PostgreSQL server and the way to it must be. Checked at each start, and by `bellwire doctor`.

import type pg from 'pg'
import { createClient } from './postgres-client.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** @throws StoreUnavailable if the server accepts no writes, as after a failover */
export async function demandWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean; setting: string }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as setting`,
  )
  const [state] = rows
  if (state?.standby)
    throw new StoreUnavailable('PostgreSQL: the server is a read-only standby: name the primary server in store')
  if (state?.setting === 'on')
    throw new StoreUnavailable('PostgreSQL: the database is read-only: default_transaction_read_only is on')
}

/** Another client may get the server of the first one in between, so one comparison may not show a pooler. */
const comparisons = 3

/** @throws if the connection goes through a pooler that gives its session to other clients between transactions */
export async function demandSession(client: pg.ClientBase, config: pg.ClientConfig): Promise<void> {
  const other = createClient({ ...config, application_name: 'bellwire check', connectionTimeoutMillis: 5_000 })
  try {
    await other.connect()
    for (let i = 0; i < comparisons; i++) {
      const before = await backendOf(client)
      await other.query('begin')
      // A pooler whose only server is taken now would let the first connection wait.
      if ((await backendOf(other)) === before || (await backendOf(client)) !== before) throw new Error(poolerRefusal)
      await other.query('rollback')
    }
  } catch (error) {
    // PgBouncer with pool_mode = statement refuses each transaction.
    throw /statement pooling/.test((error as Error).message) ? new Error(poolerRefusal) : error
  } finally {
    await other.end().catch(() => {})
  }
}

const poolerRefusal =
  "the connection goes through a pooler that shares sessions: connect directly or through a session pooler (PgBouncer's pool_mode = session)"

async function backendOf(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
