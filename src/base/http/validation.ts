// Every request of /admin and /app is validated by the schema of its route, which also types and documents it.

import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { createMismatch } from '../../contract/mismatch.ts'
import { HttpError } from './http-error.ts'

const names: Readonly<Record<string, string>> = { querystring: 'the query', params: 'the path', body: 'the body' }

/**
 * Compiles the schema of a part of a request. In a path or query, the text of a whole number, `true` and `false` become values
 * first. TypeBox's own conversion would accept `1.5`, `0x10` and `1e3` as whole numbers.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  const mismatch = createMismatch(schema, names[httpPart] ?? httpPart)
  return (given: unknown) => {
    const value = httpPart === 'body' ? given : readTexts(schema, given as Record<string, string>)
    const problem = mismatch(value)
    return problem === undefined ? { value } : { error: new HttpError(400, problem) }
  }
}

function readTexts(schema: TSchema, texts: Readonly<Record<string, string>>): Record<string, unknown> {
  const { properties } = schema as { properties: Readonly<Record<string, { readonly type?: string }>> }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, readText(text, properties[name]?.type)]))
}

function readText(text: string, type: string | undefined): unknown {
  if (type === 'integer' && /^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
