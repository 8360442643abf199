// What a PostgreSQL server and the way to it must be. Checked at each start, and by `bellwire doctor`.

import type pg from 'pg'
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
