// POST /receipts/NAME: a provider reports delivery statuses (§1.5, row 23). The settings map its events to statuses.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { createAcceptedKeys } from '../../base/http/accepted-keys.ts'
import { addressOf } from '../../base/http/address.ts'
import { createAuthentication } from '../../base/http/authentication.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { addRoute, type Route } from '../../base/http/route.ts'
import { createWrongKeys } from '../../base/http/wrong-keys.ts'
import { clock } from '../../base/runtime/clock.ts'
import { StoreUnavailable } from '../../base/store/store-unavailable.ts'
import { type DescribedRoute, json, whole } from '../../contract/documents/described.ts'
import { valueAt } from '../../contract/pointer.ts'
import { shown } from '../../contract/shown.ts'
import type { MessageStatus } from '../../contract/status.ts'
import { readTimestamp, type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import type { StatusChange, StatusRecorder } from './recorder.ts'

/** The receipts of one provider. Pointers are JSON Pointers. */
export interface ProviderReceipts {
  /** The last part of the path: letters, digits and hyphens. */
  readonly name: string
  /** The header that authenticates the provider, and its whole value, such as `Bearer …`. */
  readonly header: string
  readonly secret: string
  /** The list of events in the body. Absent: the body is one event, or a list of events. */
  readonly events?: string
  /** The push_id or site_notification_id in an event. */
  readonly id: string
  /** The time of an event, RFC 3339 or seconds since 1970. Absent: the time of receipt. */
  readonly time?: string
  /** The first rule that matches gives the status. An event without one is ignored. */
  readonly rules: readonly { readonly at: string; readonly equals: string; readonly status: MessageStatus }[]
}

/** The route in the API documents. */
export const receiptGroup = (setting: string, routes: readonly DescribedRoute[]) =>
  routes.length === 0
    ? []
    : [
        {
          tag: 'Receipts',
          says: `For the providers of ${setting}. The settings have the header and its value.`,
          isPublic: true as const,
          routes,
        },
      ]

const bodyLimit = 1024 * 1024
/** Most events in one body. */
const mostEvents = 1_000

const Answer = Type.Object({
  recorded: whole('Events whose status is recorded'),
  ignored: whole('Events without a rule'),
  unknown: Type.Array(Type.String(), { description: 'The identifiers of which there is no message' }),
})

interface Parts {
  /** Without receipts or a recorder, there is no route. */
  readonly receipts: readonly ProviderReceipts[] | undefined
  readonly brands: readonly string[]
  readonly recorder: Pick<StatusRecorder, 'record'> | undefined
  /** The name of the setting of the receipts, for errors. */
  readonly setting: string
}

/** @returns the description of the route, for the documents */
export function providerReceiptRoutes(app: FastifyInstance, { receipts, brands, recorder, setting }: Parts) {
  if (!recorder || !receipts?.length) return []
  const params = Type.Object({ name: Type.String({ description: 'The name of the provider in the settings.' }) })
  const route: Route<ProviderReceipts, typeof params, never, never, typeof Answer> = {
    method: 'POST',
    url: '/receipts/:name',
    says: 'Takes the events of a provider, which the settings map to statuses. The provider authenticates with the header of the settings.',
    params,
    bodies: json(Type.Unknown()),
    gives: Answer,
    async handler({ body }, provider) {
      const events = readEvents(body, provider.events)
      const changes = events.flatMap((event) => readEvent(event, provider) ?? [])
      const unknown = await recordInBrands(recorder, brands, changes)
      const isUnknown = new Set(unknown)
      return {
        recorded: changes.filter(({ ref }) => !isUnknown.has(ref)).length,
        ignored: events.length - changes.length,
        unknown,
      }
    },
  }
  const providers = new Map(
    receipts.map((provider) => [
      provider.name,
      { header: provider.header.toLowerCase(), secrets: createAcceptedKeys([{ ...provider, key: provider.secret }]) },
    ]),
  )
  const wrongSecrets = createWrongKeys()
  const authentication = createAuthentication((request) => {
    const provider = providers.get((request.params as { name: string }).name)
    const given = provider && request.headers[provider.header]
    const address = addressOf(request.raw)
    const found = typeof given === 'string' ? provider?.secrets.find(given, address) : undefined
    const verdict = wrongSecrets.judge(address, found?.name)
    if (verdict === 'wait')
      throw new HttpError(503, 'too many wrong secrets from this address: retry later', 1, { counted: true })
    if (verdict === 'wrong' || !found)
      throw new HttpError(
        401,
        `no such provider, or a wrong secret: compare the address and the header with ${setting}`,
        undefined,
        { counted: true },
      )
    return found
  })
  addRoute(app, route, { ...authentication, bodyLimit })
  return [route]
}

/** @throws HttpError 400 */
function readEvents(body: unknown, pointer = ''): readonly unknown[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(String(body))
  } catch {
    throw new HttpError(400, 'the body is not JSON: send one event, or a list of events')
  }
  const found = valueAt(parsed, pointer)
  const events = Array.isArray(found) ? found : [found]
  if (found === undefined) throw new HttpError(400, `the body has no events at ${shown(pointer)}`)
  if (events.length > mostEvents)
    throw new HttpError(400, `the body has ${events.length} events: send at most ${mostEvents}`)
  return events
}

type Event = Omit<StatusChange, 'brand'>

/** @returns undefined for an event that no rule maps to a status, or that has no identifier */
function readEvent(event: unknown, { id, time, rules }: ProviderReceipts): Event | undefined {
  const rule = rules.find(({ at, equals }) => textAt(event, at) === equals)
  const ref = textAt(event, id)
  if (!rule || !ref) return undefined
  return { ref, status: rule.status, at: timeOf(time === undefined ? undefined : textAt(event, time)) }
}

function textAt(event: unknown, pointer: string): string | undefined {
  const value = valueAt(event, pointer)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

/** An unreadable time is that of receipt: the status matters more. */
function timeOf(text: string | undefined): Timestamp {
  const seconds = text !== undefined && /^\d{1,11}(\.\d+)?$/.test(text) ? Number(text) : undefined
  if (seconds !== undefined) return timestampOf(Math.floor(seconds * 1_000))
  return (text === undefined ? undefined : readTimestamp(text)) ?? timestampOf(clock.now())
}

/**
 * An event names no brand: its identifier is that of one message of the operator.
 *
 * @returns the unknown identifiers
 * @throws StoreUnavailable if a store cannot be reached, and the others do not have all of the messages
 */
async function recordInBrands(
  { record }: Pick<StatusRecorder, 'record'>,
  brands: readonly string[],
  events: readonly Event[],
): Promise<readonly string[]> {
  let open = events
  let unavailable: StoreUnavailable | undefined
  for (const brand of brands) {
    if (open.length === 0) break
    try {
      const unknown = new Set(await record(open.map((event) => ({ ...event, brand }))))
      open = open.filter(({ ref }) => unknown.has(ref))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      unavailable = error
    }
  }
  if (unavailable && open.length > 0) throw unavailable
  return [...new Set(open.map(({ ref }) => ref))]
}
