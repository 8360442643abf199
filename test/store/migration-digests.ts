import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { postgresDialect } from '../../src/base/store/postgres-migrate.ts'
import { sqliteDialect } from '../../src/base/store/sqlite-migrate.ts'
import { migrationsOf, sides } from './kept-store.ts'

/** By release, the digests of its migrations in their order. */
export const digestsFile = join(import.meta.dirname, 'kept/migrations.json')

/** @returns for each side the SHA-256 of the statements of each migration, in order, as 'NAME DIGEST' */
export function readDigests(): Record<string, readonly string[]> {
  return Object.fromEntries(
    sides.map((side) => [
      side,
      migrationsOf[side].map(({ name, statements }) => {
        const texts = [sqliteDialect, postgresDialect].map((dialect) => statements(dialect))
        return `${name} ${createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16)}`
      }),
    ]),
  )
}
