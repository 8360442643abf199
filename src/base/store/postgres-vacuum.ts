import { messageOf } from '../runtime/message-of.ts'
import type { PostgresConfig } from './postgres-address.ts'
import { withClient } from './postgres-client.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** Vacuums tables on a connection of its own. A table that another process vacuums is left to it. */
export async function vacuum(config: PostgresConfig, tables: readonly string[]): Promise<void> {
  await withClient({ ...config, application_name: 'bellwire vacuum' }, async (client) => {
    for (const table of tables) await client.query(`vacuum (skip_locked) ${table}`)
  }).catch((error: unknown) => {
    throw new StoreUnavailable(`PostgreSQL: vacuum: ${messageOf(error)}`, { cause: error })
  })
}
