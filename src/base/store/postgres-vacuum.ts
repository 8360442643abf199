import { messageOf } from '../runtime/message-of.ts'
import type { PostgresConfig } from './postgres-address.ts'
import { createClient } from './postgres-client.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** Vacuums tables on a connection of its own. A table that another process vacuums is left to it. */
export async function vacuum(config: PostgresConfig, tables: readonly string[]): Promise<void> {
  const client = createClient({ ...config, application_name: 'bellwire vacuum', connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    for (const table of tables) await client.query(`vacuum (skip_locked) ${table}`)
  } catch (error) {
    throw new StoreUnavailable(`PostgreSQL: vacuum: ${messageOf(error)}`, { cause: error })
  } finally {
    await client.end().catch(() => {})
  }
}
