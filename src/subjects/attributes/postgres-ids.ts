// Compares a column of ids with an array of the column's own type, so that PostgreSQL can use its index.

import type { RunQuery } from '../../base/store/postgres-readers.ts'
import type { Field } from './attribute-source.ts'

export interface IdKind {
  /** Whether a column of this type can hold the id. Other ids are left out of the query. */
  fits(id: string): boolean
  /** The SQL condition on the column `id`; this parameter holds the ids. */
  among(parameter: number): string
}

const text: IdKind = { fits: () => true, among: (n) => `id = any($${n}::text[])` }
const integer: IdKind = { fits: isInteger, among: (n) => `id = any($${n}::bigint[])` }
const uuid: IdKind = {
  fits: (id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id),
  among: (n) => `id = any($${n}::uuid[])`,
}
/** Any other type is compared as text; an index on `(id::text)` helps. */
const other: IdKind = { fits: () => true, among: (n) => `id::text = any($${n}::text[])` }

/** By the type's OID in pg_type. */
const kinds = new Map([
  [20, integer],
  [21, integer],
  [23, integer],
  [25, text],
  [1043, text],
  [2950, uuid],
])

/** Looks up the type of the query's column. @throws if the query fails or does not have exactly one column */
export async function kindOf(run: RunQuery, field: Field, query: string): Promise<IdKind> {
  const { fields } = await run(`select * from (${query}\n) q limit 0`)
  const [column, ...more] = fields
  if (column && more.length === 0) return kinds.get(column.dataTypeID) ?? other
  throw new Error(`the query for ${field} returns ${fields.length} columns: select only the user id`)
}

function isInteger(id: string): boolean {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(id)) return false
  return id.length < 19 || BigInt.asIntN(64, BigInt(id)) === BigInt(id)
}
