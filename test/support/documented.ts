// Checks answers against the OpenAPI documents of the servers: every status, and for /admin and /app exactly the documented fields.

import assert from 'node:assert/strict'
import { Check } from 'typebox/schema'

// biome-ignore lint/suspicious/noExplicitAny: a document may be any JSON
type Json = any

interface Document {
  readonly json: Json
  /** A path with fewer parameters is the closer one, and comes first. */
  readonly paths: readonly string[]
}

const sides = new Map<string, 'operator' | 'platform'>()
/** The documents that were read, for each side, or for the origin of a server whose side is not known. */
const known = new Map<string, Document[]>()
const reading = new Map<string, Promise<Document>>()

/** To build and read a document takes 20 ms. So the operations of this server are also looked up in those of earlier servers of its side. */
export function noteServer(url: string, side: 'operator' | 'platform'): void {
  sides.set(url, side)
  reading.delete(url)
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
  const found =
    (known.get(sides.get(origin) ?? origin) ?? []).map((each) => operationOf(each, method, pathname)).find(Boolean) ??
    operationOf(await documentOf(origin), method, pathname)
  if (!found) return
  const { operation, document, path } = found
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

const strict = new WeakMap<object, Json>()

function operationOf({ json, paths }: Document, method: string, pathname: string) {
  const path = paths.includes(pathname) ? pathname : paths.find((each) => matches(each, pathname))
  const operation = path && json.paths[path][method.toLowerCase()]
  return operation && { operation, document: json, path }
}

function documentOf(origin: string): Promise<Document> {
  const reads = reading.get(origin) ?? readDocument(origin)
  reading.set(origin, reads)
  return reads
}

async function readDocument(origin: string): Promise<Document> {
  const answer = await fetch(`${origin}/openapi.json`)
  // A server in which a side is only mounted has no document.
  const json = answer.ok ? ((await answer.json()) as Json) : {}
  const parameters = (path: string): number => path.split('{').length
  const document = { json, paths: Object.keys(json.paths ?? {}).toSorted((a, b) => parameters(a) - parameters(b)) }
  const key = sides.get(origin) ?? origin
  known.set(key, [...(known.get(key) ?? []), document])
  return document
}

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
