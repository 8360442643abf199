// Reads request bodies of §4.1 as activity request records (§2.1). Each item is validated alone: an invalid item is returned with
// its id, for the report, and does not affect the others. The body is cut into its elements first, and each is parsed alone.

import { cutElements } from './elements.ts'
import { brokenItem, type ReadItem, readItem } from './read-item.ts'
import { endOfValue, mostLevels, openArray, skipSpace, trimEnd } from './scan.ts'
import { type Source, sourceOf } from './source.ts'

export type { Activity, InvalidItem, ReadItem } from './read-item.ts'

/** A larger body is refused as a mistake (row 38). The batch size agreed with the platform is far smaller (row 26). */
export const mostItems = 100_000

export type ReadBatch =
  | { readonly items: readonly ReadItem[] }
  /** The body cannot be split into items: answer `status` with {error: invalid}; the platform retries the whole batch (§7.2.1). */
  | { readonly invalid: string; readonly status: 400 | 413 }

/**
 * Reads the body of a batch request. Never throws. An empty array is a batch of no messages.
 *
 * @example
 * const batch = readBatch('[{"activity":{"id":1,"brand_id":1,"user_id":"1001"}},{"activity":{"id":-1}}]')
 * batch.items[0] // { id: '1', brandId: '1', userId: '1001', … }
 * batch.items[1] // { invalid: 'activity.id must be an integer …', idJson: '-1', … }
 */
export function readBatch(body: Uint8Array | string): ReadBatch {
  const source = sourceOf(body)
  const { starts, ends, deep, error } = cutElements(source, mostItems)
  if (error !== undefined) return refuse(source.intact ? error : `the body is not UTF-8, and ${error}`)
  if (starts.length > mostItems)
    return { invalid: `more than ${mostItems} items in one batch: send fewer`, status: 413 }
  const items = starts.map((start, n) => readElement(source, start, ends[n] as number, deep.has(n)))
  // Without an item that can be reported, an answer with status 200 would be empty (row 35).
  if (items[0] && 'invalid' in items[0] && items.every(({ idJson }) => idJson === undefined))
    return refuse(`no item of the batch has an activity.id; first item: ${items[0].invalid}`)
  return { items }
}

/**
 * Reads the body of a single request. Never throws: an unreadable body is an invalid item, answered 400.
 *
 * @example readSingle('{"activity":{"id":1,"brand_id":1,"user_id":"1001"},"title":"Hello"}')
 */
export function readSingle(body: Uint8Array | string): ReadItem {
  const source = sourceOf(body)
  const start = skipSpace(source.units, 0)
  if (start === source.text.length)
    return { invalid: 'the body is empty: send a JSON object with "activity"', idJson: undefined, text: '' }
  const item = readElement(source, start, trimEnd(source.units, source.text.length))
  if (!('invalid' in item) || source.units[start] !== openArray) return item
  const invalid = 'the body is an array: send one record to …/single, or an array of records to …/batch'
  return { invalid, idJson: undefined, text: item.text }
}

/**
 * Reads newline-delimited records: one item per line, in order; undefined for a blank line. Pass complete lines only: text after
 * the last line feed counts as a line.
 */
export function readLines(body: Uint8Array | string): readonly (ReadItem | undefined)[] {
  const source = sourceOf(body)
  const items: (ReadItem | undefined)[] = []
  for (let from = 0; from < source.text.length; ) {
    const feed = source.text.indexOf('\n', from)
    const to = feed === -1 ? source.text.length : feed
    const start = skipSpace(source.units, from)
    items.push(start < to ? readElement(source, start, trimEnd(source.units, to)) : undefined)
    from = to + 1
  }
  return items
}

/** Reads an element without white space around it. An element of a body that is not UTF-8 may be UTF-8 itself. */
function readElement(source: Source, start: number, end: number, deep = isDeep(source, start, end)): ReadItem {
  if (source.intact) return readItem(source, start, end, deep)
  const element = sourceOf(source.units.subarray(start, end) as Uint8Array)
  if (element.intact) return readItem(element, 0, element.text.length, deep)
  return brokenItem(element, 'not UTF-8: send JSON in UTF-8 (RFC 8259)')
}

/** Whether an element is nested deeper than mostLevels. */
function isDeep({ text, units }: Source, start: number, end: number): boolean {
  return hasManyBrackets(text.slice(start, end)) && endOfValue(units, start, end) < 0
}

/** Whether a text may be nested deeper than mostLevels. Nearly all have fewer brackets, and following them takes five times as long. */
function hasManyBrackets(text: string): boolean {
  let found = 0
  for (const bracket of ['{', '['])
    for (let i = text.indexOf(bracket); i !== -1; i = text.indexOf(bracket, i + 1))
      if (++found > mostLevels) return true
  return false
}

function refuse(invalid: string): ReadBatch {
  return { invalid, status: 400 }
}
