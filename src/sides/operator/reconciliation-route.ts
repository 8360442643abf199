// POST /reconciliation (§4.1, §7.3): all users of the key's brand for whom a field is true.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import { HttpError } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { createAbortableWait, within } from '../../base/runtime/within.ts'
import { reconciliation } from '../../contract/endpoints.ts'
import { readJsonBody } from '../../contract/json-body.ts'
import { shortened } from '../../contract/storable.ts'
import {
  type AttributeSource,
  type Field,
  fields,
  fieldsOf,
  NotListed,
  type Snapshot,
} from '../../subjects/attributes/attribute-source.ts'
import { authentication, onlyBrandOf } from './authenticate.ts'
import type { ApiKey, ReconciliationLimits } from './options.ts'
import { streamUsers } from './reconciliation-stream.ts'

export interface ReconciliationRoute {
  readonly keys: AcceptedKeys<ApiKey>
  /** Absent: every field is answered 501. */
  readonly source?: AttributeSource | undefined
  readonly limits: ReconciliationLimits
  readonly signal: AbortSignal
}

const waitSeconds = 10

/**
 * Answers `{"users":[…],"timestamp":…}` as a stream. 400: the body is not readable. 403: the key has several brands (row 31).
 * 501: the field is unknown or has no source (row 16). 503: too many lists at once, or the source failed before the stream began.
 * Once the stream has begun, the status is 200: see streamUsers for its end.
 */
export function reconciliationRoute(app: FastifyInstance, options: ReconciliationRoute): void {
  const { keys, source, limits, signal } = options
  const { onRequest, callerOf } = authentication(keys, 'reconciliation')
  let openLists = 0

  app.post(reconciliation.path, { onRequest }, async (request, reply) => {
    const brand = onlyBrandOf(callerOf(request))
    const field = readField(request)
    if (!source?.all || !fieldsOf(source, brand).includes(field)) throw noSource(brand, field)
    if (signal.aborted) throw new HttpError(503, 'the server is stopping: repeat the request', 1)
    if (openLists >= limits.streams) throw new HttpError(503, tooManyLists(limits.streams), waitSeconds)
    openLists++
    const startedAt = clock.monotonic()
    const abort = new AbortController()
    const onClose = (): void => abort.abort(new Error('the client closed the connection'))
    reply.raw.once('close', onClose)
    try {
      const snapshot = await openSnapshot(source, brand, field, abort, limits.stallMs)
      reply.hijack()
      emit('reconciliation.begun', { brand, field, source: source.name })
      const end = await streamUsers(reply.raw, snapshot, abort, { ...limits, stopping: signal })
      emit('reconciliation.ended', {
        brand,
        field,
        source: source.name,
        ms: Math.round(clock.monotonic() - startedAt),
        ...end,
      })
    } finally {
      reply.raw.off('close', onClose)
      abort.abort()
      openLists--
    }
  })
}

/** Waits for the source to begin, with a timeout. */
async function openSnapshot(
  source: AttributeSource,
  brand: string,
  field: Field,
  abort: AbortController,
  stallMs: number,
): Promise<Snapshot> {
  const wait = createAbortableWait()
  abort.signal.addEventListener('abort', () => wait.abort(abort.signal.reason), { once: true })
  try {
    const opening = (source.all as NonNullable<AttributeSource['all']>)(brand, field, { signal: abort.signal })
    // A snapshot that comes after the abort is not read: the signal ends its query.
    const snapshot = await within(stallMs, wait.for(opening))
    if (typeof snapshot?.chunks?.[Symbol.asyncIterator] !== 'function')
      throw new TypeError('its answer has no AsyncIterable as chunks')
    return { chunks: snapshot.chunks, timestamp: toUtc(snapshot.timestamp) }
  } catch (error) {
    if (error instanceof NotListed) throw noSource(brand, field)
    const cause = shortened(messageOf(error))
    throw new HttpError(
      503,
      `the source ${source.name} cannot list ${field} now (${cause}): repeat the request`,
      waitSeconds,
    )
  }
}

/** §2.5: ISO 8601 in UTC. A timestamp that is already in UTC keeps its precision. */
function toUtc(timestamp: string): string {
  const time = new Date(timestamp)
  if (Number.isNaN(time.getTime()))
    throw new Error(`the time of its data, ${JSON.stringify(timestamp)}, is not a timestamp`)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(timestamp) ? timestamp : time.toISOString()
}

function readField(request: FastifyRequest): Field {
  const body = Buffer.isBuffer(request.body) ? readJsonBody(request.body) : 'it is empty'
  if (typeof body === 'string')
    throw new HttpError(400, `the body is not readable (${body}): send {"field": "blocked"}`)
  const { field } = body.fields
  if (typeof field !== 'string') throw new HttpError(400, 'the body has no string "field": send {"field": "blocked"}')
  if ((fields as readonly string[]).includes(field)) return field as Field
  throw new HttpError(501, `there is no field ${JSON.stringify(shortened(field, 100))}: use ${fields.join(', ')}`)
}

function noSource(brand: string, field: Field): HttpError {
  return new HttpError(501, `no source here can list ${field} of brand ${brand}: set operator.attributes`)
}

function tooManyLists(max: number): string {
  return `${max} lists are being streamed already: request one field at a time`
}
