// Locates the fields of §2.1 in the source text of an element, so that numbers keep all digits.

import { findMembers, namesOf, type Spans, spansFor } from './members.ts'
import { indexFrom, openObject, quote, skipColon, skipSpace, type Units } from './scan.ts'
import { type Source, sourceOf } from './source.ts'
import { mayBeUnstorable } from './storable.ts'

/** The state shared by all items of a body, which are read in order. */
export interface ItemReader {
  readonly source: Source
  readonly spans: Spans
  /** Some item may contain U+0000 or a lone surrogate. */
  readonly suspicious: boolean
  /** Some item contains unescaped control characters that JSON allows (U+0080 to U+009F). */
  readonly controls: boolean
  /** Some item may contain a key with escaped ASCII letters. */
  readonly escapedKeys: boolean
  /** The next position of a backslash. It only moves forward, so that the text is searched once. */
  nextBackslash: number
  /** The next position of the end of the key "activity", kept in the same way. */
  nextActivity: number
  /** The member of the current item that occurs twice: `activity`, or one of its fields. Parsers disagree about its value (row 42). */
  repeated: string | undefined
  readonly noteRepeated: (field: number) => void
}

export function itemReader(source: Source): ItemReader {
  const suspicious = mayBeUnstorable(source.text) || !source.wellFormed
  const escapedKeys = source.text.includes('\\u006') || source.text.includes('\\u007')
  const reader: ItemReader = {
    source,
    spans: spansFor(fields),
    suspicious,
    // ASCII has none of them, and nearly every body is ASCII.
    controls: source.units instanceof Uint16Array && /[\x80-\x9f]/.test(source.text),
    escapedKeys,
    nextBackslash: -1,
    nextActivity: -1,
    repeated: undefined,
    noteRepeated: (field) => {
      reader.repeated = `activity.${fields.list[field]}`
    },
  }
  return reader
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

/** Finds the spans of activity's fields; false if the element has no object named `activity`. */
export function findFields(reader: ItemReader, start: number, end: number): boolean {
  const { source, spans } = reader
  reader.repeated = undefined
  const rest = readFirstActivity(reader, start)
  if (rest !== -1 && isOnlyActivity(reader, rest, end)) return true
  const outer = spansFor(outerName)
  let isRepeated = false
  findMembers(source, start, outerName, outer, () => {
    isRepeated = true
  })
  const at = outer[0] as number
  reader.repeated = undefined
  const found =
    at !== -1 && source.units[at] === openObject && findMembers(source, at, fields, spans, reader.noteRepeated) !== -1
  if (isRepeated) reader.repeated = 'activity'
  return found
}

/** A shortcut for elements that begin with {"activity":{, as most do: their other members are not scanned. */
function readFirstActivity({ source, spans, noteRepeated }: ItemReader, start: number): number {
  const first = firstActivity(source.units, start)
  return first === -1 ? -1 : findMembers(source, first, fields, spans, noteRepeated)
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
 * Whether no later member `activity` can override the first one. It searches for the end of the quoted name, because a rare first
 * letter makes the search five times as fast.
 */
function isOnlyActivity(reader: ItemReader, rest: number, end: number): boolean {
  if (reader.escapedKeys) return false
  if (reader.nextActivity < rest) reader.nextActivity = indexFrom(reader.source.text, 'vity"', rest)
  return reader.nextActivity >= end
}

/** The source text of activity.id in an element that is not valid JSON, if it can be found. */
export function findBrokenId(element: string): string | undefined {
  const source = sourceOf(element)
  const outer = spansFor(outerName)
  findMembers(source, 0, outerName, outer)
  const spans = spansFor(fields)
  findMembers(source, outer[0] as number, fields, spans)
  const at = spans[2 * idField] as number
  return at === -1 ? undefined : source.text.slice(at, spans[2 * idField + 1])
}
