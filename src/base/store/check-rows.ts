import { isStorable, UnstorableText } from '../runtime/unstorable.ts'
import type { Op, Value } from './database.ts'

/**
 * Rejects invalid rows before they reach the database, so that only their own caller fails: a wrong number of values, wrong
 * types, and text with U+0000 or a lone surrogate, which PostgreSQL cannot store and SQLite would change.
 *
 * @returns the approximate size of the rows in characters
 */
export function checkRows(op: Op): number {
  const { statement, rows } = op
  const { names, types } = statement
  let size = 0
  for (const row of rows) {
    if (row.length !== names.length) {
      throw new TypeError(`Statement ${statement.name}: a row has ${row.length} values for its ${names.length} columns`)
    }
    for (let i = 0; i < types.length; i++) {
      const value = row[i] as Value
      if (typeof value === 'string' && types[i] === 'text') {
        if (!isStorable(value)) throw new UnstorableText(names[i] as string)
        size += value.length
      } else if (value !== null && (types[i] !== 'bigint' || !Number.isSafeInteger(value))) {
        throw new TypeError(
          `Statement ${statement.name}: ${names[i]} is ${types[i]}, but got ${typeof value} ${String(value)}`,
        )
      }
    }
    size += 8 * types.length
  }
  return size
}
