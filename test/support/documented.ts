// Checks answers against the server's own OpenAPI document: every status, and for /admin and /app exactly the documented fields.

import assert from 'node:assert/strict'
import { Check } from 'typebox/schema'

// biome-ignore lint/suspicious/noExplicitAny: a document may be any JSON
type Json = any

const documents = new Map<string, Promise<Json>>()

/** Forgets the document of a server, because another server may reuse its port. */
export function forgetDocument(url: string): void {
  documents.delete(url)
}

/** Fails if an answer is not as documented. */
export async function checkDocumented(
  method: 'GET' | 'POST',
  url: string,
  status: number,
  body: unknown,
): Promise<void> {
  const { origin, pathname } = new URL(url)
  if (!/^\/(admin|app|channels|reconciliation|v1)\b/.test(pathname)) return
  if (!documents.has(origin))
    documents.set(
      origin,
      // A server in which a side is only mounted has no document.
      fetch(`${origin}/openapi.json`).then(async (answer) => (answer.ok ? parseOnce(await answer.text()) : {})),
    )
  const document = await documents.get(origin)
  // A path with fewer parameters is the closer one.
  const parameters = (path: string): number => path.split('{').length
  const paths = Object.keys(document.paths ?? {}).toSorted((a, b) => parameters(a) - parameters(b))
  const path = paths.includes(pathname) ? pathname : paths.find((each) => matches(each, pathname))
  const operation = path && document.paths[path][method.toLowerCase()]
  if (!operation) return
  assert.ok(operation.responses[status], `${method} ${path} answered ${status}, an undocumented status`)
  if (status !== 200 || !/^\/(admin|app)\//.test(pathname)) return
  const documented = operation.responses[200].content['application/json']?.schema ?? {}
  if (!strict.has(documented)) strict.set(documented, strictSchema(documented, document))
  const schema = strict.get(documented)
  assert.ok(
    Check(schema, body),
    `${method} ${path}: the answer does not match its documented schema: ${JSON.stringify(body)}`,
  )
}

/** Most servers of a test file have the same document. */
function parseOnce(text: string): Json {
  if (!parsed.has(text)) parsed.set(text, JSON.parse(text))
  return parsed.get(text)
}
const parsed = new Map<string, Json>()
const strict = new WeakMap<object, Json>()

function matches(path: string, pathname: string): boolean {
  const [template, actual] = [path.split('/'), pathname.split('/')]
  return template.length === actual.length && template.every((part, i) => part.startsWith('{') || part === actual[i])
}

/** Resolves references, and forbids additional properties in every object schema that names properties. */
export function strictSchema(schema: Json, document: Json): Json {
  if (Array.isArray(schema)) return schema.map((each) => strictSchema(each, document))
  if (typeof schema !== 'object' || schema === null) return schema
  if (typeof schema.$ref === 'string')
    return strictSchema(document.components.schemas[schema.$ref.split('/').at(-1)], document)
  const entries = Object.entries(schema).map(([name, value]) => [name, strictSchema(value, document)])
  const all = Object.fromEntries(entries)
  const hasProperties = all.type === 'object' && all.properties && Object.keys(all.properties).length > 0
  return hasProperties && all.additionalProperties === undefined ? { ...all, additionalProperties: false } : all
}
