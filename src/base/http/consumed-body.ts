import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { preParsingAsyncHookHandler } from 'fastify'
import { HttpError } from './http-error.ts'
import { hasBody } from './request-bodies.ts'

/**
 * Restores a body that a body parser of the host, such as express.json(), has already read. The raw bytes are used if the host
 * kept them. The parsed value is not used, since ids above 2^53 have lost digits. Reading the request again would hang forever.
 *
 * @throws HttpError 500 with the remedy if the bytes are gone; the platform sends the request again
 */
export const restoreConsumedBody: preParsingAsyncHookHandler = async ({ raw }, _reply, payload) => {
  if (!raw.readableDidRead && !raw.readableEnded) return payload
  const bytes = keptBytes(raw)
  if (bytes) return Readable.from([bytes])
  if (!hasBody(raw)) return Readable.from([])
  throw new HttpError(
    500,
    'another body parser has already read the body: mount this handler before express.json() and other body parsers, or keep the bytes with express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })',
  )
}

/** The raw bytes from the `verify` option of express.json(), or from express.raw(). */
function keptBytes({ rawBody, body }: IncomingMessage & { rawBody?: unknown; body?: unknown }): Buffer | undefined {
  return [rawBody, body].find((value) => Buffer.isBuffer(value))
}
