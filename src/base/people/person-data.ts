// The inventory of what a store holds about a person. Each subject describes its own tables, and exports and erases their rows.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Op } from '../store/database.ts'
import type { ErasedPerson, Person } from './digest.ts'

/** What erasure does with the columns of a table. Each column of the table is in exactly one of the lists. */
export type PersonTable = { readonly table: string } & (
  | {
      /** The rows of the person are deleted. */
      readonly deleted: true
    }
  | {
      /** Replaced by a keyed digest. */
      readonly digest?: readonly string[]
      /** Overwritten, or set to null. */
      readonly emptied?: readonly string[]
      /** Still of the person after the erasure, with the reason. */
      readonly kept?: Readonly<Record<string, string>>
      /** Without a relation to a person. */
      readonly impersonal: readonly string[]
    }
)

/** The rows of a person in the tables of one subject. */
export interface PersonPart {
  /** The name of the list in the exported file. */
  readonly name: string
  readonly tables: readonly PersonTable[]
  /** Rows that erasure cannot find, because their user cannot be read, with the reason. */
  readonly unfound?: Readonly<Record<string, string>>
  /** An erasure changes no row of it. */
  readonly isRecord?: true
  /** Reads the rows in pages, always in the same order. Each look-up uses an index. */
  read(database: Database, person: Person): AsyncIterable<readonly object[]>
  /** Erases the rows from before `person.at`, in bounded commits. A call that was interrupted can be repeated. */
  erase(database: Database, person: ErasedPerson): Promise<ErasedRows>
}

export interface ErasedRows {
  /** Rows that this call erased. */
  readonly erased: number
  /** Rows that cannot be erased yet, because they are in use. */
  readonly waiting: number
}

/** Rows that are found by the identifiers of the person's messages only. They are exported within the messages. */
export interface IdentifiedPart<Id> {
  readonly name: string
  readonly tables: readonly PersonTable[]
  read(database: Database, ids: readonly Id[]): Promise<readonly object[]>
  /** For the commit that erases the rows which have the identifiers. */
  eraseOps(ids: readonly Id[], person: ErasedPerson): readonly Op[]
}

/** The parts of a side, with the database of each. */
export type PersonParts = readonly { readonly database: Database; readonly part: PersonPart }[]

/** The columns that stay after an erasure, each with the reason. */
export function keptColumns(parts: PersonParts): { column: string; as: string; why: string }[] {
  const tables = parts.flatMap(({ part }) => part.tables)
  return tables.flatMap((each) => {
    if ('deleted' in each) return []
    const digests = (each.digest ?? []).map((name) => ({
      column: `${each.table}.${name}`,
      as: 'digest',
      why: 'a repetition or a late event is recognized by it',
    }))
    const kept = Object.entries(each.kept ?? {}).map(([name, why]) => ({
      column: `${each.table}.${name}`,
      as: 'unchanged',
      why,
    }))
    return [...digests, ...kept]
  })
}

/** The rows that no erasure finds. */
export const unfoundRows = (parts: PersonParts): { column: string; as: string; why: string }[] =>
  parts.flatMap(({ part }) =>
    Object.entries(part.unfound ?? {}).map(([column, why]) => ({ column, as: 'unchanged', why })),
  )

/** The number of rows of each part that an erasure would erase or change. */
export async function countPerson(person: Person, parts: PersonParts): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { database, part } of parts.filter((each) => !each.part.isRecord)) {
    let count = counts[part.name] ?? 0
    for await (const rows of pagesOf(database, part, person)) count += rows.length
    counts[part.name] = count
  }
  return counts
}

/** Writes the rows of all parts as one JSON object, page by page: an interrupted export is no valid JSON. */
export async function* writePerson(head: object, person: Person, parts: PersonParts): AsyncGenerator<string> {
  yield JSON.stringify(head).slice(0, -1)
  for (const { database, part } of parts) {
    yield `,\n${JSON.stringify(part.name)}:[`
    let separator = '\n'
    for await (const rows of pagesOf(database, part, person)) {
      if (rows.length === 0) continue
      yield `${separator}${rows.map((row) => JSON.stringify(row)).join(',\n')}`
      separator = ',\n'
    }
    yield ']'
  }
  yield '}\n'
}

/** SQLite reads without a turn of the event loop: other work gets one after each page. */
async function* pagesOf(database: Database, part: PersonPart, person: Person): AsyncGenerator<readonly object[]> {
  for await (const rows of part.read(database, person)) {
    yield rows
    await nextTurn()
  }
}
