// The content of a message. The interface does not define its fields (§2.1), so JSON Pointers locate them (row 4).

import { isRawJson, parseExactly } from './exact-json.ts'
import { readExpiry } from './expiry.ts'
import { valueAt } from './pointer.ts'

/** JSON Pointers (RFC 6901) to the content in a request element; by default siblings of `activity`. */
export interface ContentMapping {
  readonly title: string
  readonly body: string
  readonly image_url: string
  readonly url: string
  readonly data: string
  /** The time after which the message is worthless (row 56). */
  readonly expires_at: string
  /** The target, if a message names one: a device token, or several tokens. Push only. */
  readonly token: string
  readonly tokens: string
  /** Another place of a device token. No default: in relatives of this record it is an address, and not a token. */
  readonly recipient?: string
  /** Additional fields for one kind of push service: {"fcm": {…}}. Push only. */
  readonly overrides: string
  /**
   * The meta that comes back with each delivery status (row 25). The value at one pointer; or of several, an object whose members
   * have the last names of the pointers. Default: /meta.
   */
  readonly meta?: string | readonly string[] | undefined
  /** true: a message with neither title nor body fails. */
  readonly required?: boolean
}

/** Each target is a call to a push service, and no user may have more devices. */
const maxTargets = 1_000

export const defaultContentMapping: ContentMapping = {
  title: '/title',
  body: '/body',
  image_url: '/image_url',
  url: '/url',
  data: '/data',
  expires_at: '/expires_at',
  token: '/token',
  tokens: '/tokens',
  overrides: '/overrides',
}

export interface Content {
  readonly title?: string
  readonly body?: string
  readonly image_url?: string
  readonly url?: string
  /** A JSON object as text, so that numbers beyond 2^53 keep their digits. */
  readonly data?: string
  /** Epoch milliseconds. */
  readonly expiresAt?: number
}

/** The content of a push message, with its target and the overrides for push services. */
export interface PushContent extends Content {
  /** The device tokens that the message names; absent: all devices of its user. */
  readonly tokens?: readonly string[]
  readonly overrides?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/**
 * Reads the content from the text of a request element (§2.1). A field that is null counts as absent. A field of the wrong type
 * is an error that names the pointer, because a person must never see `[object Object]`.
 *
 * @param parsed the parsed text, if there is one; its numbers may be rounded
 * @example
 * readContent('{"activity":{…},"title":"Hello"}') // { title: 'Hello' }
 * readContent('{"msg":{"t":"Hello"}}', { ...defaultContentMapping, title: '/msg/t' }) // { title: 'Hello' }
 */
export function readContent(
  text: string,
  mapping: ContentMapping = defaultContentMapping,
  parsed?: unknown,
): Content | { error: string } {
  return catchParseError(() => pickContent(parseElement(text, mapping, parsed), mapping))
}

/**
 * Reads the content, the target and the overrides of a push message.
 *
 * @param parsed the parsed text, if there is one; its numbers may be rounded
 * @example
 * readPushContent('{"activity":{…},"title":"Hello","token":"t-1","overrides":{"fcm":{"android":{"priority":"HIGH"}}}}')
 * // { title: 'Hello', tokens: ['t-1'], overrides: { fcm: { android: { priority: 'HIGH' } } } }
 */
export function readPushContent(
  text: string,
  mapping: ContentMapping = defaultContentMapping,
  parsed?: unknown,
): PushContent | { error: string } {
  return catchParseError(() => {
    const element = parseElement(text, mapping, parsed)
    const content = pickContent(element, mapping)
    if ('error' in content) return content
    const tokens = pickTokens(element, mapping)
    if (tokens !== undefined && 'error' in tokens) return tokens
    const overrides = pickOverrides(element, mapping)
    if (overrides !== undefined && 'error' in overrides) return overrides as { error: string }
    return { ...content, ...(tokens && { tokens }), ...(overrides && { overrides }) }
  })
}

/**
 * `data` for a push service that accepts only texts: texts are kept, other values become JSON, and null is left out, because an
 * app would show "null".
 *
 * @example dataTexts({ data: '{"a":"x","n":9007199254740993,"o":{"k":1}}' }) // { a: 'x', n: '9007199254740993', o: '{"k":1}' }
 */
export function dataTexts({ data }: Content): Record<string, string> {
  if (data === undefined) return {}
  const values = parse(data) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

function catchParseError<Read>(read: () => Read | { error: string }): Read | { error: string } {
  try {
    return read()
  } catch (error) {
    // Invalid JSON, or a stack overflow because of deep nesting: only this message fails.
    return { error: `the content cannot be read: ${(error as Error).message}` }
  }
}

function pickContent(element: unknown, mapping: ContentMapping): Content | { error: string } {
  const content: { -readonly [Name in keyof Content]: Content[Name] } = {}
  for (const name of ['title', 'body', 'image_url', 'url'] as const) {
    const value = valueAt(element, mapping[name])
    if (value === undefined || value === null) continue
    if (typeof value !== 'string') return { error: wrongType(name, mapping[name], 'a string', value) }
    // An empty address is a field of a template that was not filled.
    if (value === '' && (name === 'url' || name === 'image_url')) continue
    const danger = name === 'url' || name === 'image_url' ? findDanger(name, value) : undefined
    if (danger !== undefined) return { error: `${name} at ${mapping[name]} ${danger}` }
    content[name] = value
  }
  const data = valueAt(element, mapping.data)
  if (data !== undefined && data !== null) {
    if (!isObject(data)) return { error: wrongType('data', mapping.data, 'an object', data) }
    content.data = JSON.stringify(data)
  }
  const expiry = valueAt(element, mapping.expires_at)
  if (expiry !== undefined && expiry !== null) {
    const expiresAt = readExpiry(expiry)
    if (expiresAt === undefined)
      return {
        error: wrongType(
          'expires_at',
          mapping.expires_at,
          'a date and time with its zone, or seconds since 1970',
          expiry,
        ),
      }
    content.expiresAt = expiresAt
  }
  if (mapping.required && textMissingAt(content, mapping)) return { error: missingText(mapping) }
  return content
}

/** Schemes that run code or read local files. Relative addresses and the schemes of apps are allowed. */
const dangerous: ReadonlySet<string> = new Set(
  ['javascript', 'data', 'vbscript', 'blob', 'file', 'filesystem', 'view-source', 'about'].map((name) => `${name}:`),
)

function findDanger(name: 'url' | 'image_url', value: string): string | undefined {
  if (/^https?:\/\//i.test(value)) return undefined
  // Parsed like a browser does, which removes line breaks within the scheme and spaces before it.
  const scheme = URL.parse(value, 'https://page.invalid')?.protocol
  if (scheme === undefined || !dangerous.has(scheme)) return undefined
  if (name === 'image_url' && scheme === 'data:') return undefined
  return `has the scheme ${scheme} which is never opened; use https, or a scheme of your app`
}

/** The pointers of title and body if the message has neither; otherwise undefined. */
export function textMissingAt(
  { title, body }: Content,
  mapping: ContentMapping = defaultContentMapping,
): readonly string[] | undefined {
  return [title, body].some(isVisible) ? undefined : [mapping.title, mapping.body]
}

/** A text of white space and zero-width characters shows nothing. U+2800 is the empty pattern of Braille. */
const isVisible = (text = ''): boolean => /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]/u.test(text)

const missingText = ({ title, body }: ContentMapping): string =>
  `there is neither a title at ${title} nor a body at ${body}: send one, or set the content mapping`

function pickTokens(element: unknown, mapping: ContentMapping): readonly string[] | undefined | { error: string } {
  const tokens: string[] = []
  for (const name of ['token', 'recipient'] as const) {
    const pointer = mapping[name]
    const value = pointer === undefined ? undefined : (valueAt(element, pointer) ?? undefined)
    if (pointer === undefined || value === undefined) continue
    if (typeof value !== 'string' || value === '') return { error: wrongType(name, pointer, 'a token', value) }
    tokens.push(value)
  }
  const several = valueAt(element, mapping.tokens) ?? undefined
  if (several !== undefined) {
    if (!Array.isArray(several) || several.some((token) => typeof token !== 'string' || token === ''))
      return { error: wrongType('tokens', mapping.tokens, 'an array of tokens', several) }
    tokens.push(...(several as string[]))
  }
  if (tokens.length > maxTargets)
    return { error: `the message names ${tokens.length} device tokens: send at most ${maxTargets}` }
  return tokens.length === 0 ? undefined : [...new Set(tokens)]
}

function pickOverrides(
  element: unknown,
  mapping: ContentMapping,
): PushContent['overrides'] | undefined | { error: string } {
  const overrides = valueAt(element, mapping.overrides) ?? undefined
  if (overrides === undefined) return undefined
  if (!isObject(overrides) || !Object.values(overrides).every(isObject))
    return { error: wrongType('overrides', mapping.overrides, 'an object of objects', overrides) }
  return overrides as Record<string, Record<string, unknown>>
}

const isObject = (value: unknown): boolean => kindOf(value) === 'an object'

// JSON.rawJSON keeps the digits of a number that a double cannot hold. It costs a call per value, and such numbers are rare, so
// it is used only if the text may contain one. (A false match within a string does no harm.)
const longNumber = /\d{16}|[[:,\s]-?\d+[.eE]/

const parse = (text: string): unknown => (longNumber.test(text) ? parseExactly(text) : JSON.parse(text))

// Only `data` and `overrides` are passed on with their numbers, so only they need exact digits.
function parseElement(text: string, { data, overrides }: ContentMapping, parsed: unknown): unknown {
  const element: unknown = parsed ?? JSON.parse(text)
  const passesNumbers = valueAt(element, data) !== undefined || valueAt(element, overrides) !== undefined
  return passesNumbers && longNumber.test(text) ? parseExactly(text) : element
}

function wrongType(name: string, pointer: string, expected: string, value: unknown): string {
  const kind = kindOf(value)
  // If the value itself has the right type, its members do not.
  const found = !expected.startsWith(kind) ? kind : `${kind} with invalid members`
  return `${name} at ${pointer} is ${found}, not ${expected}; if your content is elsewhere, set the content mapping`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return 'an array'
  // JSON.rawJSON represents a number as an object.
  if (typeof value === 'object') return isRawJson(value) ? 'a number' : 'an object'
  return `a ${typeof value}`
}
