import type { Database } from './database.ts'
import { op, statement } from './statement.ts'

export interface TableSize {
  /** A partitioned table counts as one. On SQLite `all`: the file is not divided by table. */
  readonly table: string
  /** With indexes. */
  readonly bytes: number
}

const postgresSizes = statement<TableSize>('table_sizes', {})`
  select coalesce(p.relname, c.relname) as "table", sum(pg_total_relation_size(c.oid))::bigint as bytes
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
  group by 1 order by 2 desc, 1`

const sqliteSize = statement<TableSize>('file_size', {})`
  select 'all' as "table", c.page_count * s.page_size as bytes from pragma_page_count c, pragma_page_size s`

/** The disk space of each table, the largest first. Reads no rows, so it is cheap at any size. */
export function readSizes(database: Database): Promise<readonly TableSize[]> {
  return database.read(op(database.engine === 'sqlite' ? sqliteSize : postgresSizes, [[]]))
}
