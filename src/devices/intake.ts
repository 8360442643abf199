// The part that all HTTP routes for links share: read the body, store the record durably, count the changes for the answer.

import type { FastifyRequest } from 'fastify'
import { checkDeviceEvent, type Demand, type ReadDeviceEvent, readDeviceEvent } from '../contract/device-events.ts'
import { readJsonBody } from '../contract/json-body.ts'
import { HttpError } from '../http/http.ts'
import { eventsOf, type Judge, type Reading } from './device-event.ts'
import type { Change } from './device-rows.ts'
import type { Registry } from './registry.ts'

export interface Intake {
  readonly registry: Pick<Registry, 'take'>
  readonly what: Reading['what']
  readonly judge?: Judge | undefined
  readonly reaches?: Reading['reaches']
  /** Most devices of a user, if less than the registry's own limit. */
  readonly most?: number
}

/** How many tokens of a record were stored, and with which effect. */
export interface ChangeCounts {
  /** Tokens that were read and stored. */
  accepted: number
  linked: number
  moved: number
  unlinked: number
  /** Tokens for which this or a later event was stored before. */
  unchanged: number
}

export const noChanges = (): ChangeCounts => ({ accepted: 0, linked: 0, moved: 0, unlinked: 0, unchanged: 0 })

export function countChanges(counts: ChangeCounts, changes: readonly Change[]): void {
  for (const change of changes) {
    counts.accepted++
    if (change === 'kept' || change === 'none') counts.unchanged++
    else counts[change]++
  }
}

/** Stores one record. @throws HttpError 400 with the reason if the record is invalid; nothing of it is then stored */
export async function storeRecord(
  record: ReadDeviceEvent | { readonly invalid: string },
  brand: string,
  { registry, what, judge, reaches, most }: Intake,
): Promise<ChangeCounts> {
  if ('invalid' in record) throw new HttpError(400, record.invalid)
  const events = eventsOf(record, { what, brand, judge, reaches })
  if ('invalid' in events) throw new HttpError(400, events.invalid)
  const counts = noChanges()
  countChanges(counts, await registry.take(events, [], most))
  return counts
}

export function bodyOf(request: FastifyRequest): Buffer {
  if (Buffer.isBuffer(request.body) && request.body.length > 0) return request.body
  throw new HttpError(400, 'the body is empty: send {"user_id", "tokens": [{"token", "channel", "provider"}], …}')
}

export const readServiceRecord = (
  request: FastifyRequest,
  demand: Demand,
): ReadDeviceEvent | { readonly invalid: string } => readDeviceEvent(bodyOf(request), demand)

/** Fields that only a service may send: an app is not trusted with the time, the origin or the publishing of an event. */
const serviceFields = ['timestamp', 'origin', 'skip_publishing'] as const

/** Reads the record of an app: only its tokens. The user comes from the subscriber token, the time from our clock. */
export function readAppRecord(request: FastifyRequest, userId: string): ReadDeviceEvent | { readonly invalid: string } {
  const json = readJsonBody(bodyOf(request))
  if (typeof json === 'string') return { invalid: `the body cannot be read: ${json}` }
  const { user_id: given, tokens } = json.fields
  if (given !== undefined && given !== userId)
    throw new HttpError(403, 'user_id is not the user of the subscriber token: omit it')
  const refused = serviceFields.find((name) => Object.hasOwn(json.fields, name))
  if (refused !== undefined)
    return { invalid: `${refused} is not accepted from an app: omit it; a service may send it to /admin/devices` }
  return checkDeviceEvent({ tokens, origin: 'app', user_id: userId }, 'ours')
}
