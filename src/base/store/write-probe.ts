// The table of write probes: src/base/store/migrate.ts creates it in every store. A row lives only during a probe.

import type { Database } from './database.ts'
import { op, rows, statement } from './statement.ts'

export const createProbeTable = (key: string): string =>
  `create table if not exists write_probes (owner ${key} primary key, at bigint not null, contents text not null)`

/** @param contents SQL: a text of `r.size` characters that is stored without compression */
const insertProbe = (contents: string) =>
  statement('insert_probe', { owner: 'text', at: 'bigint', size: 'bigint' })`
    insert into write_probes (owner, at, contents) select r.owner, r.at, ${contents} from ${rows} r where true
    on conflict (owner) do update set at = excluded.at, contents = excluded.contents`
const probes = {
  sqlite: insertProbe('hex(zeroblob(r.size / 2))'),
  postgres: insertProbe(
    `coalesce((select string_agg(md5(random()::text), '') from generate_series(1, r.size / 32)), '')`,
  ),
}
/** Characters of a large probe. */
const largeSize = { sqlite: 1024 * 1024, postgres: 64 * 1024 }

const deleteProbe = statement('delete_probe', { owner: 'text' })`
  delete from write_probes where owner in (select r.owner from ${rows} r)`

let count = 0

/** Writes to the store, and deletes what it has written. */
export async function probeWrites(
  { engine, owner, commit }: Pick<Database, 'engine' | 'owner' | 'commit'>,
  large: boolean,
): Promise<void> {
  // `at` differs: SQLite writes nothing for a row that does not change.
  const insert = op(probes[engine], [[owner, ++count, large ? largeSize[engine] : 0]])
  const remove = op(deleteProbe, [[owner]])
  const options = { durable: large, urgent: true }
  // PostgreSQL allocates the space at the insert, SQLite at the commit.
  if (engine === 'postgres') await commit([insert, remove], options)
  else {
    await commit([insert], options)
    await commit([remove], options)
  }
}
