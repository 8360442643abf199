import { resolve } from 'node:path'
import type { Database, Migration } from './database.ts'
import { createPostgresDatabase, type PostgresOptions } from './postgres.ts'
import { configOf, hidePassword } from './postgres-address.ts'
import { migratePostgres, partitionedTables } from './postgres-migrate.ts'
import { createSqliteDatabase, openSqliteFile } from './sqlite.ts'
import { toOpenError } from './sqlite-file.ts'
import { migrateSqlite } from './sqlite-migrate.ts'

export interface OpenOptions extends PostgresOptions {
  readonly migrations: readonly Migration[]
  /** `migrations` has all migrations of the store: others are of a later release. */
  readonly whole?: boolean
  /** SQLite: see openSqliteFile. */
  readonly shared?: boolean
}

/**
 * Opens a database and applies the pending migrations.
 *
 * - `sqlite:PATH`, `sqlite::memory:`: the embedded database, for one process
 * - `postgres://user:password@host/database?schema=name`: PostgreSQL 15 or later; the schema is created if missing.
 *   Connect directly or through a session pooler: locks belong to the session, which a transaction pooler would share
 *
 * @throws an error that names the remedy
 * @example const database = await openDatabase('sqlite:data/operator.db', { migrations: operatorMigrations })
 */
export async function openDatabase(url: string, options: OpenOptions): Promise<Database> {
  return engineOf(url) === 'sqlite' ? openSqlite(pathOf(url), options) : openPostgres(url, options)
}

/** Applies all migrations of a store without keeping it open. @returns their names */
export async function migrateDatabase(url: string, migrations: readonly Migration[]): Promise<string[]> {
  if (engineOf(url) === 'postgres') return migratePostgres(configOf(url), migrations, true)
  const db = openSqliteFile(pathOf(url))
  try {
    return await migrateSqlite(db, migrations, true)
  } finally {
    db.close()
  }
}

async function openSqlite(path: string, { migrations, whole, shared }: OpenOptions): Promise<Database> {
  const db = openSqliteFile(path, shared)
  try {
    await migrateSqlite(db, migrations, whole)
  } catch (error) {
    db.close()
    throw toOpenError(path, error)
  }
  const database = createSqliteDatabase(db, path, shared)
  // With a full disk it starts nevertheless, and sends nothing until the disk has space.
  await database.checkWrites().catch(() => {})
  return database
}

async function openPostgres(url: string, options: OpenOptions): Promise<Database> {
  const config = configOf(url)
  await migratePostgres(config, options.migrations, options.whole)
  return createPostgresDatabase(config, { ...options, partitioned: partitionedTables(options.migrations) })
}

function engineOf(url: string): Database['engine'] {
  if (url.startsWith('sqlite:')) return 'sqlite'
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  throw new Error(
    `${JSON.stringify(hidePassword(url))} is not the address of a store: write sqlite:PATH or postgres://user:password@host/database`,
  )
}

function pathOf(url: string): string {
  const path = url.slice('sqlite:'.length)
  if (path === '') throw new Error('sqlite: needs a path, such as sqlite:data/operator.db')
  return path === ':memory:' ? path : resolve(path)
}
