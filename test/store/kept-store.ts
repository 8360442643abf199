// The stores of a release, kept as files in test/store/kept/VERSION: of each side a SQLite file and the SQL of a PostgreSQL schema.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Migration } from '../../src/base/store/database.ts'
import { migrate } from '../../src/base/store/migrate.ts'
import { postgresDialect } from '../../src/base/store/postgres-migrate.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { platformDatabases } from '../../src/sides/platform/stores.ts'
import { away, other, person } from '../people/planted.ts'
import { query } from '../support/services/postgres.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform } from '../support/sides.ts'

export const keptFolder = join(import.meta.dirname, 'kept')
export const sides = ['operator', 'platform'] as const
export type Side = (typeof sides)[number]

export const migrationsOf: Readonly<Record<Side, readonly Migration[]>> = {
  operator: operatorMigrations,
  platform: platformDatabases({ store: 'postgres://x/y' }).flatMap(({ migrations }) => migrations),
}

/** The SQLite files of a side. */
const filesOf = (side: Side): readonly string[] => (side === 'operator' ? ['operator'] : ['platform', 'platform-crm'])

/** Starts a side on a store, and reads what a user of the store would miss. */
export async function readAnswers(t: TestContext, side: Side, store: string): Promise<Record<string, unknown>> {
  const { url, stop } = await startSide(t, side, store)
  const answers: Record<string, unknown> = {}
  for (const path of ['audit?limit=1000', 'summary', ...(side === 'platform' ? ['failed'] : [])])
    answers[path] = (await get(`${url}/admin/${path}`)).body
  for (const { userId } of [person, other]) {
    const { exported_at: _, audit, ...data } = (await get(`${url}/admin/people/1/${userId}`)).body
    answers[userId] = { ...data, audit: audit.filter(({ act }: { act: string }) => act !== 'people.export') }
  }
  answers.repeated =
    side === 'operator'
      ? (await post(`${url}/channels/push/single`, repeated, keys.one.key)).body
      : (await post(`${url}/admin/activities/push`, [repeated], adminKey.key)).body
  await stop()
  return answers
}
/** The message is known: it is not delivered again. */
const repeated = element({ id: 1, user_id: person.userId }, { title: `${person.text} 1` })

function startSide(t: TestContext, side: Side, store: string) {
  if (side === 'operator') return startOperator(t, { store, status: {}, publish: [{ brand: '1', publisher: away }] })
  const provider = {
    name: 'silent',
    max: 100,
    send: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', reject)),
  }
  return startPlatform(t, {
    store,
    lanes: (['push', 'site'] as const).map((channel) => ({ brand: '1', channel, mode: 'batch', provider })),
  })
}

export function keepFiles(folder: string, side: Side, kept: string): void {
  for (const name of filesOf(side)) {
    const db = new DatabaseSync(join(folder, `${name}.db`))
    const copy = join(folder, `${name}-copy.db`)
    db.exec(`vacuum into '${copy}'`)
    db.close()
    writeFileSync(join(kept, `${name}.db.gz`), gzipSync(readFileSync(copy), { level: 9 }))
  }
}

export function restoreFiles(kept: string, side: Side, folder: string): string {
  for (const name of filesOf(side))
    writeFileSync(join(folder, `${name}.db`), gunzipSync(readFileSync(join(kept, `${name}.db.gz`))))
  return `sqlite:${join(folder, `${side}.db`)}`
}

/** @returns the SQL that makes the schema again, with its rows */
export async function dumpSchema(url: string, side: Side): Promise<string> {
  const statements: string[] = []
  await migrate(migrationsOf[side], {
    dialect: postgresDialect,
    run: async (some) => void statements.push(...some),
    query: async () => [],
  })
  const partitions = await query(
    url,
    `select c.relname as name, p.relname as of, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`,
  )
  for (const { name, of, bound } of partitions)
    statements.push(
      `create table ${name} (like ${of} including all)`,
      `alter table ${of} attach partition ${name} ${bound}`,
    )
  // Counts are rows of their own: their triggers must not count again.
  statements.push('set session_replication_role = replica')
  const tables = await query(
    url,
    `select relname as name from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace
       and relname <> 'migrations' order by 1`,
  )
  for (const { name } of tables) {
    const [{ rows } = {}] = await query(url, `select json_agg(t)::text as rows from ${name} t`)
    if (rows)
      statements.push(
        // A migration may insert rows.
        `delete from ${name}`,
        `insert into ${name} overriding system value select * from json_populate_recordset(null::${name}, $json$${rows}$json$)`,
      )
  }
  const identities = await query(
    url,
    `select table_name as of, column_name as name from information_schema.columns
     where is_identity = 'YES' and table_schema = current_schema() order by 1`,
  )
  for (const { of, name } of identities)
    statements.push(
      `select setval(pg_get_serial_sequence('${of}', '${name}'), (select greatest(1, max(${name})) from ${of}))`,
    )
  statements.push('set session_replication_role = origin')
  return `${statements.join(';\n')};\n`
}
