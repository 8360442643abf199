// Templates of the general HTTP provider: texts with {{placeholders}}. Values are escaped for JSON, headers or the URL, so
// content cannot add a header or change the structure of the URL or the JSON. Pure.

import type { Json } from '../../../base/runtime/json.ts'

/** The value of a placeholder: as JSON, and as text for use within a longer text. */
export interface Value {
  readonly json: string
  readonly text: string
}

/** Finds the value of a placeholder, or undefined if the message has none. */
export type FindValue = (name: string) => Value | undefined

export type Piece = string | { readonly name: string }

/**
 * Splits a text at its placeholders.
 *
 * @example piecesOf('Hi {{user_id}}!') // ['Hi ', { name: 'user_id' }, '!']
 */
export function piecesOf(text: string): readonly Piece[] {
  return text
    .split(/(\{\{[^{}]*\}\})/)
    .filter((piece) => piece !== '')
    .map((piece) => (/^\{\{[^{}]*\}\}$/.test(piece) ? { name: piece.slice(2, -2).trim() } : piece))
}

export type RenderJson = (findValue: FindValue) => string | undefined

/**
 * Compiles a JSON value whose texts may contain placeholders to a function that renders it. A text that is exactly one
 * placeholder becomes the value with its JSON type; within a longer text the value becomes text. Absent values are left out, and
 * so are objects and arrays with absent members only.
 *
 * @example
 * jsonTemplate({ to: ['{{user_id}}'], contents: { en: '{{body}}' }, note: 'for {{user_id}}' })(findValue)
 * // '{"to":["1001"],"note":"for 1001"}' if the message has no body
 */
export function jsonTemplate(node: Json): RenderJson {
  if (typeof node === 'string') return textTemplate(node)
  if (typeof node !== 'object' || node === null) return constant(JSON.stringify(node))
  const members: (readonly [string, RenderJson])[] = Array.isArray(node)
    ? node.map((item: Json) => ['', jsonTemplate(item)] as const)
    : Object.entries(node).map(([name, value]) => [`${JSON.stringify(name)}:`, jsonTemplate(value as Json)] as const)
  const [open, close] = Array.isArray(node) ? '[]' : '{}'
  return (findValue) => {
    const rendered: string[] = []
    for (const [prefix, render] of members) {
      const value = render(findValue)
      if (value !== undefined) rendered.push(prefix + value)
    }
    return rendered.length === 0 && members.length > 0 ? undefined : open + rendered.join(',') + close
  }
}

function textTemplate(text: string): RenderJson {
  const pieces = piecesOf(text)
  const [only] = pieces
  if (pieces.length === 1 && typeof only === 'object') return (findValue) => findValue(only.name)?.json
  if (pieces.every((piece) => typeof piece === 'string')) return constant(JSON.stringify(text))
  return (findValue) => JSON.stringify(renderPieces(pieces, findValue, (value) => value))
}

/**
 * Compiles the value of a header. In placeholder values, all characters but printable ASCII are percent-encoded, so content
 * cannot end the header. The operator's own secrets are not encoded.
 *
 * @example headerTemplate('{{title}}')(findValue) // 'Gr%C3%BC%C3%9Fe', for the title Grüße
 */
export function headerTemplate(text: string): (findValue: FindValue) => string {
  const pieces = piecesOf(text)
  return (findValue) => renderPieces(pieces, findValue, (value, name) => (isSecret(name) ? value : asHeader(value)))
}

/**
 * Compiles the path and query of a URL. Values are percent-encoded.
 *
 * @returns a function that returns undefined if a value would change the path: an empty segment, `.` or `..`
 * @example pathTemplate('/users/{{user_id}}/push?app={{app}}')(findValue) // '/users/a%2Fb/push?app=x'
 */
export function pathTemplate(text: string): (findValue: FindValue) => string | undefined {
  const [path = '', query] = cutOnce(text, '?')
  const segments = path.split('/').map(piecesOf)
  const queryPieces = query === undefined ? undefined : piecesOf(query)
  const encode = (value: string): string => encodeURIComponent(value.toWellFormed())
  return (findValue) => {
    const rendered: string[] = []
    for (const pieces of segments) {
      const segment = renderPieces(pieces, findValue, encode)
      if (pieces.some((piece) => typeof piece === 'object') && /^\.{0,2}$/.test(segment)) return undefined
      rendered.push(segment)
    }
    return rendered.join('/') + (queryPieces === undefined ? '' : `?${renderPieces(queryPieces, findValue, encode)}`)
  }
}

/**
 * Finds every placeholder of a template with its place, and every `{{` that does not begin a placeholder (without a name).
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

function renderPieces(
  pieces: readonly Piece[],
  findValue: FindValue,
  escaped: (value: string, name: string) => string,
): string {
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : escaped(findValue(piece.name)?.text ?? '', piece.name)))
    .join('')
}

/** Percent-encodes all characters but printable ASCII. The percent sign is encoded too, so that the value can be decoded. */
function asHeader(value: string): string {
  return value.toWellFormed().replace(/[^\x20-\x24\x26-\x7e]+/gu, (unsafe) => encodeURIComponent(unsafe))
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
