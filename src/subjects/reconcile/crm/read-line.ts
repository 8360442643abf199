// Reads one line of an import: a user with attributes. Pure.

import { parse } from 'csv-parse/sync'
import { checkColumns, checkName, findShortened } from '../../../base/runtime/csv-columns.ts'
import { isPrintable, mostText } from '../../../contract/ids.ts'
import { repeatedMember } from '../../../contract/members.ts'
import { shown } from '../../../contract/shown.ts'
import { sourceOf } from '../../../contract/source.ts'
import { readTimestamp } from '../timestamp.ts'
import { type Field, fields, type UserAttributes } from './users.ts'

export type ReadLine = UserAttributes | { readonly invalid: string }

export interface LineContext {
  readonly brand: string
  /** The time of change for lines without updated_at, in epoch milliseconds. */
  readonly at: number
  readonly now: number
}

/** The tolerance for clocks that are ahead. */
const maxAheadMs = 60_000

/** @example readNdjsonLine('{"user_id":"1001","blocked":true}', context) */
export function readNdjsonLine(line: string, context: LineContext): ReadLine {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch (error) {
    return { invalid: `not JSON: ${(error as Error).message}` }
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return { invalid: 'not a JSON object' }
  const repeated = repeatedMember(sourceOf(line.trim()))
  if (repeated !== undefined) return { invalid: `the member ${shown(repeated)} occurs twice` }
  return readRecord(record as Record<string, unknown>, context)
}

const names: readonly string[] = ['user_id', 'brand', 'updated_at', ...fields]

export interface CsvReader {
  read(line: string, context: LineContext): ReadLine
}

/** @param header the first line. @throws Error if it lacks the necessary columns, or a column is ambiguous */
export function csvReader(header: string): CsvReader {
  const columns = checkColumns(readHeader(header), names)
  if (!columns.includes('user_id')) throw new Error(noColumns(header))
  if (!columns.some((name) => fields.includes(name as Field)))
    throw new Error(`no column is an attribute: name at least one of ${fields.join(', ')}`)
  return {
    read(line, context) {
      let values: string[]
      try {
        values = readCells(line)
      } catch (error) {
        return { invalid: `not CSV: ${(error as Error).message}` }
      }
      const shortened = findShortened(values[columns.indexOf('user_id')]?.trim() ?? '')
      if (shortened !== undefined) return { invalid: shortened }
      if (values.length !== columns.length)
        return { invalid: `it has ${values.length} columns, the first line ${columns.length}` }
      // An empty cell is ignored.
      const entries = columns.map((name, i) => [name, values[i]?.trim()] as const).filter(([, value]) => value !== '')
      return readRecord(Object.fromEntries(entries), context)
    },
  }
}

function readHeader(header: string): string[] {
  try {
    return readCells(header.replace(/^\ufeff/, '')).map((name) => name.trim())
  } catch {
    throw new Error(noColumns(header))
  }
}

const noColumns = (header: string): string =>
  `the first line must name the columns, separated by commas, user_id among them; it is: ${header.slice(0, 200)}`

function readCells(line: string): string[] {
  if (!line.includes('"')) return line.split(',')
  return (parse(line, { relax_column_count: true }) as string[][])[0] ?? []
}

/** Whether the CRM can store a user with this id. */
export const canStoreUserId = (id: string): boolean =>
  id !== '' && id.length <= mostText && isPrintable(id) && id.isWellFormed()

/** @param record the record of one user, from a line or a request */
export function readRecord(record: Readonly<Record<string, unknown>>, { brand, at, now }: LineContext): ReadLine {
  try {
    for (const name of Object.keys(record)) checkName('member', name, names)
  } catch (error) {
    return { invalid: (error as Error).message }
  }
  const { user_id: userId, updated_at: updatedAt } = record
  const id = typeof userId === 'number' && Number.isSafeInteger(userId) ? String(userId) : userId
  if (typeof id !== 'string' || id === '') return { invalid: 'user_id is missing: write it as a string' }
  if (!canStoreUserId(id)) return { invalid: `user_id must have at most ${mostText} printable characters` }
  const brandId = typeof record.brand === 'number' ? String(record.brand) : record.brand
  if (brandId !== undefined && brandId !== brand)
    return { invalid: `brand is ${shown(record.brand)}, but this import is for brand ${brand}` }
  const values: Partial<Record<Field, boolean>> = {}
  for (const field of fields) {
    const value = record[field]
    if (value === undefined || value === null) continue
    const flag = typeof value === 'string' ? words[value.toLowerCase()] : value
    if (typeof flag !== 'boolean') return { invalid: `${field} is ${shown(value)}: write true or false` }
    values[field] = flag
  }
  if (Object.keys(values).length === 0)
    return { invalid: `there is no attribute: set at least one of ${fields.join(', ')}` }
  if (updatedAt === undefined || updatedAt === null) return { userId: id, at, values }
  const changedAt = typeof updatedAt === 'string' ? readTimestamp(updatedAt) : undefined
  if (changedAt === undefined) return { invalid: `updated_at cannot be read: write it as 2020-01-01T10:00:00Z` }
  // A value with a future time could not be changed before that time.
  if (changedAt > now + maxAheadMs) return { invalid: 'updated_at is in the future' }
  return { userId: id, at: changedAt, values }
}

const words: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }
