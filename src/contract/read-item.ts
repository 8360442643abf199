// Validates one activity request record (§2.1) field by field. Types come from the parsed value, digits from the source text.

import { integerWords, isIntegerText, isPrintable, mostId, mostText } from './ids.ts'
import { findMembers } from './members.ts'
import { mostLevels } from './scan.ts'
import { type Source, sourceOf } from './source.ts'
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

export type ReadItem = Activity | InvalidItem

/**
 * Reads the element between `start` and `end`, which has no white space around it.
 *
 * @param deep whether it is nested deeper than mostLevels
 */
export function readItem(source: Source, start: number, end: number, deep: boolean): ReadItem {
  const text = source.text.slice(start, end)
  if (deep) return brokenItem(sourceOf(text), `nested deeper than ${mostLevels} levels`)
  let element: Readonly<Record<string, unknown>>
  try {
    element = JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch (error) {
    return brokenItem(sourceOf(text), `not JSON: ${shortened((error as Error).message, 200)}`)
  }
  const { texts, repeated } = findFields(source, start, text)
  const [idJson = '', brandId = '', , activityId = 'null', actionGroupId = 'null', , actionId = 'null'] = texts
  const activity = element === null ? undefined : (element.activity as ActivityFields)
  const invalid = findFault(text, texts, activity)
  if (invalid !== undefined) return { invalid, idJson: texts[0], text }
  const { id, user_id: userId, trigger_hash: triggerHash } = activity as ActivityFields
  return {
    id: typeof id === 'string' ? id : idJson,
    idJson,
    brandId,
    userId: userId as string,
    activityId: activityId === 'null' ? null : activityId,
    actionGroupId: actionGroupId === 'null' ? null : actionGroupId,
    triggerHash: (triggerHash ?? null) as string | null,
    actionId: actionId === 'null' ? null : actionId,
    text,
    repeated,
    element,
  }
}

/** An element that cannot be parsed. Its id is searched for nevertheless, so that the item can be reported (row 27). */
export function brokenItem(source: Source, invalid: string): InvalidItem {
  const { text, intact } = source
  const [idJson] = findFields(source, 0, text).texts
  const reportable =
    idJson !== undefined && isReportable(idJson) && (intact || Buffer.byteLength(idJson) === idJson.length)
  return { invalid, idJson: reportable ? idJson : undefined, text: shortened(text, text.length) }
}

function isReportable(idJson: string): boolean {
  try {
    JSON.parse(idJson)
    return idJson.isWellFormed()
  } catch {
    return false
  }
}

interface ActivityFields {
  readonly id?: unknown
  readonly user_id?: unknown
  readonly trigger_hash?: unknown
}

const fields = ['id', 'brand_id', 'user_id', 'activity_id', 'action_group_id', 'trigger_hash', 'action_id'] as const

interface FoundFields {
  /** The source text of each of `fields`. */
  readonly texts: (string | undefined)[]
  /** `activity`, or a field of it, that occurs twice. */
  readonly repeated: string | undefined
}

function findFields(source: Source, start: number, text: string): FoundFields {
  const texts = new Array<string | undefined>(fields.length)
  let repeated: string | undefined
  const readActivity = (at: number): void =>
    findMembers(source, at, (name, from, to) => {
      const field = (fields as readonly string[]).indexOf(name)
      if (field === -1) return
      if (texts[field] !== undefined) repeated = `activity.${name}`
      texts[field] = source.text.slice(from, to)
    })
  // Most records begin with their only `activity`. A search for its rare end costs a tenth of finding all members.
  if (text.startsWith('{"activity":{') && !text.includes('vity"', 13) && !text.includes('\\u00')) {
    readActivity(start + 12)
    return { texts, repeated }
  }
  const activities: number[] = []
  findMembers(source, start, (name, at) => {
    if (name === 'activity') activities.push(at)
  })
  const last = activities.at(-1)
  if (last !== undefined) readActivity(last)
  return { texts, repeated: activities.length > 1 ? 'activity' : repeated }
}

/** @returns the first fault of the record, if it has one */
function findFault(text: string, texts: readonly (string | undefined)[], activity: unknown): string | undefined {
  if (!text.startsWith('{')) return 'not an activity request record: send a JSON object with "activity"'
  if (typeof activity !== 'object' || activity === null || Array.isArray(activity))
    return 'activity is missing: put id, brand_id, user_id and the other fields into an object named "activity"'
  const found = unstorable(text)
  if (found !== undefined) return `contains ${found}, which cannot be stored: remove it`
  const { id, user_id: userId, trigger_hash: triggerHash } = activity as ActivityFields
  if (typeof id === 'string') {
    if (!isText(id, 1, mostId)) return `activity.id as a string ${mustHave('1 to', mostId)}`
  } else if (!isIntegerText(texts[0] ?? '')) return notAnInteger(0, texts)
  if (!isIntegerText(texts[1] ?? '')) return notAnInteger(1, texts)
  if (userId === undefined) return 'activity.user_id is missing'
  if (!isText(userId, 1, mostText)) return `activity.user_id must be a string and ${mustHave('1 to', mostText)}`
  const wrong = [3, 4, 6].find((field) => !isIntegerText(texts[field] ?? '0') && texts[field] !== 'null')
  if (wrong !== undefined) return notAnInteger(wrong, texts)
  if (triggerHash !== undefined && triggerHash !== null && !isText(triggerHash, 0, mostText))
    return `activity.trigger_hash must be a string and ${mustHave('at most', mostText)}`
  return undefined
}

function isText(value: unknown, least: number, most: number): boolean {
  return typeof value === 'string' && value.length >= least && value.length <= most && isPrintable(value)
}

function notAnInteger(field: number, texts: readonly (string | undefined)[]): string {
  const text = texts[field]
  if (text === undefined) return `activity.${fields[field]} is missing`
  return `activity.${fields[field]} must be ${integerWords}, not ${shortened(text, 40)}`
}

function mustHave(few: string, most: number): string {
  return `must have ${few} ${most} characters and no control characters`
}
