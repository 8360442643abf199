// Reads the text of a user list: CSV or NDJSON. Ambiguous input is refused, because one of its readings could message a blocked user.

import { parse } from 'csv-parse/sync'
import { checkColumns, checkName, findShortened } from '../../base/runtime/csv-columns.ts'
import { repeatedMember } from '../../contract/members.ts'
import { shown } from '../../contract/shown.ts'
import { sourceOf } from '../../contract/source.ts'
import { type Field, fields } from './attribute-source.ts'

export interface UserList {
  readonly fields: readonly Field[]
  /** All users by brand, whatever their attributes. */
  readonly users: ReadonlyMap<string, ReadonlySet<string>>
  /** `field brand` → the users for whom the field is true. */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
}

const namesOfMembers = 'the first line of CSV names the columns, separated by commas; each line of NDJSON its members'

/** The fields that forbid messages. The others permit them. */
export const forbidding: readonly Field[] = ['blocked', 'excluded']

/**
 * A user who is listed twice gets the stricter value of each field.
 *
 * @throws an error with path and line
 * @example readUserList('user_id,blocked\n1001,true\n', 'users.csv', '1').holders.get('blocked 1') // Set { '1001' }
 */
export function readUserList(text: string, path: string, onlyBrand: string | undefined): UserList {
  const rows = text.trimStart().startsWith('{') ? readNdjson(text, path) : readCsv(text, path)
  const known = new Set<Field>()
  const users = new Map<string, Set<string>>()
  const holders = new Map<string, Set<string>>()
  for (const { line, row } of rows) {
    const userId = row.user_id
    const brand = row.brand ?? onlyBrand
    if (userId === undefined) throw new Error(`${path}:${line}: no user_id: ${namesOfMembers}`)
    if (userId === '') throw new Error(`${path}:${line}: user_id is empty`)
    const shortened = findShortened(userId)
    if (shortened !== undefined) throw new Error(`${path}:${line}: ${shortened}`)
    if (brand === undefined || brand === '')
      throw new Error(`${path}:${line}: no brand: add the column, or set brand in the configuration`)
    const ofBrand = setAt(users, brand)
    const isRepeated = ofBrand.has(userId)
    ofBrand.add(userId)
    for (const field of fields) {
      const value = row[field]
      if (value !== undefined) known.add(field)
      if (value !== undefined && value !== 'true' && value !== 'false')
        throw new Error(`${path}:${line}: ${field} is ${shown(value)}; write true or false`)
      const forbids = forbidding.includes(field)
      if (value === 'true' && (forbids || !isRepeated)) setAt(holders, `${field} ${brand}`).add(userId)
      if (value === 'false' && !forbids) holders.get(`${field} ${brand}`)?.delete(userId)
    }
  }
  if (known.size === 0) throw new Error(`${path} has none of the columns ${fields.join(', ')}`)
  return { users, fields: fields.filter((field) => known.has(field)), holders }
}

function setAt(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key)
  if (known) return known
  const created = new Set<string>()
  sets.set(key, created)
  return created
}

const names: readonly string[] = ['user_id', 'brand', ...fields]

interface Row {
  readonly line: number
  readonly row: Readonly<Record<string, string | undefined>>
}

function readCsv(text: string, path: string): Row[] {
  const columns = (header: readonly string[]): string[] => checkColumns(header, names)
  try {
    const rows = parse(text, { columns, bom: true, trim: true, skip_empty_lines: true, info: true }) as unknown as {
      record: Record<string, string>
      info: { lines: number }
    }[]
    return rows.map(({ record, info }) => ({ line: info.lines, row: record }))
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`)
  }
}

function readNdjson(text: string, path: string): Row[] {
  const rows: Row[] = []
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    try {
      const entries = Object.entries(JSON.parse(line) as Record<string, unknown>)
      const repeated = repeatedMember(sourceOf(line.trim()))
      if (repeated !== undefined) throw new Error(`the member ${shown(repeated)} occurs twice`)
      for (const [name, value] of entries) {
        checkName('member', name, names)
        if (typeof value === 'number' && !Number.isSafeInteger(value))
          throw new Error(`${name} is the number ${value}, whose digits may be lost: write it as a string`)
        if ((name === 'user_id' || name === 'brand') && typeof value !== 'string' && typeof value !== 'number')
          throw new Error(`${name} is ${shown(value)}: write it as a string`)
      }
      rows.push({ line: i + 1, row: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])) })
    } catch (error) {
      throw new Error(`${path}:${i + 1}: ${(error as Error).message}`)
    }
  }
  return rows
}
