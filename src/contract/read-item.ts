// Validates one activity request record (§2.1) field by field. Types come from the parsed value, digits from the source text.

import {
  actionGroupIdField,
  actionIdField,
  activityIdField,
  brandIdField,
  fields,
  findBrokenId,
  findFields,
  type ItemReader,
  idField,
} from './find-fields.ts'
import { integerWords, isInteger, isPrintable, mostId, mostText } from './ids.ts'
import { indexFrom, mostLevels, openObject, type Units } from './scan.ts'
import { shortened, unstorable } from './storable.ts'

export interface Activity {
  /** activity.id as text: the digits, or the value of the string (row 2). It identifies the item, whatever its JSON type. */
  readonly id: string
  /** The source text of activity.id, copied into answers. */
  readonly idJson: string
  readonly brandId: string
  readonly userId: string
  /** null: not sent (row 33). */
  readonly activityId: string | null
  readonly actionGroupId: string | null
  readonly triggerHash: string | null
  readonly actionId: string | null
  /** The source text of the whole element, stored and forwarded unchanged. */
  readonly text: string
  /** The position of the element in the text of the body, in characters. */
  readonly start: number
  /** `activity`, or a field of it, that occurs twice: the last one counts here, and the first one for some other parsers (row 42). */
  readonly repeated: string | undefined
  /** The parsed element: content, target and meta are siblings of `activity` (row 4). Unlike the fields above, its numbers may be rounded. */
  readonly element: Readonly<Record<string, unknown>>
}

export interface InvalidItem {
  /** The error, for the operator's answer. */
  readonly invalid: string
  /** The source text at activity.id, of any type, for the report (row 27). Undefined: the item cannot be reported. */
  readonly idJson: string | undefined
  readonly text: string
}

export const tooDeep = `nested deeper than ${mostLevels} levels`

export type ReadItem = Activity | InvalidItem

export function invalidItem(invalid: string, idJson: string | undefined, text: string): InvalidItem {
  return { invalid, idJson, text }
}

/** Validates one element; `parsed` is the result of JSON.parse. */
export function readItem(reader: ItemReader, start: number, end: number, parsed: unknown, deep: boolean): ReadItem {
  const { source, spans } = reader
  const text = source.text.slice(start, end)
  if (!findFields(reader, start, end)) return invalidItem(withoutActivity(source.units, start), undefined, text)
  const idAt = spans[2 * idField] as number
  const idEnd = spans[2 * idField + 1] as number
  const idJson = idAt === -1 ? undefined : source.text.slice(idAt, idEnd)
  if (reader.nextBackslash < start) reader.nextBackslash = indexFrom(source.text, '\\', start)
  const plain = reader.nextBackslash >= end && !reader.controls // JSON requires escapes for all other control characters
  if (deep) return invalidItem(tooDeep, idJson, text)
  if (reader.suspicious) {
    const found = unstorable(text)
    if (found !== undefined) return invalidItem(`contains ${found}, which cannot be stored: remove it`, idJson, text)
  }
  if (idJson === undefined) return invalidItem('activity.id is missing', undefined, text)

  const element = parsed as { readonly activity: ActivityFields }
  const { id, user_id: userId, trigger_hash: triggerHash } = element.activity
  if (typeof id === 'string') {
    if (id.length < 1 || id.length > mostId || !(plain || isPrintable(id))) {
      return invalidItem(`activity.id as a string ${mustHave('1 to', mostId)}`, idJson, text)
    }
  } else if (!isInteger(source.units, idAt, idEnd)) return notAnInteger(reader, idField, idJson, text)
  const brandId = integer(reader, brandIdField)
  if (brandId === null || brandId === undefined) return notAnInteger(reader, brandIdField, idJson, text)
  if (typeof userId !== 'string' || userId.length < 1 || userId.length > mostText || !(plain || isPrintable(userId))) {
    if (userId === undefined) return invalidItem('activity.user_id is missing', idJson, text)
    return invalidItem(`activity.user_id must be a string and ${mustHave('1 to', mostText)}`, idJson, text)
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
    return invalidItem(`activity.trigger_hash must be a string and ${mustHave('at most', mostText)}`, idJson, text)
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
    start,
    repeated: reader.repeated,
    element: element as unknown as Readonly<Record<string, unknown>>,
  }
}

/** An element that cannot be parsed. Its id is searched for nevertheless, so that the item can be reported (row 27). */
export function brokenItem({ source }: ItemReader, start: number, end: number, invalid: string): InvalidItem {
  const text = source.text.slice(start, end) // so that the search for the id ends within this element
  const idJson = findBrokenId(text)
  const reportable = idJson !== undefined && isReportable(idJson) && (source.intact || isAsciiText(idJson))
  return invalidItem(invalid, reportable ? idJson : undefined, shortened(text, text.length))
}

interface ActivityFields {
  readonly id: unknown
  readonly user_id: unknown
  readonly trigger_hash: unknown
}

/** The digits of the source; null if the field was not sent; undefined if it is not an integer of row 1. */
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
    `${name} must be ${integerWords}, not ${shortened(source.text.slice(start, spans[2 * field + 1]), 40)}`,
    idJson,
    text,
  )
}

function withoutActivity(units: Units, start: number): string {
  if (units[start] !== openObject) return 'not an activity request record: send a JSON object with "activity"'
  return 'activity is missing: put id, brand_id, user_id and the other fields into an object named "activity"'
}

function mustHave(few: string, most: number): string {
  return `must have ${few} ${most} characters and no control characters`
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
