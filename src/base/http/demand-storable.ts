import type { FastifyRequest } from 'fastify'
import { isStorable, UnstorableText } from '../runtime/unstorable.ts'
import { HttpError } from './http-error.ts'

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
