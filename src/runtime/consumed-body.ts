import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { preParsingAsyncHookHandler } from 'fastify'
import { HttpError } from './http-error.ts'

/**
 * Behind a parser of the host's, such as express.json(), the body has been read. Its bytes are used where the host kept them. Its
 * parsed value is not: ids above 2^53 have lost digits there. Waiting for bytes that do not come again would hang for ever.
 *
 * @throws HttpError 500, which makes the platform send again, with the remedy
 */
export const restoreConsumedBody: preParsingAsyncHookHandler = async ({ raw }, _reply, payload) => {
  if (!raw.readableDidRead && !raw.readableEnded) return payload
  const bytes = keptBytes(raw)
  if (bytes) return Readable.from([bytes])
  if (!hasBody(raw)) return Readable.from([])
  throw new HttpError(
    500,
    'the body was read before Bellwire could read it: mount this handler before express.json() and other body parsers, or keep the bytes with express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })',
  )
}

/** From `verify` of express.json(), or from express.raw(). */
function keptBytes({ rawBody, body }: IncomingMessage & { rawBody?: unknown; body?: unknown }): Buffer | undefined {
  return [rawBody, body].find((value) => Buffer.isBuffer(value))
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
