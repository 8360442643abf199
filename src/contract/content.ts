// What a person gets to read. The interface does not show its fields (§2.1), so they are found by JSON Pointers (row 4).

/** Where the content is found in a request element, as JSON Pointers (RFC 6901). Siblings of `activity` by default. */
export interface ContentMapping {
  readonly title: string
  readonly body: string
  readonly image_url: string
  readonly url: string
  readonly data: string
  /** The target, where a message names one: a device token, several, or (older) a recipient. Push only. */
  readonly token: string
  readonly tokens: string
  readonly recipient: string
  /** An object of what one push service is to be told beside the content, by the service's kind: {"fcm": {…}}. Push only. */
  readonly overrides: string
  /** A message with neither title nor body cannot be read: it is failed. */
  readonly required?: boolean
}

/** Each is a call to a push service. No user may have more devices. */
const mostTargets = 1_000

export const defaultContentMapping: ContentMapping = {
  title: '/title',
  body: '/body',
  image_url: '/image_url',
  url: '/url',
  data: '/data',
  token: '/token',
  tokens: '/tokens',
  recipient: '/recipient',
  overrides: '/overrides',
}

export interface Content {
  readonly title?: string
  readonly body?: string
  readonly image_url?: string
  readonly url?: string
  /** A JSON object, as text: numbers beyond 2^53 keep their digits. */
  readonly data?: string
}

/** The content of a push message, with its target and what single push services are to be told. */
export interface PushContent extends Content {
  /** The device tokens that the message names; absent: all devices of its user. */
  readonly tokens?: readonly string[]
  readonly overrides?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/**
 * Reads the content from the text of a request element (§2.1). A field that is absent or null stays absent; one of
 * another type is an error that names the pointer, because showing `[object Object]` to a person would be worse.
 *
 * @example
 * readContent('{"activity":{…},"title":"Hello"}') // { title: 'Hello' }
 * readContent('{"msg":{"t":"Hello"}}', { ...defaultContentMapping, title: '/msg/t' }) // { title: 'Hello' }
 */
export function readContent(
  text: string,
  mapping: ContentMapping = defaultContentMapping,
): Content | { error: string } {
  return reading(() => pick(parseElement(text, mapping), mapping))
}

/**
 * Reads content, target and overrides of a push message.
 *
 * @example
 * readPushContent('{"activity":{…},"title":"Hello","token":"t-1","overrides":{"fcm":{"android":{"priority":"HIGH"}}}}')
 * // { title: 'Hello', tokens: ['t-1'], overrides: { fcm: { android: { priority: 'HIGH' } } } }
 */
export function readPushContent(
  text: string,
  mapping: ContentMapping = defaultContentMapping,
): PushContent | { error: string } {
  return reading(() => {
    const element = parseElement(text, mapping)
    const content = pick(element, mapping)
    if ('error' in content) return content
    const tokens = pickTokens(element, mapping)
    if (tokens !== undefined && 'error' in tokens) return tokens
    const overrides = pickOverrides(element, mapping)
    if (overrides !== undefined && 'error' in overrides) return overrides as { error: string }
    return { ...content, ...(tokens && { tokens }), ...(overrides && { overrides }) }
  })
}

/**
 * `data` for a push service that takes texts only: texts as they are, other values as JSON.
 *
 * @example dataTexts({ data: '{"a":"x","n":9007199254740993,"o":{"k":1}}' }) // { a: 'x', n: '9007199254740993', o: '{"k":1}' }
 */
export function dataTexts({ data }: Content): Record<string, string> {
  if (data === undefined) return {}
  const values = parse(data) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

function reading<Read>(read: () => Read | { error: string }): Read | { error: string } {
  try {
    return read()
  } catch (error) {
    // Not JSON, or nested so deep that there is no stack for it: this message's own fault, whatever it is.
    return { error: `the content cannot be read: ${(error as Error).message}` }
  }
}

function pick(element: unknown, mapping: ContentMapping): Content | { error: string } {
  const content: { -readonly [Name in keyof Content]: Content[Name] } = {}
  for (const name of ['title', 'body', 'image_url', 'url'] as const) {
    const value = at(element, mapping[name])
    if (value === undefined || value === null) continue
    if (typeof value !== 'string') return { error: wrong(name, mapping[name], 'a string', value) }
    const refused = name === 'url' || name === 'image_url' ? dangerIn(name, value) : undefined
    if (refused !== undefined) return { error: `${name} at ${mapping[name]} is ${refused}` }
    content[name] = value
  }
  const data = at(element, mapping.data)
  if (data !== undefined && data !== null) {
    if (!isObject(data)) return { error: wrong('data', mapping.data, 'an object', data) }
    content.data = JSON.stringify(data)
  }
  if (mapping.required && textMissingAt(content, mapping)) return { error: nothingToRead(mapping) }
  return content
}

/** Schemes that a page or an app would run, or read from its own machine. Schemes of apps and relative addresses are allowed. */
const dangerous: ReadonlySet<string> = new Set(
  ['javascript', 'data', 'vbscript', 'blob', 'file', 'filesystem', 'view-source', 'about'].map((name) => `${name}:`),
)

function dangerIn(name: 'url' | 'image_url', value: string): string | undefined {
  if (/^https?:\/\//i.test(value)) return undefined
  // As browsers read it: they leave out line breaks within the scheme and spaces before it.
  const scheme = URL.parse(value, 'https://page.invalid')?.protocol
  if (scheme === undefined || !dangerous.has(scheme)) return undefined
  if (name === 'image_url' && scheme === 'data:') return undefined
  return `an address of the scheme ${scheme} that is never opened: use https, or a scheme of your app`
}

/** The pointers at which a message has neither title nor body. Undefined: there is something to read. */
export function textMissingAt(
  { title, body }: Content,
  mapping: ContentMapping = defaultContentMapping,
): readonly string[] | undefined {
  return title || body ? undefined : [mapping.title, mapping.body]
}

const nothingToRead = ({ title, body }: ContentMapping): string =>
  `there is neither a title at ${title} nor a body at ${body}: send one, or set the content mapping`

function pickTokens(element: unknown, mapping: ContentMapping): readonly string[] | undefined | { error: string } {
  const named: string[] = []
  for (const name of ['token', 'recipient'] as const) {
    const value = at(element, mapping[name]) ?? undefined
    if (value === undefined) continue
    if (typeof value !== 'string' || value === '') return { error: wrong(name, mapping[name], 'a token', value) }
    named.push(value)
  }
  const several = at(element, mapping.tokens) ?? undefined
  if (several !== undefined) {
    if (!Array.isArray(several) || several.some((token) => typeof token !== 'string' || token === ''))
      return { error: wrong('tokens', mapping.tokens, 'an array of tokens', several) }
    named.push(...(several as string[]))
  }
  if (named.length > mostTargets)
    return { error: `${named.length} device tokens are named; a message may name ${mostTargets} of its user's devices` }
  return named.length === 0 ? undefined : [...new Set(named)]
}

function pickOverrides(
  element: unknown,
  mapping: ContentMapping,
): PushContent['overrides'] | undefined | { error: string } {
  const overrides = at(element, mapping.overrides) ?? undefined
  if (overrides === undefined) return undefined
  if (!isObject(overrides) || !Object.values(overrides).every(isObject))
    return { error: wrong('overrides', mapping.overrides, 'an object of objects', overrides) }
  return overrides as Record<string, Record<string, unknown>>
}

const isObject = (value: unknown): boolean => kindOf(value) === 'an object'

// The digits of a number that a double cannot hold are kept by JSON.rawJSON. That costs a call for each value, and
// such numbers are rare, so the plain parse is used where the text has none. (What looks like one in a text does no harm.)
const longNumber = /\d{16}|[[:,\s]-?\d+[.eE]/

const parse = (text: string): unknown => (longNumber.test(text) ? parseExactly(text) : JSON.parse(text))

// Of a request element only what is passed on as it came may have numbers.
function parseElement(text: string, { data, overrides }: ContentMapping): unknown {
  const element: unknown = JSON.parse(text)
  const passesOn = at(element, data) !== undefined || at(element, overrides) !== undefined
  return passesOn && longNumber.test(text) ? parseExactly(text) : element
}

const parseExactly = (text: string): unknown =>
  JSON.parse(text, keepDigits as (this: unknown, key: string, value: unknown) => unknown)

const { rawJSON: rawJson, isRawJSON: isRawJson } = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

function keepDigits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined || String(value) === context.source) return value
  return rawJson(context.source)
}

/** The value at a JSON Pointer, undefined where there is none. */
function at(element: unknown, pointer: string): unknown {
  let value = element
  for (const name of namesIn(pointer)) {
    if (typeof value !== 'object' || value === null || isRawJson(value)) return undefined
    if (!Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Pointers come from the configuration, so they are few. */
const knownPointers = new Map<string, readonly string[]>()

function namesIn(pointer: string): readonly string[] {
  const known = knownPointers.get(pointer)
  if (known) return known
  const parts = pointer.split('/').slice(1)
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  knownPointers.set(pointer, names)
  return names
}

function wrong(name: string, pointer: string, wanted: string, value: unknown): string {
  const kind = kindOf(value)
  // Of the right kind, so it is what is in it.
  const found = !wanted.startsWith(kind) ? kind : `${kind} with something else in it`
  return `${name} at ${pointer} is ${found}, not ${wanted}; if your content is elsewhere, set the content mapping`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return 'an array'
  // A number that kept its digits is an object to JavaScript.
  if (typeof value === 'object') return isRawJson(value) ? 'a number' : 'an object'
  return `a ${typeof value}`
}
