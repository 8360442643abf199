// Users and their attributes come in as NDJSON or CSV of any length, one user in a line. Memory is bounded, the sender is slowed
// to the speed of the store, and sending a stream again is safe.

import { isUtf8 } from 'node:buffer'
import { type Static, Type } from 'typebox'
import { refusedLines, whole } from '../../contract/documents/described.ts'
import { HttpError } from '../../http/http.ts'
import { blocks, longestLine } from '../../http/lines.ts'
import { emit } from '../../runtime/events.ts'
import type { Database } from '../../store/database.ts'
import { type CsvReader, csvReader, type LineContext, type ReadLine, readNdjsonLine } from './read-line.ts'
import { putCrmUsers, type UserAttributes } from './users.ts'

export const ImportAnswer = Type.Object({
  users: whole('Lines that were read'),
  changed: whole('Of those: users of whom something was not known, or was known otherwise'),
  refused_count: whole(),
  refused: refusedLines,
})
export type ImportAnswer = Static<typeof ImportAnswer>

export interface Import {
  readonly database: Database
  readonly brand: string
  readonly format: 'ndjson' | 'csv'
  /** When lines without updated_at are said to have changed, in epoch milliseconds. */
  readonly at: number
  readonly now: number
}

const refusedListed = 1_000
/** In one transaction. */
const mostUsers = 2_000

export async function importUsers(stream: AsyncIterable<Buffer>, given: Import): Promise<ImportAnswer> {
  const { database, brand, format } = given
  const answer: ImportAnswer = { users: 0, changed: 0, refused_count: 0, refused: [] }
  const readers: Readers = { format, csv: undefined }
  let line = 0
  let putting: Promise<unknown> = Promise.resolve()

  const refuse = (error: string): void => {
    answer.refused_count++
    if (answer.refused.length < refusedListed) answer.refused.push({ line, error })
  }
  const put = async (users: ReadonlyMap<string, UserAttributes>): Promise<void> => {
    answer.changed += await putCrmUsers(database, brand, [...users.values()])
  }

  for await (const block of blocks(stream)) {
    if ('tooLong' in block) {
      line++
      refuse(`the line is longer than ${longestLine} bytes`)
      continue
    }
    let users = new Map<string, UserAttributes>()
    const whole = isUtf8(block.lines)
    for (const text of textOf(block.lines).split('\n')) {
      line++
      const read = whole || !text.includes('\ufffd') ? readWith(readers, text, given) : { invalid: 'it is not UTF-8' }
      if (read === undefined) continue
      if ('invalid' in read) refuse(read.invalid)
      else {
        answer.users++
        // A statement may not change a user twice: what is said of him again waits for the next one.
        if (users.has(read.userId) || users.size >= mostUsers) {
          await putting
          putting = put(users)
          putting.catch(() => {}) // seen at the next await
          users = new Map()
        }
        users.set(read.userId, read)
      }
    }
    await putting
    putting = put(users)
    putting.catch(() => {})
  }
  await putting
  emit('crm.imported', { brand, users: answer.users, changed: answer.changed, refused: answer.refused_count })
  return answer
}

function textOf(lines: Buffer): string {
  const end = lines.at(-1) === 10 ? lines.length - 1 : lines.length
  return lines.toString('utf8', 0, end)
}

interface Readers {
  readonly format: Import['format']
  csv: CsvReader | undefined
}

/** @returns undefined for a line that is empty, or the header */
function readWith(readers: Readers, text: string, context: LineContext): ReadLine | undefined {
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
