// The batch response record (§2.4), read tolerantly: rows 9, 10 and 11. Ids are compared as text, taken from the source where a
// number is too large to be exact.

import { cutElements } from './elements.ts'
import { type Channel, identifierOf } from './endpoints.ts'
import { idText } from './ids.ts'
import { type JsonBody, readJsonBody } from './json-body.ts'
import { findMembers, namesOf, spansFor } from './members.ts'
import type { Category } from './outcome.ts'
import { openObject } from './scan.ts'
import { readError, readRef } from './single-body.ts'
import type { Source } from './source.ts'
import { shortened } from './storable.ts'

export interface Entry {
  readonly category: Category
  readonly ref: string | undefined
  readonly error: string | undefined
}

export interface BatchBody {
  /** By id as text; only ids that were sent. */
  readonly entries: ReadonlyMap<string, Entry>
  readonly warnings: readonly string[]
}

/** In the order of row 9: where an id stands in two categories, the first of these counts, so that nothing is dropped on a contradiction. */
const categories = ['successful', 'fatal', 'failed'] as const

/** @returns what the answer says of each id that was sent, or why it is no batch response record, in words */
export function readBatchBody(body: Uint8Array | string, ids: readonly string[], channel: Channel): BatchBody | string {
  const read = readJsonBody(body)
  if (typeof read === 'string') return read
  if (!categories.some((category) => Object.hasOwn(read.fields, category))) {
    return 'it has none of successful, failed and fatal'
  }
  const sent = new Set(ids)
  const entries = new Map<string, Entry>()
  const odd = new Map<string, string[]>()
  for (const [place, category] of categories.entries()) {
    const list = read.fields[category]
    if (list === undefined || list === null) continue
    if (!Array.isArray(list)) {
      note(odd, `${category} is not an array and was ignored`, readError(list) ?? '')
      continue
    }
    const texts = idTexts(list) ?? exactIdTexts(read, place)
    for (const [n, item] of list.entries()) {
      const id = texts[n]
      if (id === undefined) note(odd, `items of ${category} without an id`, readError(item) ?? 'null')
      else if (!sent.has(id)) note(odd, 'ids that were never sent, ignored (row 10)', id)
      else if (entries.has(id))
        note(odd, 'ids reported twice, taken as successful before fatal before failed (row 9)', id)
      else entries.set(id, entryOf(category, item, channel))
    }
  }
  return { entries, warnings: [...odd].map(([what, which]) => warning(what, which)) }
}

function entryOf(category: Category, item: unknown, channel: Channel): Entry {
  if (typeof item !== 'object' || item === null) return { category, ref: undefined, error: undefined } // a bare id
  const fields = item as Readonly<Record<string, unknown>>
  return { category, ref: readRef(fields[identifierOf[channel]]), error: readError(fields.error) }
}

/** Undefined as a whole: some number has lost digits. */
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
const idName = namesOf('id')

function exactIdTexts({ source, at }: JsonBody, place: number): readonly (string | undefined)[] {
  const spans = spansFor(places)
  findMembers(source, at, places, spans)
  const array = part(source, spans[2 * place] as number, spans[2 * place + 1] as number)
  const { starts, ends } = cutElements(array)
  const found = spansFor(idName)
  return starts.map((start, n) => {
    if (array.units[start] !== openObject) return idText(array.text.slice(start, ends[n]))
    findMembers(array, start, idName, found)
    return found[0] === -1 ? undefined : idText(array.text.slice(found[0], found[1]))
  })
}

function part({ text, units, intact, wellFormed }: Source, start: number, end: number): Source {
  return { text: text.slice(start, end), units: units.subarray(start, end), intact, wellFormed }
}

function note(odd: Map<string, string[]>, what: string, which: string): void {
  const known = odd.get(what)
  if (known) known.push(which)
  else odd.set(what, [which])
}

/** One line for each oddity, however many ids it concerns. */
function warning(what: string, which: readonly string[]): string {
  const shown = which.slice(0, 5).map((text) => shortened(text, 60))
  return `${what}: ${shown.join(', ')}${which.length > shown.length ? ` and ${which.length - shown.length} more` : ''}`
}
