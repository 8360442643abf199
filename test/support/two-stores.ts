// Two databases of one side, each behind a proxy that can be cut.

import type { TestContext } from 'node:test'
import type { Migration } from '../../src/base/store/database.ts'
import { migrateDatabase } from '../../src/base/store/open-database.ts'
import { brandTables } from '../../src/subjects/brands/move/brand-rows.ts'
import { connect, freshSchema, query } from './services/postgres.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { until } from './wait.ts'

export interface TwoStores {
  /** Direct addresses, for SQL. */
  readonly schemas: readonly [string, string]
  /** Addresses through the proxies. */
  readonly urls: readonly [string, string]
  readonly proxies: readonly [TcpProxy, TcpProxy]
  /** Called when the test ends, before the schemas are dropped. */
  readonly stops: (() => Promise<void>)[]
}

export async function twoStores(t: TestContext): Promise<TwoStores> {
  const stops: (() => Promise<void>)[] = []
  t.after(() => Promise.all(stops.map((stop) => stop())))
  const [main, east] = [await behindProxy(t), await behindProxy(t)]
  return {
    schemas: [main.schema, east.schema],
    urls: [main.proxy.url, east.proxy.url],
    proxies: [main.proxy, east.proxy],
    stops,
  }
}

async function behindProxy(t: TestContext) {
  const schema = await freshSchema()
  return { schema, proxy: await tcpProxy(t, schema) }
}

export interface HeldTable {
  /** Resolves when the command waits for the table. */
  reached(): Promise<void>
  release(): Promise<void>
}

/** Repeats a step until it is stopped, or until the test ends. */
export function repeat({ stops }: Pick<TwoStores, 'stops'>, step: () => Promise<void>): () => Promise<void> {
  let running = true
  const repeated = (async () => {
    while (running) await step()
  })()
  repeated.catch(() => {})
  const stop = async (): Promise<void> => {
    running = false
    await repeated
  }
  stops.push(() => stop().catch(() => {}))
  return stop
}

/** Keeps the command from writing into a table of this database. The table can be read. */
export async function holdTable({ stops }: Pick<TwoStores, 'stops'>, url: string, table: string): Promise<HeldTable> {
  const client = await connect(url)
  stops.push(() => client.end().catch(() => {}))
  await client.query(`begin; lock table ${table} in exclusive mode`)
  return {
    async reached() {
      const waiting = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`
      await until(async () => (await query(url, waiting)).length > 0, {
        withinMs: 30_000,
        awaited: `the command waits for ${table}`,
      })
    },
    release: async () => void (await client.query('commit')),
  }
}

/** The tables of a new database after these migrations, and of `brandTables` and the others, both sorted. */
export async function compareTables(migrations: readonly Migration[], others: readonly string[]) {
  const url = await freshSchema()
  await migrateDatabase(url, migrations)
  const found = await query(
    url,
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  const described = brandTables(migrations).map(({ table }) => table)
  return { found: found.map(({ name }) => String(name)).sort(), described: [...described, ...others].sort() }
}
