// How a column of ids is compared with texts so that its index can be used: an array of its own type.

import type pg from 'pg'
import type { Field } from './attribute-source.ts'

export interface IdKind {
  /** Whether such a column can hold this id; others are not asked for. */
  fits(id: string): boolean
  /** The condition on the column `id`, with the ids in this parameter. */
  among(parameter: number): string
}

const text: IdKind = { fits: () => true, among: (n) => `id = any($${n}::text[])` }
const integer: IdKind = { fits: isInteger, among: (n) => `id = any($${n}::bigint[])` }
const uuid: IdKind = {
  fits: (id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id),
  among: (n) => `id = any($${n}::uuid[])`,
}
/** Anything else is compared as it is written; an index on `(id::text)` helps. */
const written: IdKind = { fits: () => true, among: (n) => `id::text = any($${n}::text[])` }

/** By the type's number in pg_type. */
const kinds = new Map([
  [20, integer],
  [21, integer],
  [23, integer],
  [25, text],
  [1043, text],
  [2950, uuid],
])

/** Asks for the type of a query's column. @throws where the query fails, or has not exactly one column */
export async function kindOf(client: pg.ClientBase, field: Field, query: string): Promise<IdKind> {
  const { fields } = await client.query(`select * from (${query}\n) q limit 0`)
  const [column, ...more] = fields
  if (column && more.length === 0) return kinds.get(column.dataTypeID) ?? written
  throw new Error(`the query for ${field} gives ${fields.length} columns: let it select the user's id alone`)
}

function isInteger(id: string): boolean {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(id)) return false
  return id.length < 19 || BigInt.asIntN(64, BigInt(id)) === BigInt(id)
}
