// Reads a list of exclusions: CSV with user_id, excluded_at and perhaps readmitted_at.

import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { HttpError } from '../../base/http/http-error.ts'
import { checkColumns, findShortened } from '../../base/runtime/csv-columns.ts'
import { readMoment } from '../../contract/moment.ts'
import { shown } from '../../contract/shown.ts'
import type { Exclusion, Exclusions } from '../../subjects/delivery/permission-check.ts'

/** In memory, some 300 MB. */
const mostExclusions = 2_000_000

/** @throws HttpError with the line of a wrong entry: a list that is half understood would find nobody */
export async function readExclusions(body: AsyncIterable<Buffer>): Promise<Exclusions> {
  const names = ['user_id', 'excluded_at', 'readmitted_at']
  const columns = (header: readonly string[]): string[] => {
    const missing = names.slice(0, 2).filter((name) => !checkColumns(header, names).includes(name))
    if (missing.length > 0) throw new Error(`the first line does not name the column ${missing.join(', ')}`)
    return [...header]
  }
  const found = new Map<string, Exclusion[]>()
  let line = 1
  const lines = Readable.from(body).compose(parse({ columns, bom: true, trim: true, skip_empty_lines: true }))
  try {
    for await (const each of lines as AsyncIterable<Readonly<Record<string, string>>>) {
      if (++line > mostExclusions) throw new Error(`there are more than ${mostExclusions} entries: check it in parts`)
      const { user_id: user = '', excluded_at: from = '', readmitted_at: to = '' } = each
      if (user === '') throw new Error('user_id is empty')
      const shortened = findShortened(user)
      if (shortened !== undefined) throw new Error(shortened)
      const exclusion = { from: readTime(from), to: to === '' ? null : readTime(to) }
      if (exclusion.to !== null && exclusion.to < exclusion.from) throw new Error('readmitted_at is before excluded_at')
      const ofUser = found.get(user)
      if (ofUser) ofUser.push(exclusion)
      else found.set(user, [exclusion])
    }
  } catch (error) {
    throw new HttpError(400, `the exclusions, entry ${line - 1}: ${(error as Error).message}`)
  }
  if (found.size === 0) throw new HttpError(400, 'the exclusions have no entry: send a line for each exclusion')
  return found
}

function readTime(text: string): number {
  const at = readMoment(text)
  if (at === undefined) throw new Error(`${shown(text)} is not a time such as 2026-01-31T10:00:00Z`)
  return at
}
