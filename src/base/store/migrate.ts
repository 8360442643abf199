import { clock } from '../runtime/clock.ts'
import type { Dialect, Migration } from './database.ts'
import { createProbeTable } from './write-probe.ts'

export interface Migrator {
  readonly dialect: Dialect
  /** Runs the statements in one transaction. */
  readonly run: (statements: readonly string[]) => Promise<void>
  readonly names: () => Promise<readonly string[]>
}

/** Applies the pending migrations in order, each in its own transaction. The caller holds the lock. @returns their names */
export async function migrate(migrations: readonly Migration[], { dialect, run, names }: Migrator): Promise<string[]> {
  await run([
    'create table if not exists migrations (name text primary key, at bigint not null)',
    createProbeTable(dialect.key),
  ])
  const existing = new Set(await names())
  const applied: string[] = []
  for (const { name, statements } of migrations) {
    if (existing.has(name)) continue
    try {
      await run([
        ...statements(dialect),
        `insert into migrations (name, at) values ('${name.replaceAll("'", "''")}', ${clock.now()})`,
      ])
    } catch (error) {
      throw new Error(`Migration ${name} could not be applied: ${(error as Error).message}`, { cause: error })
    }
    existing.add(name)
    applied.push(name)
  }
  return applied
}
