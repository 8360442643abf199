import { clock } from '../runtime/clock.ts'
import { version } from '../runtime/version.ts'
import type { Dialect, Migration } from './database.ts'
import { createProbeTable } from './write-probe.ts'

export interface Migrator {
  readonly dialect: Dialect
  /** Runs the statements in one transaction. */
  readonly run: (statements: readonly string[]) => Promise<void>
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>
}

/** A row of the table `migrations`. */
export interface Applied {
  readonly name: string
  readonly readableFrom: string
}

const firstRelease = '0.1.0'

export const selectApplied = 'select name, readable_from as "readableFrom" from migrations'

/** In the place of a migration: the rows of the store live in another database now. */
export const movedAway = 'moved'
/** Records the number of a store. It is not applied any more when the platform has one store again. */
const numbering = /^queue\/store-\d+$/

/**
 * Applies the pending migrations in order, each in its own transaction. The caller holds the lock.
 *
 * A store that a later release has extended is used, if the release allows it: then both run at once during an upgrade.
 *
 * @param whole they are all migrations of the store: others are of a later release
 * @returns their names
 */
export async function migrate(
  migrations: readonly Migration[],
  { dialect, run, query }: Migrator,
  whole = false,
): Promise<string[]> {
  await run([
    `create table if not exists migrations (
       name text primary key, at bigint not null, readable_from text not null default '${firstRelease}')`,
    createProbeTable(dialect.key),
  ])
  const rows = await query(selectApplied)
  const existing = new Set(rows.map(({ name }) => String(name)))
  refuse(findMove(rows as unknown as readonly Applied[]))
  if (whole) demandReadable(rows as unknown as readonly Applied[], migrations)
  const applied: string[] = []
  for (const { name, statements, readableFrom = firstRelease } of migrations) {
    if (existing.has(name)) continue
    try {
      await run([
        ...statements(dialect),
        `insert into migrations (name, at, readable_from)
           values ('${name.replaceAll("'", "''")}', ${clock.now()}, '${readableFrom}')`,
      ])
    } catch (error) {
      throw new Error(`Migration ${name} could not be applied: ${(error as Error).message}`, { cause: error })
    }
    existing.add(name)
    applied.push(name)
  }
  return applied
}

/** Marks the store of a side: both sides have tables of the same names, and the rows of both must not be in one store. */
export const sideMigration = (side: 'operator' | 'platform'): Migration => ({
  name: `side/${side}`,
  statements: () => [],
  readableFrom: firstRelease,
})

const markOfSide = /^side\/(.+)$/

/** @returns the migrations of later releases */
export function laterMigrations(applied: readonly Applied[], migrations: readonly Migration[]): readonly Applied[] {
  const known = new Set(migrations.map(({ name }) => name))
  return applied.filter(({ name }) => !known.has(name) && !numbering.test(name))
}

/** @throws if it is the store of the other side, or a later release has changed it so that this release cannot use it */
export function demandReadable(applied: readonly Applied[], migrations: readonly Migration[]): void {
  refuse(findUnreadable(applied, migrations))
}

/** Why a side does not start with a store. */
interface Refusal {
  readonly reason: string
  readonly remedy: string
}

/** @returns undefined: a side with these migrations starts with the store */
export const findRefusal = (applied: readonly Applied[], migrations: readonly Migration[]): Refusal | undefined =>
  findMove(applied) ?? findUnreadable(applied, migrations)

function findMove(applied: readonly Applied[]): Refusal | undefined {
  if (!applied.some(({ name }) => name === movedAway)) return undefined
  return {
    reason: 'the store was moved to PostgreSQL with `bellwire move`',
    remedy: 'write the new address in `store`',
  }
}

function findUnreadable(applied: readonly Applied[], migrations: readonly Migration[]): Refusal | undefined {
  const own = version()
  for (const { name, readableFrom } of laterMigrations(applied, migrations)) {
    const side = markOfSide.exec(name)?.[1]
    if (side !== undefined)
      return {
        reason: `the store is that of the ${side}`,
        remedy: 'name another file, database or schema in `store`',
      }
    if (!isOlder(own, readableFrom)) continue
    return {
      reason: `the store was changed by a later version of Bellwire (migration ${name}), and ${own} cannot use it`,
      remedy: `install ${readableFrom} or later, or restore a backup from before the upgrade`,
    }
  }
  return undefined
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal) throw new Error(`${refusal.reason}: ${refusal.remedy}`)
}

/** @example isOlder('0.9.1', '0.10.0') // true */
function isOlder(release: string, other: string): boolean {
  const [a, b] = [release, other].map((each) => each.split(/[.-]/, 3).map(Number)) as [number[], number[]]
  const i = a.findIndex((number, i) => number !== b[i])
  return i >= 0 && (a[i] as number) < (b[i] as number)
}
