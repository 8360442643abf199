// A tolerant reader of the batch response record (§2.4; rows 9, 10 and 11). Ids are compared as text. If a number is too large
// for a double, its digits are taken from the source text.

import { cutElements } from './elements.ts'
import { type Channel, identifierOf } from './endpoints.ts'
import { idText } from './ids.ts'
import { type JsonBody, readJsonBody } from './json-body.ts'
import { findMembers, namesOf, spansFor } from './members.ts'
import type { Category } from './outcome.ts'
import { openObject } from './scan.ts'
import { readError, readRef, readService } from './single-body.ts'
import type { Source } from './source.ts'
import { shortened } from './storable.ts'

export interface Entry {
  readonly category: Category
  readonly ref: string | undefined
  readonly error: string | undefined
  readonly service: string | undefined
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
  for (const [place, category] of categories.entries()) {
    const list = read.fields[category]
    if (list === undefined || list === null) continue
    if (!Array.isArray(list)) {
      addOddity(oddities, `${category} is not an array and was ignored`, readError(list) ?? '')
      continue
    }
    const rounded = idTexts(list)
    const hasNumber = list.some((item) => typeof refOf(item, channel) === 'number')
    const exact = rounded && !hasNumber ? undefined : exactTexts(read, place, channel)
    for (const [n, item] of list.entries()) {
      const id = (rounded ?? exact?.ids)?.[n]
      if (id === undefined) addOddity(oddities, `items of ${category} without an id`, readError(item) ?? 'null')
      else if (!sent.has(id)) addOddity(oddities, 'unknown ids, ignored', id)
      else if (entries.has(id))
        addOddity(oddities, 'ids reported twice; successful counts before fatal, fatal before failed', id)
      else entries.set(id, entryOf(category, item, readRef(refOf(item, channel), exact?.refs[n] ?? '')))
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
    return { category, ref: undefined, error: undefined, service: undefined } // a bare id
  const fields = item as Readonly<Record<string, unknown>>
  return {
    category,
    ref,
    error: readError(fields.error),
    service: category === 'fatal' ? readService(fields.service) : undefined,
  }
}

/** The ids as text; undefined if JSON.parse rounded any of them. */
function idTexts(list: readonly unknown[]): readonly (string | undefined)[] | undefined {
  const texts: (string | undefined)[] = []
  for (const item of list) {
    const id = typeof item === 'object' && item !== null ? (item as { readonly id?: unknown }).id : item
    if (typeof id === 'number') {
      if (!Number.isSafeInteger(id)) return undefined
      texts.push(String(id))
    } else texts.push(typeof id === 'string' ? id : undefined)
  }
  return texts
}

const places = namesOf(...categories)
const itemNames = { push: namesOf('id', identifierOf.push), site: namesOf('id', identifierOf.site) }

interface ExactTexts {
  readonly ids: (string | undefined)[]
  /** The source texts of the identifiers. */
  readonly refs: (string | undefined)[]
}

function exactTexts({ source, at }: JsonBody, place: number, channel: Channel): ExactTexts {
  const spans = spansFor(places)
  findMembers(source, at, places, spans)
  const array = slice(source, spans[2 * place] as number, spans[2 * place + 1] as number)
  const { starts, ends } = cutElements(array)
  const names = itemNames[channel]
  const found = spansFor(names)
  const exact: ExactTexts = { ids: [], refs: [] }
  for (const [n, start] of starts.entries()) {
    const isObject = array.units[start] === openObject
    if (isObject) findMembers(array, start, names, found)
    const textAt = (place: number): string | undefined =>
      found[place] === -1 ? undefined : array.text.slice(found[place], found[place + 1])
    const id = isObject ? textAt(0) : array.text.slice(start, ends[n])
    exact.ids.push(id === undefined ? undefined : idText(id))
    exact.refs.push(isObject ? textAt(2) : undefined)
  }
  return exact
}

function slice({ text, units, intact, wellFormed }: Source, start: number, end: number): Source {
  return { text: text.slice(start, end), units: units.subarray(start, end), intact, wellFormed }
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
