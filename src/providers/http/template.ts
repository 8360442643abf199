// Templates of the general HTTP provider: texts with {{placeholders}}, rendered for the place where they stand, so that no
// content can become another header, another part of the address or other JSON. Pure.

import type { Json } from '../../runtime/json.ts'

/** What a placeholder stands for: as JSON, and as text where it is a part of a longer text. */
export interface Value {
  readonly json: string
  readonly text: string
}

/** The value of a placeholder, undefined where the message has none. */
export type Look = (name: string) => Value | undefined

export type Piece = string | { readonly name: string }

/**
 * A text, cut at its placeholders.
 *
 * @example piecesOf('Hi {{user_id}}!') // ['Hi ', { name: 'user_id' }, '!']
 */
export function piecesOf(text: string): readonly Piece[] {
  return text
    .split(/(\{\{[^{}]*\}\})/)
    .filter((piece) => piece !== '')
    .map((piece) => (/^\{\{[^{}]*\}\}$/.test(piece) ? { name: piece.slice(2, -2).trim() } : piece))
}

export type RenderJson = (look: Look) => string | undefined

/**
 * A JSON value whose texts may hold placeholders, as a function that writes it. A text that is exactly one placeholder becomes the
 * value with its JSON type; in a longer text the value stands as text. What is absent is left out, and so is whatever
 * had only absent things in it.
 *
 * @example
 * jsonTemplate({ to: ['{{user_id}}'], contents: { en: '{{body}}' }, note: 'for {{user_id}}' })(look)
 * // '{"to":["1001"],"note":"for 1001"}' where the message has no body
 */
export function jsonTemplate(node: Json): RenderJson {
  if (typeof node === 'string') return textTemplate(node)
  if (typeof node !== 'object' || node === null) return constant(JSON.stringify(node))
  const members: (readonly [string, RenderJson])[] = Array.isArray(node)
    ? node.map((item: Json) => ['', jsonTemplate(item)] as const)
    : Object.entries(node).map(([name, value]) => [`${JSON.stringify(name)}:`, jsonTemplate(value as Json)] as const)
  const [open, close] = Array.isArray(node) ? '[]' : '{}'
  return (look) => {
    const written: string[] = []
    for (const [before, render] of members) {
      const value = render(look)
      if (value !== undefined) written.push(before + value)
    }
    return written.length === 0 && members.length > 0 ? undefined : open + written.join(',') + close
  }
}

function textTemplate(text: string): RenderJson {
  const pieces = piecesOf(text)
  const [only] = pieces
  if (pieces.length === 1 && typeof only === 'object') return (look) => look(only.name)?.json
  if (pieces.every((piece) => typeof piece === 'string')) return constant(JSON.stringify(text))
  return (look) => JSON.stringify(joined(pieces, look, (value) => value))
}

/**
 * The value of a header. Placeholders are percent-encoded but for printable ASCII, so no content can end the header; the
 * operator's own secrets stand as they are.
 *
 * @example headerTemplate('{{title}}')(look) // 'Gr%C3%BC%C3%9Fe', for the title Grüße
 */
export function headerTemplate(text: string): (look: Look) => string {
  const pieces = piecesOf(text)
  return (look) => joined(pieces, look, (value, name) => (isSecret(name) ? value : asHeader(value)))
}

/**
 * The path and query of an address. Values are percent-encoded.
 *
 * @returns a function that gives undefined where a value would make another path of it: nothing, `.` or `..` for a whole segment
 * @example pathTemplate('/users/{{user_id}}/push?app={{app}}')(look) // '/users/a%2Fb/push?app=x'
 */
export function pathTemplate(text: string): (look: Look) => string | undefined {
  const [path = '', query] = cutOnce(text, '?')
  const segments = path.split('/').map(piecesOf)
  const after = query === undefined ? undefined : piecesOf(query)
  const encode = (value: string): string => encodeURIComponent(value.toWellFormed())
  return (look) => {
    const shown: string[] = []
    for (const pieces of segments) {
      const segment = joined(pieces, look, encode)
      if (pieces.some((piece) => typeof piece === 'object') && /^\.{0,2}$/.test(segment)) return undefined
      shown.push(segment)
    }
    return shown.join('/') + (after === undefined ? '' : `?${joined(after, look, encode)}`)
  }
}

/**
 * Every placeholder of a template with the place where it stands, and each text that looks like one and is none.
 *
 * @example placeholdersOf({ to: ['{{user_id}}'] }, 'body') // [{ name: 'user_id', at: 'body.to[0]' }]
 */
export function placeholdersOf(node: Json, at: string): { readonly name?: string; readonly at: string }[] {
  if (typeof node === 'string') {
    return piecesOf(node).flatMap((piece) =>
      typeof piece === 'object' ? [{ name: piece.name, at }] : piece.includes('{{') ? [{ at }] : [],
    )
  }
  if (typeof node !== 'object' || node === null) return []
  if (Array.isArray(node)) return node.flatMap((item: Json, i) => placeholdersOf(item, `${at}[${i}]`))
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name.includes('{{') ? [{ at: `${at}.${name}` }] : []),
    ...placeholdersOf(value as Json, `${at}.${name}`),
  ])
}

function joined(pieces: readonly Piece[], look: Look, escaped: (value: string, name: string) => string): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : escaped(look(piece.name)?.text ?? '', piece.name)))
    .join('')
}

/** Printable ASCII stays; the rest, and the percent sign itself, is encoded, so that it can be read back. */
function asHeader(value: string): string {
  return value.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/gu, (odd) => encodeURIComponent(odd))
}

const isSecret = (name: string): boolean => name.startsWith('secret.')

const constant =
  (json: string): RenderJson =>
  () =>
    json

export function cutOnce(text: string, at: string): [string, string | undefined] {
  const i = text.indexOf(at)
  return i === -1 ? [text, undefined] : [text.slice(0, i), text.slice(i + 1)]
}
