// Imports users and their attributes from NDJSON or CSV of any length, one user per line. Memory is bounded, the sender is slowed
// down to the speed of the store, and the same stream can be sent again.

import { isUtf8 } from 'node:buffer'
import { type Static, Type } from 'typebox'
import { HttpError } from '../../../base/http/http.ts'
import { blocks, longestLine } from '../../../base/http/lines.ts'
import { emit } from '../../../base/runtime/events.ts'
import type { Database, Op } from '../../../base/store/database.ts'
import { refusedLines, whole } from '../../../contract/documents/described.ts'
import { findLifted } from './protections.ts'
import { type CsvReader, csvReader, type LineContext, type ReadLine, readNdjsonLine } from './read-line.ts'
import { type UserAttributes, upsertCrmUsers } from './users.ts'

export const ImportAnswer = Type.Object({
  users: whole('The accepted lines'),
  changed: whole('The accepted lines that changed a user'),
  refused_count: whole(),
  refused: refusedLines,
})
export type ImportAnswer = Static<typeof ImportAnswer>

export interface ImportOptions extends LineContext {
  readonly database: Database
  readonly format: 'ndjson' | 'csv'
  /** Why a line must not end a block or an exclusion. Undefined: it may. */
  readonly refusesLift: string | undefined
  /** Operations for each commit, which stores this many users and ends the protections of some. */
  readonly also: (count: number, lifted: Lifted) => readonly Op[]
}

export type Lifted = Awaited<ReturnType<typeof findLifted>>

const maxRefusedListed = 1_000
/** The most users of one transaction. */
const maxUsers = 2_000
/** The same, if each of them may have an entry of its own in the audit trail. */
const maxLifted = 200

export async function importUsers(stream: AsyncIterable<Buffer>, options: ImportOptions): Promise<ImportAnswer> {
  const { database, brand, format, also, refusesLift } = options
  const most = refusesLift === undefined ? maxLifted : maxUsers
  const answer: ImportAnswer = { users: 0, changed: 0, refused_count: 0, refused: [] }
  const readers: LineReaders = { format, csv: undefined }
  let line = 0
  let storing: Promise<unknown> = Promise.resolve()

  const refuse = (error: string, at = line): void => {
    answer.refused_count++
    if (answer.refused.length < maxRefusedListed) answer.refused.push({ line: at, error })
  }
  const storeUsers = async (users: ReadonlyMap<string, NumberedLine>): Promise<void> => {
    const all = [...users.values()]
    const lifted = await findLifted(
      database,
      brand,
      all.map(({ user }) => user),
    )
    const accepted = refusesLift === undefined ? all : all.filter(({ user }) => !lifted.has(user.userId))
    answer.users += accepted.length
    if (refusesLift !== undefined)
      for (const { user, number } of all) {
        const fields = lifted.get(user.userId)
        if (fields) refuse(`it ends ${fields.join(' and ')}: ${refusesLift}`, number)
      }
    if (accepted.length === 0) return
    const stored = accepted.map(({ user }) => user)
    const mayLift = refusesLift === undefined && lifted.size > 0
    answer.changed += await upsertCrmUsers(database, brand, stored, { also: also(stored.length, lifted), mayLift })
  }

  for await (const block of blocks(stream)) {
    if ('tooLong' in block) {
      line++
      refuse(`the line is longer than ${longestLine} bytes`)
      continue
    }
    let users = new Map<string, NumberedLine>()
    const isValidUtf8 = isUtf8(block.lines)
    for (const text of textOf(block.lines).split('\n')) {
      line++
      const read =
        isValidUtf8 || !text.includes('\ufffd') ? readLine(readers, text, options) : { invalid: 'it is not UTF-8' }
      if (read === undefined) continue
      if ('invalid' in read) refuse(read.invalid)
      else {
        // A statement must not change a user twice: a repeated user starts the next statement.
        if (users.has(read.userId) || users.size >= most) {
          await storing
          storing = storeUsers(users)
          storing.catch(() => {}) // an error is thrown by the next await
          users = new Map()
        }
        users.set(read.userId, { user: read, number: line })
      }
    }
    await storing
    storing = storeUsers(users)
    storing.catch(() => {})
  }
  await storing
  answer.refused.sort((a, b) => a.line - b.line)
  if (format === 'csv' && !readers.csv)
    throw new HttpError(400, 'the body is empty: its first line must name the columns')
  emit('crm.imported', { brand, users: answer.users, changed: answer.changed, refused: answer.refused_count })
  return answer
}

function textOf(lines: Buffer): string {
  const end = lines.at(-1) === 10 ? lines.length - 1 : lines.length
  return lines.toString('utf8', 0, end)
}

interface NumberedLine {
  readonly user: UserAttributes
  readonly number: number
}

interface LineReaders {
  readonly format: ImportOptions['format']
  csv: CsvReader | undefined
}

/** @returns undefined for an empty line or the header */
function readLine(readers: LineReaders, text: string, context: LineContext): ReadLine | undefined {
  const line = text.endsWith('\r') ? text.slice(0, -1) : text
  if (line.trim() === '') return undefined
  if (readers.format === 'ndjson') return readNdjsonLine(line, context)
  if (readers.csv) return readers.csv.read(line, context)
  try {
    readers.csv = csvReader(line)
  } catch (error) {
    throw new HttpError(400, (error as Error).message)
  }
  return undefined
}
