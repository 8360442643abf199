// Where the fields of §2.1 stand in an element's source text. The digits are taken from there.

import { findMembers, namesOf, type Spans, spansFor } from './members.ts'
import { indexFrom, openObject, quote, skipColon, skipSpace, type Units } from './scan.ts'
import { type Source, sourceOf } from './source.ts'
import { mayBeUnstorable } from './storable.ts'

/** What the items of one body share while they are read, in order. */
export interface ItemReader {
  readonly source: Source
  readonly spans: Spans
  /** Some item may hold U+0000 or a lone surrogate. */
  readonly suspicious: boolean
  /** Some item has control characters that JSON lets stand unescaped (U+0080 to U+009F). */
  readonly controls: boolean
  /** Some item may spell a key with escapes of ASCII letters. */
  readonly spelled: boolean
  /** Where the next of these stands: moved on with the items, so that the text is searched once for each. */
  nextBackslash: number
  nextActivity: number
}

export function itemReader(source: Source): ItemReader {
  const suspicious = mayBeUnstorable(source.text) || !source.wellFormed
  const spelled = source.text.includes('\\u006') || source.text.includes('\\u007')
  return {
    source,
    spans: spansFor(fields),
    suspicious,
    // ASCII has none, and nearly every body is ASCII.
    controls: source.units instanceof Uint16Array && /[\x80-\x9f]/.test(source.text),
    spelled,
    nextBackslash: -1,
    nextActivity: -1,
  }
}

const outerName = namesOf('activity')
export const fields = namesOf(
  'id',
  'brand_id',
  'user_id',
  'activity_id',
  'action_group_id',
  'trigger_hash',
  'action_id',
)
export const idField = 0
export const brandIdField = 1
export const activityIdField = 3
export const actionGroupIdField = 4
export const actionIdField = 6

/** Finds the source of activity's fields; false where there is no such object. */
export function findFields(reader: ItemReader, start: number, end: number): boolean {
  const { source, spans } = reader
  const rest = readFirstActivity(reader, start)
  if (rest !== -1 && isOnlyActivity(reader, rest, end)) return true
  const outer = spansFor(outerName)
  findMembers(source, start, outerName, outer)
  const at = outer[0] as number
  return at !== -1 && source.units[at] === openObject && findMembers(source, at, fields, spans) !== -1
}

/** Most elements begin {"activity":{ — then their other members need no look. */
function readFirstActivity({ source, spans }: ItemReader, start: number): number {
  const first = firstActivity(source.units, start)
  return first === -1 ? -1 : findMembers(source, first, fields, spans)
}

function firstActivity(units: Units, start: number): number {
  if (units[start] !== openObject) return -1
  const open = skipSpace(units, start + 1)
  if (units[open] !== quote) return -1
  for (let i = 0; i < activityName.length; i++) if (units[open + 1 + i] !== activityName[i]) return -1
  const value = skipColon(units, open + activityName.length)
  return value !== -1 && units[value] === openObject ? value : -1
}

const activityName = Buffer.from('activity"', 'latin1')

/**
 * Could a later member of the same name take its place? Looks for the end of the quoted name, because a rare first letter makes the
 * search five times as fast.
 */
function isOnlyActivity(reader: ItemReader, rest: number, end: number): boolean {
  if (reader.spelled) return false
  if (reader.nextActivity < rest) reader.nextActivity = indexFrom(reader.source.text, 'vity"', rest)
  return reader.nextActivity >= end
}

/** The source of activity.id in an element that is no JSON, as far as it can be followed. */
export function findBrokenId(element: string): string | undefined {
  const source = sourceOf(element)
  const outer = spansFor(outerName)
  findMembers(source, 0, outerName, outer)
  const spans = spansFor(fields)
  findMembers(source, outer[0] as number, fields, spans)
  const at = spans[2 * idField] as number
  return at === -1 ? undefined : source.text.slice(at, spans[2 * idField + 1])
}
