import type pg from 'pg'
import { clock } from '../runtime/clock.ts'
import type { Dialect, Migration, PartitionedTable } from './database.ts'
import { migrate } from './migrate.ts'
import type { PostgresConfig } from './postgres-address.ts'
import { createClient } from './postgres-client.ts'
import { explainConnectError, mayNot } from './postgres-errors.ts'
import { createPartitions, schemaLock } from './postgres-partitions.ts'
import { demandSession, demandWritable } from './postgres-preconditions.ts'

export const postgresDialect: Dialect = {
  engine: 'postgres',
  key: 'text collate "C"',
  serial: 'bigint generated always as identity primary key',
  partitionedBy: (column) => ` partition by range (${column})`,
}

export function partitionedTables(migrations: readonly Migration[]): readonly PartitionedTable[] {
  return migrations.flatMap(({ partitioned }) => partitioned ?? [])
}

/** Applies the pending migrations on a separate connection. @param whole see migrate() @returns their names */
export async function migratePostgres(
  config: PostgresConfig,
  migrations: readonly Migration[],
  whole?: boolean,
): Promise<string[]> {
  const client = createClient({ ...config, application_name: 'bellwire migrate' })
  let connected = false
  try {
    await client.connect()
    connected = true
    await demandVersion(client)
    await demandWritable(client)
    await demandSession(client, config)
    // Of several processes that start at once, the others wait here until the first one has applied the migrations.
    await client.query(`select pg_advisory_lock(${schemaLock})`, [config.schema ?? ''])
    if (config.schema) await client.query(`create schema if not exists ${config.schema}`)
    const applied = await migrate(
      migrations,
      {
        dialect: postgresDialect,
        run: async (statements) => void (await client.query(statements.join(';\n'))),
        query: async (text) => (await client.query(text)).rows,
      },
      whole,
    )
    await createPartitions(client, partitionedTables(migrations), clock.now())
    return applied
  } catch (error) {
    if (connected && (error as { readonly code?: unknown }).code !== mayNot) throw error
    const where = `${client.host}:${client.port}/${client.database ?? ''}`
    const { reason, remedy } = explainConnectError(error)
    const failed = connected ? 'cannot be used' : 'cannot be reached'
    throw new Error(`PostgreSQL at ${where} ${failed}: ${reason}. ${remedy[0]?.toUpperCase()}${remedy.slice(1)}`, {
      cause: error,
    })
  } finally {
    await client.end().catch(() => {})
  }
}

async function demandVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string }>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as name`,
  )
  if (Number(rows[0]?.number) < 150_000)
    throw new Error(`PostgreSQL ${rows[0]?.name} is too old: Bellwire needs 15 or later`)
}
