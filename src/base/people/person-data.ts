// The inventory of what a store holds about a person. Each subject describes its own tables, and exports and erases their rows.

import type { Database } from '../store/database.ts'

/** A user of a brand. */
export interface Person {
  readonly brand: string
  readonly userId: string
}

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
  /** Reads the rows in pages, always in the same order. Each look-up uses an index. */
  read(database: Database, person: Person): AsyncIterable<readonly object[]>
}

/** Rows that are found by the identifiers of the person's messages only. They are exported within the messages. */
export interface IdentifiedPart<Id> {
  readonly name: string
  readonly tables: readonly PersonTable[]
  read(database: Database, ids: readonly Id[]): Promise<readonly object[]>
}

/** The parts of a side, with the database of each. */
export type PersonParts = readonly { readonly database: Database; readonly part: PersonPart }[]

/** Writes the rows of all parts as one JSON object, page by page: an interrupted export is no valid JSON. */
export async function* writePerson(head: object, person: Person, parts: PersonParts): AsyncGenerator<string> {
  yield JSON.stringify(head).slice(0, -1)
  for (const { database, part } of parts) {
    yield `,\n${JSON.stringify(part.name)}:[`
    let separator = '\n'
    for await (const rows of part.read(database, person))
      for (const row of rows) {
        yield `${separator}${JSON.stringify(row)}`
        separator = ',\n'
      }
    yield ']'
  }
  yield '}\n'
}
