// A CSV or NDJSON file of users and their attributes: the simplest source, and a good one to start with.

import { readFile, stat } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { shown } from '../contract/shown.ts'
import { type AttributeSource, type Field, fields } from './attribute-source.ts'
import { chunksOf } from './id-chunks.ts'

interface Loaded {
  readonly version: string
  /** When the file was last modified: the timestamp of its data. */
  readonly writtenAt: Date
  readonly brands: ReadonlySet<string>
  readonly fields: readonly Field[]
  /** `field brand` → user ids. */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Reads a file with the columns user_id, brand (optional if `brand` is given here) and any of the nine fields of §2.5, each
 * true or false. The file is read again whenever it has changed. While it cannot be read, every message becomes fatal. A
 * look-up for a brand without a user in the file fails.
 *
 * @example await fileSource('./users.csv', { brand: '1' })
 * // user_id,blocked,excluded
 * // 1001,false,true
 */
export async function fileSource(
  path: string,
  { brand: onlyBrand }: { readonly brand?: string } = {},
): Promise<AttributeSource> {
  let loaded = await load(path, onlyBrand)

  async function current(): Promise<Loaded> {
    if ((await stateOf(path)).version === loaded.version) return loaded
    const next = await load(path, onlyBrand)
    // The send path requests the fields that the file had at the start, so a missing column must not read as an empty list.
    const missing = loaded.fields.filter((field) => !next.fields.includes(field))
    if (missing.length > 0)
      throw new Error(`${path} no longer has the column ${missing.join(', ')}: restore it, or restart this process`)
    loaded = { ...next, fields: loaded.fields }
    return loaded
  }

  return {
    name: `file ${path}`,
    fields: loaded.fields,
    async among(brand, userIds, requested) {
      const { brands, holders } = await current()
      if (!brands.has(brand)) throw unknownBrand(path, brand)
      return new Map(
        requested.map((field) => {
          const users = holders.get(`${field} ${brand}`)
          return [field, new Set(users ? userIds.filter((id) => users.has(id)) : [])]
        }),
      )
    },
    async all(brand, field) {
      const { brands, holders, writtenAt } = await current()
      if (!brands.has(brand)) throw unknownBrand(path, brand)
      return { timestamp: writtenAt.toISOString(), chunks: chunksOf(holders.get(`${field} ${brand}`) ?? []) }
    },
  }
}

/** An error, because an empty answer would claim that nobody is excluded. */
function unknownBrand(path: string, brand: string): Error {
  return new Error(`${path} has no users of brand ${brand}: add them, or configure another source for that brand`)
}

async function stateOf(path: string): Promise<{ version: string; writtenAt: Date }> {
  const { mtimeNs, size, ino, mtime } = await stat(path, { bigint: true })
  return { version: `${mtimeNs} ${size} ${ino}`, writtenAt: mtime }
}

async function load(path: string, onlyBrand: string | undefined): Promise<Loaded> {
  const state = await stateOf(path)
  const text = await readFile(path, 'utf8')
  const rows = text.trimStart().startsWith('{') ? readNdjson(text, path) : readCsv(text, path)
  const known = new Set<Field>()
  const brands = new Set<string>()
  const holders = new Map<string, Set<string>>()
  for (const { line, row } of rows) {
    const userId = row.user_id
    const brand = row.brand ?? onlyBrand
    if (userId === undefined || userId === '') throw new Error(`${path}:${line}: no user_id`)
    if (brand === undefined || brand === '')
      throw new Error(`${path}:${line}: no brand: add the column, or set brand in the configuration`)
    brands.add(brand)
    for (const field of fields) {
      const value = row[field]
      if (value === undefined) continue
      known.add(field)
      if (value !== 'true' && value !== 'false')
        throw new Error(`${path}:${line}: ${field} is ${shown(value)}; write true or false`)
      if (value === 'false') continue
      const key = `${field} ${brand}`
      const users = holders.get(key)
      if (users) users.add(userId)
      else holders.set(key, new Set([userId]))
    }
  }
  if (known.size === 0) throw new Error(`${path} has none of the columns ${fields.join(', ')}`)
  return { ...state, brands, fields: fields.filter((field) => known.has(field)), holders }
}

interface Row {
  readonly line: number
  readonly row: Readonly<Record<string, string | undefined>>
}

function readCsv(text: string, path: string): Row[] {
  try {
    const rows = parse(text, { columns: true, bom: true, trim: true, skip_empty_lines: true, info: true }) as {
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
      rows.push({ line: i + 1, row: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])) })
    } catch (error) {
      throw new Error(`${path}:${i + 1}: ${(error as Error).message}`)
    }
  }
  return rows
}
