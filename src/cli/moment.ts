import { InvalidArgumentError } from 'commander'
import { duration } from '../config/kinds.ts'
import { readMoment } from '../contract/moment.ts'

/** Parses an option that is a time, or how long ago. @returns the time as /admin reads it */
export function moment(text: string): string {
  if (readMoment(text) !== undefined) return text
  const agoMs = duration({ help: '' }).parse(text, '')
  if (agoMs === undefined) throw new InvalidArgumentError('Give a time such as 2026-01-31T10:00:00Z, or 2h.')
  return new Date(Date.now() - agoMs).toISOString()
}
