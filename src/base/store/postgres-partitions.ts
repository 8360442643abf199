// Tables that PostgreSQL partitions by day (UTC): old rows are forgotten by dropping a partition, which writes no dead rows.
// There is no DEFAULT partition, since a partition can be detached without blocking inserts only without one.

import type pg from 'pg'
import { clock } from '../runtime/clock.ts'
import { messageOf } from '../runtime/message-of.ts'
import type { PartitionedTable } from './database.ts'
import type { PostgresConfig } from './postgres-address.ts'
import { withClient } from './postgres-client.ts'
import { postgresDefaults } from './postgres-defaults.ts'
import { StoreUnavailable } from './store-unavailable.ts'

const dayMs = 86_400_000
/** A clock may be behind the clock of the process that created the partitions. */
const daysBehind = 1

/** SQL: the advisory lock of a process that changes tables. Its parameter is the schema. */
export const schemaLock = `hashtextextended('bellwire migrate ' || $1, 0)`

interface Partition {
  readonly name: string
  /** Epoch ms. Its rows are from this day. */
  readonly day: number
  readonly attached: boolean
  /** An earlier attempt to detach it was interrupted. */
  readonly pending: boolean
}

/**
 * Creates the partitions of the days around `now` (epoch ms). The caller holds `schemaLock`.
 *
 * @param since also the partitions from this time on (epoch ms)
 */
export async function createPartitions(
  client: pg.Client,
  tables: readonly PartitionedTable[],
  now: number,
  since = now,
): Promise<void> {
  const today = Math.floor(now / dayMs)
  const first = Math.min(today - daysBehind, Math.floor(since / dayMs))
  for (const { table, bound } of tables) {
    const present = new Set((await readPartitions(client, table)).map(({ name }) => name))
    for (let day = first; day <= today + postgresDefaults.daysAhead; day++) {
      const name = nameOf(table, day * dayMs)
      if (present.has(name)) continue
      // Attached instead of created in place: `create table … partition of` would block inserts.
      await client.query(
        `begin;
         create table ${name} (like ${table} including all);
         alter table ${table} attach partition ${name}
           for values from (${bound(day * dayMs)}) to (${bound((day + 1) * dayMs)});
         commit`,
      )
    }
  }
}

/** Creates in `target` the partitions that `source` has, so that its rows can be copied. */
export async function copyPartitions(
  source: pg.Client,
  target: pg.Client,
  tables: readonly PartitionedTable[],
): Promise<void> {
  const { rows } = await target.query<{ schema: string }>('select current_schema() as schema')
  const lock = [rows[0]?.schema ?? '']
  await target.query(`select pg_advisory_lock(${schemaLock})`, lock)
  try {
    const now = clock.now()
    for (const each of tables) {
      const days = (await readPartitions(source, each.table)).map(({ day }) => day)
      await createPartitions(target, [each], now, Math.min(now, ...days))
    }
  } finally {
    await target.query(`select pg_advisory_unlock(${schemaLock})`, lock)
  }
}

/**
 * Drops the partitions of `table` whose rows are all from before `before` (epoch ms), and creates the partitions of the next days.
 *
 * @returns the number of partitions dropped; 0 also while another process does this work
 * @throws StoreUnavailable when a transaction reads a partition for longer than `withinMs`. Call it again: it goes on from there
 */
export async function dropPartitions(
  config: PostgresConfig,
  tables: readonly PartitionedTable[],
  { table, before, withinMs }: { readonly table: string; readonly before: number; readonly withinMs: number },
): Promise<number> {
  return withClient({ ...config, application_name: 'bellwire partitions' }, async (client) => {
    await client.query(`set statement_timeout = ${withinMs}`)
    const lock = `select pg_try_advisory_lock(${schemaLock}) as held`
    if (!(await client.query<{ held: boolean }>(lock, [config.schema ?? ''])).rows[0]?.held) return 0
    const old = (await readPartitions(client, table)).filter(({ day }) => day + dayMs <= before)
    for (const partition of old) await dropPartition(client, table, partition)
    await createPartitions(client, tables, clock.now())
    return old.length
  }).catch((error: unknown) => {
    throw new StoreUnavailable(`PostgreSQL: partitions of ${table}: ${messageOf(error)}`, { cause: error })
  })
}

async function dropPartition(client: pg.Client, table: string, { name, attached, pending }: Partition): Promise<void> {
  if (pending) await client.query(`alter table ${table} detach partition ${name} finalize`)
  else if (attached) await client.query(`alter table ${table} detach partition ${name} concurrently`)
  await client.query(`drop table ${name}`)
}

/** Includes partitions that were detached and not dropped, since their process died in between. */
async function readPartitions(client: pg.Client, table: string): Promise<readonly Partition[]> {
  const { rows } = await client.query<Omit<Partition, 'day'>>(
    `select c.relname as name, c.relispartition as attached, coalesce(i.inhdetachpending, false) as pending
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname ~ $1
     order by c.relname`,
    [`^${table}_\\d{8}$`],
  )
  return rows.map((row) => ({ ...row, day: dayOf(row.name) }))
}

/** @example 'requests_20261123' */
function nameOf(table: string, day: number): string {
  return `${table}_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`
}

function dayOf(name: string): number {
  return Date.parse(name.slice(-8).replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'))
}
