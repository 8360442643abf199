import type { Dialect, Migration } from './database.ts'

export interface Migrator {
  readonly dialect: Dialect
  /** Runs these in one transaction. */
  readonly run: (statements: readonly string[]) => Promise<void>
  readonly names: () => Promise<readonly string[]>
}

/** Applies what is pending, in order, each in a transaction of its own. The caller holds the lock. @returns their names */
export async function migrate(migrations: readonly Migration[], { dialect, run, names }: Migrator): Promise<string[]> {
  await run(['create table if not exists migrations (name text primary key, at bigint not null)'])
  const done = new Set(await names())
  const applied: string[] = []
  for (const { name, statements } of migrations) {
    if (done.has(name)) continue
    try {
      await run([
        ...statements(dialect),
        `insert into migrations (name, at) values ('${name.replaceAll("'", "''")}', ${Date.now()})`,
      ])
    } catch (error) {
      throw new Error(`Migration ${name} could not be applied: ${(error as Error).message}`, { cause: error })
    }
    done.add(name)
    applied.push(name)
  }
  return applied
}
