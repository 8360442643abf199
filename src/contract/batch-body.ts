// A tolerant reader of the batch response record (§2.4; rows 9, 10 and 11). Ids are compared as text. If a number is too large
// for a double, its digits are taken from the source text.

import { type Channel, identifierOf } from './endpoints.ts'
import { isRawJson, parseExactly } from './exact-json.ts'
import { readJsonBody } from './json-body.ts'
import type { Category } from './outcome.ts'
import { readError, readReason, readRef, readService, type SingleBody } from './single-body.ts'
import { shortened } from './storable.ts'

export interface Entry extends SingleBody {
  readonly category: Category
}

export interface BatchBody {
  /** Entries by id as text, only for sent ids. */
  readonly entries: ReadonlyMap<string, Entry>
  readonly warnings: readonly string[]
}

/** In the order of row 9: if an id is in two categories, the first one here counts, so that no message is dropped. */
const categories = ['successful', 'fatal', 'failed'] as const

/** @returns the entry of each sent id; or, as text, why the body is not a batch response record */
export function readBatchBody(body: Uint8Array | string, ids: readonly string[], channel: Channel): BatchBody | string {
  const read = readJsonBody(body)
  if (typeof read === 'string') return read
  if (!categories.some((category) => Object.hasOwn(read.fields, category))) {
    return 'it has none of successful, failed and fatal'
  }
  const sent = new Set(ids)
  const entries = new Map<string, Entry>()
  const oddities = new Map<string, string[]>()
  for (const category of categories) {
    const list = read.fields[category]
    if (list === undefined || list === null) continue
    if (!Array.isArray(list)) {
      addOddity(oddities, `${category} is not an array and was ignored`, readError(list) ?? '')
      continue
    }
    const needsDigits = list.some((item) => typeof refOf(item, channel) === 'number' || isRounded(idOf(item)))
    const exact = needsDigits ? (parseExactly(read.source.text) as Readonly<Record<string, unknown[]>>)[category] : list
    for (const [n, item] of list.entries()) {
      const id = reportedId(idOf(exact?.[n]))
      if (id === undefined) addOddity(oddities, `items of ${category} without an id`, readError(item) ?? 'null')
      else if (!sent.has(id)) addOddity(oddities, 'unknown ids, ignored', id)
      else if (entries.has(id))
        addOddity(oddities, 'ids reported twice; successful counts before fatal, fatal before failed', id)
      else entries.set(id, entryOf(category, item, readRef(refOf(exact?.[n], channel))))
    }
  }
  return { entries, warnings: [...oddities].map(([oddity, examples]) => warning(oddity, examples)) }
}

function refOf(item: unknown, channel: Channel): unknown {
  return typeof item === 'object' && item !== null
    ? (item as Readonly<Record<string, unknown>>)[identifierOf[channel]]
    : undefined
}

function entryOf(category: Category, item: unknown, ref: string | undefined): Entry {
  if (typeof item !== 'object' || item === null)
    return { category, ref: undefined, error: undefined, service: undefined, reason: undefined } // a bare id
  const fields = item as Readonly<Record<string, unknown>>
  return {
    category,
    ref,
    error: readError(fields.error),
    service: category === 'fatal' ? readService(fields.service) : undefined,
    reason: category === 'failed' ? readReason(fields.reason) : undefined,
  }
}

/** The id of an item. An item may be a bare id. */
function idOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && !isRawJson(item) ? (item as { readonly id?: unknown }).id : item
}

const isRounded = (id: unknown): boolean => typeof id === 'number' && !Number.isSafeInteger(id)

/** The text by which ids are compared (row 2): 1.0 is 1. */
function reportedId(id: unknown): string | undefined {
  if (!isRawJson(id)) return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
  const number = Number(id.rawJSON)
  return Number.isSafeInteger(number) ? String(number) : id.rawJSON
}

function addOddity(oddities: Map<string, string[]>, oddity: string, example: string): void {
  const examples = oddities.get(oddity)
  if (examples) examples.push(example)
  else oddities.set(oddity, [example])
}

/** One line per oddity, with the first five ids. */
function warning(oddity: string, examples: readonly string[]): string {
  const shown = examples.slice(0, 5).map((text) => shortened(text, 60))
  const more = examples.length - shown.length
  return `${oddity}: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
