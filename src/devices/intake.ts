// What every way in has in common: a body comes, the registry knows it durably, and one small answer goes.

import type { FastifyRequest } from 'fastify'
import { checkDeviceEvent, type Demand, type ReadDeviceEvent, readDeviceEvent } from '../contract/device-events.ts'
import { readJsonBody } from '../contract/json-body.ts'
import { HttpError } from '../runtime/http.ts'
import { eventsOf, type Judge, type Reading } from './device-event.ts'
import type { Change } from './device-rows.ts'
import type { Registry } from './registry.ts'

export interface Intake {
  readonly registry: Pick<Registry, 'take'>
  readonly what: Reading['what']
  readonly judge?: Judge | undefined
  readonly reaches?: Reading['reaches']
  /** Most devices a user, where it is less than the registry's own limit. */
  readonly most?: number
}

/** What became of a record's tokens, by their number. */
export interface Taken {
  /** Tokens that were read and are now known. */
  accepted: number
  linked: number
  moved: number
  unlinked: number
  /** Known already, or something later was. */
  unchanged: number
}

export const nothingTaken = (): Taken => ({ accepted: 0, linked: 0, moved: 0, unlinked: 0, unchanged: 0 })

export function countChanges(taken: Taken, changes: readonly Change[]): void {
  for (const change of changes) {
    taken.accepted++
    if (change === 'kept' || change === 'none') taken.unchanged++
    else taken[change]++
  }
}

/** Takes one record. @throws HttpError 400 with what is wrong with it; then nothing of it counts */
export async function takeRecord(
  record: ReadDeviceEvent | { readonly invalid: string },
  brand: string,
  { registry, what, judge, reaches, most }: Intake,
): Promise<Taken> {
  if ('invalid' in record) throw new HttpError(400, record.invalid)
  const events = eventsOf(record, { what, brand, judge, reaches })
  if ('invalid' in events) throw new HttpError(400, events.invalid)
  const taken = nothingTaken()
  countChanges(taken, await registry.take(events, [], most))
  return taken
}

export function bodyOf(request: FastifyRequest): Buffer {
  if (Buffer.isBuffer(request.body) && request.body.length > 0) return request.body
  throw new HttpError(
    400,
    'the body is empty: send {"user_id", "tokens": [{"token", "channel", "provider"}], …} (row 18)',
  )
}

export const recordIn = (request: FastifyRequest, demand: Demand): ReadDeviceEvent | { readonly invalid: string } =>
  readDeviceEvent(bodyOf(request), demand)

/** Members that only services may set: an app must not choose time, origin and publishing. */
const notOfUsers = ['timestamp', 'origin', 'skip_publishing'] as const

/** A record of a user's own app: only its tokens count. The user comes from the subscriber token, the time from this process. */
export function recordOfUser(request: FastifyRequest, userId: string): ReadDeviceEvent | { readonly invalid: string } {
  const json = readJsonBody(bodyOf(request))
  if (typeof json === 'string') return { invalid: `the body cannot be read: ${json}` }
  const { user_id: named, tokens } = json.fields
  if (named !== undefined && named !== userId)
    throw new HttpError(403, 'user_id is not the user of the subscriber token: leave it out')
  const refused = notOfUsers.find((name) => Object.hasOwn(json.fields, name))
  if (refused !== undefined)
    return { invalid: `${refused} is not taken from an app: leave it out; a service may say it at /admin/devices` }
  return checkDeviceEvent({ tokens, origin: 'app', user_id: userId }, 'ours')
}
