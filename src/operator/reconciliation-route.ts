// POST /reconciliation (§4.1, §7.3): everybody of the key's brand for whom a field is true.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  type AttributeSource,
  type Field,
  fields,
  fieldsOf,
  NotListed,
  type Snapshot,
} from '../attributes/attribute-source.ts'
import { reconciliation } from '../contract/endpoints.ts'
import { readJsonBody } from '../contract/json-body.ts'
import { shortened } from '../contract/storable.ts'
import { emit } from '../runtime/events.ts'
import { HttpError } from '../runtime/http.ts'
import { authentication, onlyBrandOf } from './authenticate.ts'
import type { ApiKey, ReconciliationLimits } from './options.ts'
import { streamUsers } from './reconciliation-stream.ts'

export interface ReconciliationRoute {
  readonly keys: readonly ApiKey[]
  /** Absent: no field has a source, and all are answered 501. */
  readonly source?: AttributeSource | undefined
  readonly limits: ReconciliationLimits
  readonly signal: AbortSignal
}

const comeAgainSeconds = 10

/**
 * Answers `{"users":[…],"timestamp":…}` as a stream. 400: the body is not readable; 403: the key opens several brands (row 31); 501: the
 * field is unknown or has no source (row 16); 503: too many lists at a time, or the source cannot begin, so that nothing was
 * streamed. From there on the status is 200: see streamUsers for how it ends.
 */
export function reconciliationRoute(app: FastifyInstance, options: ReconciliationRoute): void {
  const { keys, source, limits, signal } = options
  const { onRequest, callerOf } = authentication(keys)
  let open = 0

  app.post(reconciliation.path, { onRequest }, async (request, reply) => {
    const brand = onlyBrandOf(callerOf(request))
    const field = readField(request)
    if (!source?.all || !fieldsOf(source, brand).includes(field)) throw withoutSource(brand, field)
    if (signal.aborted) throw new HttpError(503, 'the server is stopping: ask again', 1)
    if (open >= limits.streams) throw new HttpError(503, tooMany(limits.streams), comeAgainSeconds)
    open++
    const startedAt = Date.now()
    const leave = new AbortController()
    const left = (): void => leave.abort(new Error('the caller left'))
    reply.raw.once('close', left)
    try {
      const snapshot = await begin(source, brand, field, leave, limits.stallMs)
      reply.hijack()
      emit('reconciliation.begun', { brand, field, source: source.name })
      const done = await streamUsers(reply.raw, snapshot, leave, { ...limits, stopping: signal })
      emit('reconciliation.ended', { brand, field, source: source.name, ms: Date.now() - startedAt, ...done })
    } finally {
      reply.raw.off('close', left)
      leave.abort()
      open--
    }
  })
}

/** The source's own time before its first row; a source that stays silent is left. */
async function begin(
  source: AttributeSource,
  brand: string,
  field: Field,
  leave: AbortController,
  stallMs: number,
): Promise<Snapshot> {
  const late = setTimeout(() => leave.abort(new Error(`no answer within ${stallMs} ms`)), stallMs)
  const { promise: given, reject: give } = Promise.withResolvers<never>()
  given.catch(() => {})
  leave.signal.addEventListener('abort', () => give(leave.signal.reason), { once: true })
  try {
    const beginning = (source.all as NonNullable<AttributeSource['all']>)(brand, field, { signal: leave.signal })
    // One that comes after we left is not read: its query ends by the signal.
    const snapshot = await Promise.race([beginning, given])
    return { chunks: snapshot.chunks, timestamp: utc(snapshot.timestamp) }
  } catch (error) {
    if (error instanceof NotListed) throw withoutSource(brand, field)
    const why = shortened(error instanceof Error ? error.message : String(error))
    throw new HttpError(503, `the source ${source.name} cannot list ${field} now (${why}): ask again`, comeAgainSeconds)
  } finally {
    clearTimeout(late)
  }
}

/** §2.5: ISO 8601 in UTC; a source that has it so keeps its precision. */
function utc(timestamp: string): string {
  const time = new Date(timestamp)
  if (Number.isNaN(time.getTime())) throw new Error(`it gave ${JSON.stringify(timestamp)} for the time of its data`)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(timestamp) ? timestamp : time.toISOString()
}

function readField(request: FastifyRequest): Field {
  const body = Buffer.isBuffer(request.body) ? readJsonBody(request.body) : 'it is empty'
  if (typeof body === 'string')
    throw new HttpError(400, `the body is not readable (${body}): send {"field": "blocked"}`)
  const { field } = body.fields
  if (typeof field !== 'string') throw new HttpError(400, 'the body has no text named field: send {"field": "blocked"}')
  if ((fields as readonly string[]).includes(field)) return field as Field
  throw new HttpError(501, `there is no field ${JSON.stringify(shortened(field, 100))}: §2.5 has ${fields.join(', ')}`)
}

function withoutSource(brand: string, field: Field): HttpError {
  return new HttpError(501, `${field} of brand ${brand} has no source here that could list it: set operator.attributes`)
}

function tooMany(most: number): string {
  return `${most} lists are being streamed already: ask again, one field after the other`
}
