// The platform of a next release: its migrations extend every table of this one, with a column, and add a table and an index.

import type { Migration } from '../../src/base/store/database.ts'
import { postgresDialect } from '../../src/base/store/postgres-migrate.ts'
import { platformDatabases } from '../../src/sides/platform/stores.ts'
import { crmStoreMigrations } from '../../src/subjects/reconcile/crm/store.ts'

const expand = (name: string, ...statements: readonly string[]): Migration => ({
  name: `next/${name}`,
  statements: () => statements,
  readableFrom: '0.1.0',
})
const tables = platformDatabases({ store: 'postgres://x/y' })
  .flatMap(({ migrations }) => migrations)
  .flatMap(({ statements }) => statements(postgresDialect))
  .flatMap((text) => /^\s*create table (?:if not exists )?(\w+)/.exec(text)?.[1] ?? [])
// A migration for each table: it holds the lock of one table at a time.
const next = [
  ...[...new Set(tables)].map((table) =>
    expand(table, `alter table ${table} add column next bigint not null default 7`),
  ),
  expand('own', 'create table next_rows (seq bigint primary key)'),
  expand('index', 'create index items_next on items (next)'),
]
;(crmStoreMigrations as Migration[]).push(...next)
await import('./platform.ts')
