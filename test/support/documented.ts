// What is answered must be what the document of the same server says: every status, and of /admin and /app every field and no other.

import assert from 'node:assert/strict'
import { Check } from 'typebox/schema'

// biome-ignore lint/suspicious/noExplicitAny: a document is whatever JSON it is
type Json = any

const documents = new Map<string, Promise<Json>>()

/** A port may have been another server's. */
export function forgetDocument(url: string): void {
  documents.delete(url)
}

/** Fails where an answer is not as documented. */
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
      // A server of somebody's own, in which a side is mounted, has none.
      fetch(`${origin}/openapi.json`).then((answer) => (answer.ok ? answer.json() : {})),
    )
  const document = await documents.get(origin)
  const paths = Object.keys(document.paths ?? {})
  const path = paths.includes(pathname) ? pathname : paths.find((each) => matches(each, pathname))
  const operation = path && document.paths[path][method.toLowerCase()]
  if (!operation) return
  assert.ok(operation.responses[status], `${method} ${path} answered ${status}, which is not documented`)
  if (status !== 200 || !/^\/(admin|app)\//.test(pathname)) return
  const schema = closed(operation.responses[200].content['application/json']?.schema, document)
  assert.ok(Check(schema, body), `${method} ${path} is not documented so: ${JSON.stringify(body)}`)
}

function matches(path: string, pathname: string): boolean {
  const [words, given] = [path.split('/'), pathname.split('/')]
  return words.length === given.length && words.every((word, i) => word.startsWith('{') || word === given[i])
}

/** References in place, and no object with further properties but those that name none. */
function closed(schema: Json, document: Json): Json {
  if (Array.isArray(schema)) return schema.map((each) => closed(each, document))
  if (typeof schema !== 'object' || schema === null) return schema
  if (typeof schema.$ref === 'string')
    return closed(document.components.schemas[schema.$ref.split('/').at(-1)], document)
  const made = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value, document)]))
  const names = made.type === 'object' && made.properties && Object.keys(made.properties).length > 0
  return names && made.additionalProperties === undefined ? { ...made, additionalProperties: false } : made
}
