// What a person gets to read. The interface does not show its fields (§2.1), so they are found by JSON Pointers (row 4).

/** Where the content is found in a request element, as JSON Pointers (RFC 6901). Siblings of `activity` by default. */
export interface ContentMapping {
  readonly title: string
  readonly body: string
  readonly image_url: string
  readonly url: string
  readonly data: string
}

export const defaultContentMapping: ContentMapping = {
  title: '/title',
  body: '/body',
  image_url: '/image_url',
  url: '/url',
  data: '/data',
}

export interface Content {
  readonly title?: string
  readonly body?: string
  readonly image_url?: string
  readonly url?: string
  /** A JSON object, as text: numbers beyond 2^53 keep their digits. */
  readonly data?: string
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
  try {
    return pick(parse(text), mapping)
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
    content[name] = value
  }
  const data = at(element, mapping.data)
  if (data !== undefined && data !== null) {
    if (typeof data !== 'object' || Array.isArray(data)) {
      return { error: wrong('data', mapping.data, 'an object', data) }
    }
    content.data = JSON.stringify(data)
  }
  return content
}

// The digits of a number that a double cannot hold are kept by JSON.rawJSON. That costs a call for each value, and
// numbers so long are rare, so the plain parse is used where the text has none.
const longNumber = /\d{16}|[eE.]/

function parse(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text)
  return JSON.parse(text, keepDigits as (this: unknown, key: string, value: unknown) => unknown)
}

const rawJson = (JSON as unknown as { rawJSON(text: string): object }).rawJSON

function keepDigits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined || String(value) === context.source) return value
  return rawJson(context.source)
}

/** The value at a JSON Pointer, undefined where there is none. */
function at(element: unknown, pointer: string): unknown {
  let value = element
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined
    const name = part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part
    if (!Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

function wrong(name: string, pointer: string, wanted: string, value: unknown): string {
  const found = Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
  return `${name} at ${pointer} is ${found}, not ${wanted}; if your content is elsewhere, set the content mapping`
}
