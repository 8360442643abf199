// Deletes the rows of a brand that has moved to another store, in bounded steps.

import type pg from 'pg'
import { passFreeze } from '../../../base/queue/owners/brand-moves.ts'
import type { BrandTable } from '../../../base/store/brand-table.ts'
import { fromRows } from './brand-rows.ts'

const stepRows = 5_000

/**
 * Deletes the rows of all tables. A call that was interrupted can be repeated. Rows of tables with a `key` are left to retention,
 * which drops them by day.
 *
 * @returns the number of deleted rows
 */
export async function deleteBrand(client: pg.Client, tables: readonly BrandTable[], brand: string): Promise<number> {
  await client.query(passFreeze)
  let deleted = 0
  // Rows that are found by rows of other tables come first, and derived rows last.
  for (const each of tables.toSorted((a, b) => placeOf(a) - placeOf(b)))
    if (each.key === undefined) deleted += await deleteRows(client, tables, each, brand)
  return deleted
}

const placeOf = ({ belongs, derived }: BrandTable): number => (belongs ? 0 : derived ? 2 : 1)

/** A cursor lists the rows once. Searching for them again in each step would read all index entries that are not vacuumed yet. */
async function deleteRows(
  client: pg.Client,
  tables: readonly BrandTable[],
  each: BrandTable,
  brand: string,
): Promise<number> {
  const rowsOfBrand = fromRows(tables, each, brand)
  await client.query(`declare rows_to_delete no scroll cursor with hold for select t.ctid ${rowsOfBrand}`)
  let deleted = 0
  try {
    for (;;) {
      const { rows } = await client.query<{ ctid: string }>(`fetch ${stepRows} from rows_to_delete`)
      if (rows.length === 0) return deleted
      // Retention may have deleted a row, and its place may have a row of another brand now.
      const result = await client.query(`delete ${rowsOfBrand} and t.ctid = any($1::tid[])`, [
        rows.map(({ ctid }) => ctid),
      ])
      if (!each.derived) deleted += result.rowCount ?? 0
    }
  } finally {
    await client.query('close rows_to_delete')
  }
}
