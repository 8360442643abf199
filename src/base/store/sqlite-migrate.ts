import type { DatabaseSync } from 'node:sqlite'
import type { Dialect, Migration } from './database.ts'
import { migrate } from './migrate.ts'

export const sqliteDialect: Dialect = {
  engine: 'sqlite',
  key: 'text',
  serial: 'integer primary key autoincrement',
  partitionedBy: () => '',
}

/** @param whole see migrate() @returns the names of the applied migrations */
export function migrateSqlite(db: DatabaseSync, migrations: readonly Migration[], whole?: boolean): Promise<string[]> {
  return migrate(
    migrations,
    {
      dialect: sqliteDialect,
      async run(statements) {
        // Sorts on disk, since a migration may sort millions of rows.
        db.exec('pragma temp_store = file')
        db.exec('begin immediate')
        try {
          for (const text of statements) db.exec(text)
          db.exec('commit')
        } catch (error) {
          if (db.isTransaction) db.exec('rollback')
          throw error
        } finally {
          db.exec('pragma temp_store = memory')
        }
      },
      query: async (text) => db.prepare(text).all(),
    },
    whole,
  )
}
