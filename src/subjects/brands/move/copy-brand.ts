// Copies the rows of a frozen brand into another store, with one snapshot of the source and in one transaction of the target.

import type pg from 'pg'
import { passFreeze } from '../../../base/queue/owners/brand-moves.ts'
import type { BrandTable, NumberShifts } from '../../../base/store/brand-table.ts'
import { inTransaction } from '../../../base/store/postgres-client.ts'
import { copyRows } from '../../../base/store/postgres-copy.ts'
import { fromRows, shiftColumns } from './brand-rows.ts'
import { withLockTimeout } from './freeze.ts'

export interface RowCount {
  readonly table: string
  readonly rows: number
}

/** Counts the rows that are copied. */
export async function countRows(
  client: pg.Client,
  tables: readonly BrandTable[],
  brand: string,
): Promise<readonly RowCount[]> {
  const counts: RowCount[] = []
  for (const each of tables) {
    if (each.derived) continue
    const { rows } = await client.query<{ n: number }>(`select count(*) as n ${fromRows(tables, each, brand)}`)
    counts.push({ table: each.table, rows: rows[0]?.n ?? 0 })
  }
  return counts
}

/**
 * Reserves numbers in the target for the numbers of each identity column, behind those that it has assigned. The source must be
 * in the transaction whose snapshot is copied.
 *
 * @returns the constants to add to the numbers
 */
export async function reserveNumbers(
  source: pg.Client,
  target: pg.Client,
  tables: readonly BrandTable[],
  brand: string,
): Promise<NumberShifts> {
  const shifts: Record<string, string> = {}
  for (const each of tables) {
    const { table, identity } = each
    if (identity === undefined) continue
    const { rows } = await source.query<{ first: number | null; last: number | null }>(
      `select min(t.${identity}) as first, max(t.${identity}) as last ${fromRows(tables, each, brand)}`,
    )
    const { first, last } = rows[0] ?? {}
    if (first === null || first === undefined || last === null || last === undefined) shifts[table] = '0'
    else {
      const reserved = await withLockTimeout(target, () => advance(target, table, identity, last - first + 1))
      shifts[table] = `(${reserved - first})`
    }
  }
  return shifts
}

/** Advances an identity column. @returns the first of the reserved numbers */
function advance(client: pg.Client, table: string, column: string, numbers: number): Promise<number> {
  return inTransaction(client, async () => {
    const found = await client.query<{ name: string }>(`select pg_get_serial_sequence('${table}', '${column}') as name`)
    const sequence = found.rows[0]?.name
    // Locks the sequence until the commit: no other process may get a number between the two parts of setval().
    await client.query(`alter sequence ${sequence} cache 1`)
    const { rows } = await client.query<{ last: number }>(
      `select setval('${sequence}', (case when is_called then last_value else last_value - 1 end) + ${numbers}) as last from ${sequence}`,
    )
    return (rows[0] as { last: number }).last - numbers + 1
  })
}

/** Copies the rows of all tables. Both clients are in a transaction. @param onTable called before each table */
export async function copyBrand(
  source: pg.Client,
  target: pg.Client,
  {
    tables,
    brand,
    shifts,
    onTable,
  }: {
    readonly tables: readonly BrandTable[]
    readonly brand: string
    readonly shifts: NumberShifts
    readonly onTable: (table: string) => void
  },
): Promise<void> {
  // The target may have frozen rows of its own, from the time when the brand left it.
  await target.query(passFreeze)
  for (const each of tables) {
    if (each.derived) continue
    onTable(each.table)
    const columns = await readColumns(source, each.table)
    const query = `select ${shiftColumns(each, columns, shifts)} ${fromRows(tables, each, brand)}`
    if (each.key === undefined) await copyRows(source, query, target, `${each.table} (${columns.join(', ')})`)
    else await copyMissingRows(source, query, target, each.table)
  }
}

/** Copies rows of which the target may have some already. */
async function copyMissingRows(source: pg.Client, query: string, target: pg.Client, table: string): Promise<void> {
  await target.query(`create temporary table moved_${table} (like ${table}) on commit drop`)
  await copyRows(source, query, target, `moved_${table}`)
  await target.query(`insert into ${table} select * from moved_${table} on conflict do nothing`)
}

async function readColumns(client: pg.Client, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1 order by ordinal_position',
    [table],
  )
  return rows.map(({ name }) => name)
}
