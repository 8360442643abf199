// Text that cannot be stored: PostgreSQL rejects U+0000 and lone surrogates, and SQLite would change them.

import type { FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'

/** Thrown by the store for text that it cannot keep. Answered 400, since a retry would fail again. */
export class UnstorableText extends Error {
  override readonly name = 'UnstorableText'
  constructor(name: string) {
    super(`${name} holds U+0000 or a lone surrogate (half of a character), which cannot be stored`)
  }
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** @throws HttpError 400 that names the path or query parameter */
export function demandStorableParameters(request: FastifyRequest): void {
  const { params, query } = request as { params: Record<string, unknown>; query: Record<string, unknown> }
  for (const [name, value] of [...Object.entries(params), ...Object.entries(query)]) {
    if (typeof value !== 'string') throw new HttpError(400, `${name} is given more than once: give it once`)
    if (!isStorable(value)) throw new HttpError(400, new UnstorableText(name).message)
  }
}

/** Checks members at every depth. @throws HttpError 400 that names the top-level member */
export function demandStorableMembers(members: Readonly<Record<string, unknown>>): void {
  for (const [name, member] of Object.entries(members)) {
    const parts: unknown[] = [name, member]
    while (parts.length > 0) {
      const part = parts.pop()
      if (typeof part === 'object' && part !== null)
        for (const [key, value] of Object.entries(part)) parts.push(key, value)
      else if (typeof part === 'string' && !isStorable(part))
        throw new HttpError(400, new UnstorableText(name.toWellFormed().replaceAll('\0', '\ufffd')).message)
    }
  }
}
