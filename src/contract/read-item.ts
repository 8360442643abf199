// One activity request record (§2.1), checked field by field. Types come from the parsed value, digits from the source text.

import { integerWords, isInteger, isPrintable, mostId, mostText } from './ids.ts'
import { followLayout, type Layout, learnLayout } from './layout.ts'
import { findMembers, namesOf, type Spans, spansFor } from './members.ts'
import { indexFrom, mostLevels, openObject, quote, skipColon, skipSpace, type Units } from './scan.ts'
import { type Source, sourceOf } from './source.ts'
import { mayBeUnstorable, shortened, unstorable } from './storable.ts'

export interface Activity {
  /** activity.id as text: the digits as they came, or the string's value (row 2). What identifies it, whatever its JSON type. */
  readonly id: string
  /** activity.id as it stood in the source: copied into answers. */
  readonly idJson: string
  readonly brandId: string
  readonly userId: string
  /** null: not sent (row 33). */
  readonly activityId: string | null
  readonly actionGroupId: string | null
  readonly triggerHash: string | null
  readonly actionId: string | null
  /** The whole element as it came: kept, and sent on. */
  readonly text: string
  /** The same, parsed: content, target and meta are siblings of `activity` (row 4). Numbers in it may be rounded; the fields above are not. */
  readonly element: Readonly<Record<string, unknown>>
}

export interface InvalidItem {
  /** Why, for the operator's answer. */
  readonly invalid: string
  /** Whatever stood at activity.id, to report it by (row 27). Undefined: there was nothing, it cannot be reported. */
  readonly idJson: string | undefined
  readonly text: string
}

export const tooDeep = `nested deeper than ${mostLevels} levels`

export type ReadItem = Activity | InvalidItem

export function invalidItem(invalid: string, idJson: string | undefined, text: string): InvalidItem {
  return { invalid, idJson, text }
}

/** What the items of one body share while they are read, in order. */
export interface ItemReader {
  readonly source: Source
  readonly spans: Spans
  /** Some item may hold U+0000 or a lone surrogate. */
  readonly suspicious: boolean
  /** Some item may spell a key with escapes of ASCII letters. */
  readonly spelled: boolean
  /** Where the next of these stands: moved on with the items, so that the text is searched once for each. */
  nextBackslash: number
  nextActivity: number
  /** How the last item spelt its fields, and how many times that was learnt. */
  layout: Layout | undefined
  lessons: number
}

export function itemReader(source: Source): ItemReader {
  const suspicious = mayBeUnstorable(source.text) || !source.wellFormed
  const spelled = source.text.includes('\\u006') || source.text.includes('\\u007')
  return {
    source,
    spans: spansFor(fields),
    suspicious,
    spelled,
    nextBackslash: -1,
    nextActivity: -1,
    layout: undefined,
    lessons: 0,
  }
}

const outerName = namesOf('activity')
const fields = namesOf('id', 'brand_id', 'user_id', 'activity_id', 'action_group_id', 'trigger_hash', 'action_id')
const idField = 0
const brandIdField = 1
const activityIdField = 3
const actionGroupIdField = 4
const actionIdField = 6

/** Checks one element that JSON.parse has read as `parsed`. */
export function readItem(reader: ItemReader, start: number, end: number, parsed: unknown, deep: boolean): ReadItem {
  const { source, spans } = reader
  const text = source.text.slice(start, end)
  if (!findFields(reader, start, end)) return invalidItem(withoutActivity(source.units, start), undefined, text)
  const idAt = spans[2 * idField] as number
  const idEnd = spans[2 * idField + 1] as number
  const idJson = idAt === -1 ? undefined : source.text.slice(idAt, idEnd)
  if (reader.nextBackslash < start) reader.nextBackslash = indexFrom(source.text, '\\', start)
  const plain = reader.nextBackslash >= end // no escapes, so no control characters
  if (deep) return invalidItem(tooDeep, idJson, text)
  if (reader.suspicious) {
    const found = unstorable(text)
    if (found !== undefined) return invalidItem(`contains ${found}, which cannot be stored: leave it out`, idJson, text)
  }
  if (idJson === undefined) return invalidItem('activity.id is missing', undefined, text)

  const element = parsed as { readonly activity: ActivityFields }
  const { id, user_id: userId, trigger_hash: triggerHash } = element.activity
  if (typeof id === 'string') {
    if (id.length < 1 || id.length > mostId || !(plain || isPrintable(id))) {
      return invalidItem(
        `activity.id as a string must have 1 to ${mostId} characters, none of them a control character`,
        idJson,
        text,
      )
    }
  } else if (!isInteger(source.units, idAt, idEnd))
    return invalidItem(`activity.id must be ${integerWords}, not ${shown(idJson)}`, idJson, text)
  const brandId = integer(reader, brandIdField)
  if (brandId === null || brandId === undefined) return notAnInteger(reader, brandIdField, idJson, text)
  if (typeof userId !== 'string' || userId.length < 1 || userId.length > mostText || !(plain || isPrintable(userId))) {
    const why =
      userId === undefined
        ? 'is missing'
        : `must be a string of 1 to ${mostText} characters, none of them a control character`
    return invalidItem(`activity.user_id ${why}`, idJson, text)
  }
  const activityId = integer(reader, activityIdField)
  if (activityId === undefined) return notAnInteger(reader, activityIdField, idJson, text)
  const actionGroupId = integer(reader, actionGroupIdField)
  if (actionGroupId === undefined) return notAnInteger(reader, actionGroupIdField, idJson, text)
  const actionId = integer(reader, actionIdField)
  if (actionId === undefined) return notAnInteger(reader, actionIdField, idJson, text)
  if (
    triggerHash != null &&
    (typeof triggerHash !== 'string' || triggerHash.length > mostText || !(plain || isPrintable(triggerHash)))
  ) {
    const why = `must be a string of at most ${mostText} characters, none of them a control character`
    return invalidItem(`activity.trigger_hash ${why}`, idJson, text)
  }
  return {
    id: typeof id === 'string' ? id : idJson,
    idJson,
    brandId,
    userId,
    activityId,
    actionGroupId,
    triggerHash: triggerHash ?? null,
    actionId,
    text,
    element: element as unknown as Readonly<Record<string, unknown>>,
  }
}

/** An element that cannot be parsed: its id is looked for all the same, so that it can be reported (row 27). */
export function brokenItem({ source }: ItemReader, start: number, end: number, invalid: string): InvalidItem {
  const piece = sourceOf(source.text.slice(start, end)) // alone: an object that never closes must not reach into its neighbour
  const outer = spansFor(outerName)
  findMembers(piece, 0, outerName, outer)
  const spans = spansFor(fields)
  findMembers(piece, outer[0] as number, fields, spans)
  const idAt = spans[2 * idField] as number
  const idJson = idAt === -1 ? undefined : piece.text.slice(idAt, spans[2 * idField + 1])
  const reportable = idJson !== undefined && isReportable(idJson) && (source.intact || isAsciiText(idJson))
  return invalidItem(invalid, reportable ? idJson : undefined, shortened(piece.text, piece.text.length))
}

interface ActivityFields {
  readonly id: unknown
  readonly user_id: unknown
  readonly trigger_hash: unknown
}

/** Finds the source of activity's fields; false where there is no such object. */
function findFields(reader: ItemReader, start: number, end: number): boolean {
  const { source, spans } = reader
  let rest = reader.layout === undefined ? -1 : followLayout(source.units, start, reader.layout, spans)
  if (rest === -1) rest = readFirstActivity(reader, start)
  if (rest !== -1 && isOnlyActivity(reader, rest, end)) return true
  const outer = spansFor(outerName)
  findMembers(source, start, outerName, outer)
  const at = outer[0] as number
  return at !== -1 && source.units[at] === openObject && findMembers(source, at, fields, spans) !== -1
}

/** Most elements begin {"activity":{ — then their other members need no look, and the next element is probably spelt alike. */
function readFirstActivity(reader: ItemReader, start: number): number {
  const { source, spans } = reader
  const first = firstActivity(source.units, start)
  if (first === -1) return -1
  const seen: number[] | undefined = reader.lessons < mostLessons ? [] : undefined
  const rest = findMembers(source, first, fields, spans, seen)
  if (rest !== -1 && seen !== undefined) {
    reader.layout = learnLayout(source.units, start, seen, rest)
    reader.lessons++
  }
  return rest
}

const mostLessons = 8

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

/** Digits as they came; null: not sent; undefined: not an integer of row 1. */
function integer({ source, spans }: ItemReader, field: number): string | null | undefined {
  const start = spans[2 * field] as number
  if (start === -1) return null
  const end = spans[2 * field + 1] as number
  if (isInteger(source.units, start, end)) return source.text.slice(start, end)
  return source.text.startsWith('null', start) ? null : undefined
}

function notAnInteger({ source, spans }: ItemReader, field: number, idJson: string, text: string): InvalidItem {
  const start = spans[2 * field] as number
  const name = `activity.${fields.list[field]}`
  if (start === -1) return invalidItem(`${name} is missing`, idJson, text)
  return invalidItem(
    `${name} must be ${integerWords}, not ${shown(source.text.slice(start, spans[2 * field + 1]))}`,
    idJson,
    text,
  )
}

function withoutActivity(units: Units, start: number): string {
  if (units[start] !== openObject) return 'not an activity request record: send a JSON object with "activity"'
  return 'activity is missing: id, brand_id, user_id and the others belong inside an object named "activity"'
}

function shown(json: string): string {
  return shortened(json, 40)
}

function isReportable(idJson: string): boolean {
  try {
    JSON.parse(idJson)
    return idJson.isWellFormed()
  } catch {
    return false
  }
}

function isAsciiText(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}
