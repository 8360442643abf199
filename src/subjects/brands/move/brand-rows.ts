// The rows of one brand, as SQL. Pure.

import type { BrandTable, NumberShifts } from '../../../base/store/brand-table.ts'
import type { Migration } from '../../../base/store/database.ts'

/** The tables with rows of brands, each once. */
export function brandTables(migrations: readonly Migration[]): readonly BrandTable[] {
  const tables = migrations.flatMap((migration) => migration.brandTables ?? [])
  return [...new Map(tables.map((each) => [each.table, each])).values()]
}

/** The `from` and `where` of the brand's rows. The row is `t`. */
export function fromRows(tables: readonly BrandTable[], { table, ...of }: BrandTable, brand: string): string {
  const isOfBrand = (lane: string): string => `${lane} >= '${brand}/' and ${lane} < '${brand}0'`
  const from = `from ${table} t where`
  if (of.brand !== undefined) return `${from} t.${of.brand} = '${brand}'`
  if (of.lane !== undefined) return `${from} ${isOfBrand(`t.${of.lane}`)}`
  if (of.belongs) return `${from} ${of.belongs(isOfBrand)}`
  const keys = tables.flatMap((each) => {
    const key = each.refersTo?.[table]
    return key === undefined ? [] : [`select ${key} ${fromRows(tables, each, brand)}`]
  })
  return `${from} t.${of.key} in (${keys.join(' union ')})`
}

/** The columns of the brand's rows as the other database has them. */
export function shiftColumns(
  { table, identity, shifted }: BrandTable,
  columns: readonly string[],
  shifts: NumberShifts,
): string {
  const changed = {
    ...shifted?.(shifts),
    ...(identity !== undefined && { [identity]: `t.${identity} + ${shifts[table]}` }),
  }
  return columns.map((column) => `${changed[column] ?? `t.${column}`}`).join(', ')
}
