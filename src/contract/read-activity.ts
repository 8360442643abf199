// Reads request bodies of §4.1 as activity request records (§2.1). Each item is validated alone: an invalid item is returned with
// its id, for the report, and does not affect the others. The body is parsed once; exact values come from the source text.

import { isUtf8 } from 'node:buffer'
import { cutElements } from './elements.ts'
import { type ItemReader, itemReader } from './find-fields.ts'
import { brokenItem, invalidItem, type ReadItem, readItem, tooDeep } from './read-item.ts'
import { isDeep, openArray, skipSpace, trimEnd } from './scan.ts'
import { type Source, sourceOf } from './source.ts'
import { shortened } from './storable.ts'

export type { Activity, InvalidItem, ReadItem } from './read-item.ts'

/** A larger body is refused as a mistake (row 38). The batch size agreed with the platform is far smaller (row 26). */
export const mostItems = 100_000

export type ReadBatch =
  /** `text`: the body, to which the items' `start` refers; absent if the body is not valid JSON or cannot be stored. */
  | { readonly items: readonly ReadItem[]; readonly text?: string }
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
  if (!source.intact) return readElementsAlone(source)
  let parsed: unknown
  try {
    parsed = JSON.parse(source.text)
  } catch {
    return readElementsAlone(source)
  }
  if (!Array.isArray(parsed))
    return refuse('the body must be a JSON array of activity request records: send a single record to …/single')
  if (parsed.length > mostItems) return tooMany(parsed.length)
  const { starts, ends, deep } = cutElements(source)
  const reader = itemReader(source)
  const items: ReadItem[] = []
  for (let n = 0; n < parsed.length; n++) {
    items.push(readItem(reader, starts[n] as number, ends[n] as number, parsed[n], deep.size > 0 && deep.has(n)))
  }
  return batchOf(items, source.wellFormed ? source.text : undefined)
}

/**
 * Reads the body of a single request. Never throws: an unreadable body is an invalid item, answered 400.
 *
 * @example readSingle('{"activity":{"id":1,"brand_id":1,"user_id":"1001"},"title":"Hello"}')
 */
export function readSingle(body: Uint8Array | string): ReadItem {
  const source = sourceOf(body)
  if (skipSpace(source.units, 0) === source.text.length)
    return invalidItem('the body is empty: send a JSON object with "activity"', undefined, '')
  const item = readAlone(source, 0, source.text.length, itemReader(source))
  if ('invalid' in item && source.units[skipSpace(source.units, 0)] === openArray) {
    return invalidItem(
      'the body is an array: send one record to …/single, or an array of records to …/batch',
      undefined,
      item.text,
    )
  }
  return item
}

/**
 * Reads newline-delimited records: one item per line, in order; undefined for a blank line. Pass complete lines only: text after
 * the last line feed counts as a line.
 */
export function readLines(body: Uint8Array | string): readonly (ReadItem | undefined)[] {
  const source = sourceOf(body)
  const reader = itemReader(source)
  const items: (ReadItem | undefined)[] = []
  for (let start = 0; start < source.text.length; ) {
    const feed = source.text.indexOf('\n', start)
    const end = feed === -1 ? source.text.length : feed
    items.push(skipSpace(source.units, start) < end ? readAlone(source, start, end, reader) : undefined)
    start = end + 1
  }
  return items
}

/** Refuses a batch in which no item can be reported, because an answer with status 200 would be empty (row 35). */
function batchOf(items: readonly ReadItem[], text?: string): ReadBatch {
  const read = { items, ...(text !== undefined && { text }) }
  const [first] = items
  if (first === undefined || !('invalid' in first)) return read
  if (items.some((item) => item.idJson !== undefined)) return read
  return refuse(`no item of the batch has an activity.id; first item: ${first.invalid}`)
}

function refuse(invalid: string): ReadBatch {
  return { invalid, status: 400 }
}

function tooMany(count: number): ReadBatch {
  return { invalid: `${count} items in one batch: send at most ${mostItems}`, status: 413 }
}

/** Reads each element alone, to find the invalid ones in a body that is not valid JSON or not UTF-8. */
function readElementsAlone(source: Source): ReadBatch {
  const cut = cutElements(source)
  if (cut.error !== undefined) return refuse(source.intact ? cut.error : `the body is not UTF-8, and ${cut.error}`)
  if (cut.starts.length > mostItems) return tooMany(cut.starts.length)
  const reader = itemReader(source)
  return batchOf(cut.starts.map((start, n) => readAlone(source, start, cut.ends[n] as number, reader)))
}

function readAlone(source: Source, from: number, to: number, reader: ItemReader): ReadItem {
  if (!source.intact) return decodeAlone(source, from, to)
  const start = skipSpace(source.units, from)
  const end = Math.max(start, trimEnd(source.units, to))
  if (isDeep(source.text, source.units, start, end)) return brokenItem(reader, start, end, tooDeep)
  let parsed: unknown
  try {
    parsed = JSON.parse(source.text.slice(start, end))
  } catch (error) {
    return brokenItem(reader, start, end, `not JSON: ${shortened((error as Error).message, 200)}`)
  }
  return readItem(reader, start, end, parsed, false)
}

/** Reads an element of a body that is not UTF-8 as a whole; the element itself may be. */
function decodeAlone(source: Source, from: number, to: number): ReadItem {
  const bytes = (source.units as Uint8Array).subarray(from, to)
  if (!isUtf8(bytes)) return brokenItem(itemReader(source), from, to, 'not UTF-8: send JSON in UTF-8 (RFC 8259)')
  const element = sourceOf(bytes)
  return readAlone(element, 0, element.text.length, itemReader(element))
}
