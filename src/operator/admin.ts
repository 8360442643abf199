// /admin of the operator: how many messages there are of each outcome, and the way of one.

import { Type } from 'typebox'
import { brandNumber, json, moment, nullable, whole } from '../contract/documents/described.ts'
import { isIntegerText, isPrintable, mostText } from '../contract/ids.ts'
import { readMessageKey } from '../contract/message-key.ts'
import { listDeviceSends } from '../delivery/device-sends.ts'
import { countMessages } from '../delivery/message-counts.ts'
import { findByRef } from '../delivery/messages.ts'
import { listRefusals } from '../delivery/refusals.ts'
import { readRequest } from '../delivery/requests.ts'
import { findCall } from '../providers/calls.ts'
import { type AdminRoute, jsonObject } from '../runtime/admin-access.ts'
import { HttpError } from '../runtime/http.ts'
import { timeOfUuidv7 } from '../runtime/ids.ts'
import { createSubscriberToken, longestTokenSeconds } from '../runtime/subscriber-token.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'

const Counted = Type.Object({
  successful: whole(),
  failed: whole(),
  fatal: whole(),
  in_flight: whole(),
  uncertain: whole('Attempts that may have arrived without an answer'),
  repeated: whole('Attempts after the first'),
})

const evidence = { rule: Type.String(), answer: nullable(Type.String()), error: nullable(Type.String()) }
const uncertain = Type.Integer({ minimum: 0, maximum: 1, description: '1: it may have arrived' })

const Shown = Type.Object({
  ref: Type.String(),
  brand: Type.String(),
  channel: Type.Enum(['push', 'site']),
  id: Type.String({ description: 'activity.id' }),
  user_id: Type.String(),
  outcome: Type.Enum(['in_flight', 'successful', 'failed', 'fatal']),
  rule: Type.String({ description: 'What decided' }),
  attempts: whole(),
  uncertain: Counted.properties.uncertain,
  claimed_at: moment('When it was seen first'),
  request: Type.Optional(Type.String({ description: 'The request element, as it came' })),
  tracking: Type.Optional(Type.Record(Type.String(), Type.String())),
  refusals: Type.Array(
    Type.Object({
      attempt: whole(),
      at: moment('When'),
      category: Type.Enum(['failed', 'fatal']),
      reason: Type.String(),
      ...evidence,
      call: nullable(Type.String()),
      uncertain,
    }),
  ),
  calls: Type.Array(
    Type.Object({
      id: Type.String(),
      provider: Type.String(),
      at: moment('When it began'),
      ms: whole('How long it took'),
      messages: whole(),
      ...evidence,
    }),
  ),
  devices: Type.Array(
    Type.Object({
      attempt: whole(),
      device: Type.String({ description: 'Not its token: a hash of that' }),
      service: Type.String({ description: 'The push service; empty where none was asked' }),
      category: Type.Enum(['successful', 'failed', 'fatal']),
      ...evidence,
      provider_id: nullable(Type.String()),
      uncertain,
      at: moment('When'),
    }),
  ),
})

export interface OperatorAdmin {
  readonly database: Database
  readonly brands: readonly string[]
  /** Signs subscriber tokens. */
  readonly secret: string | undefined
}

type Counts = ReturnType<typeof noMessages>
/** `uncertain` and `repeated` count attempts: those that may have arrived without an answer, and those after the first. */
const noMessages = () => ({ successful: 0, failed: 0, fatal: 0, in_flight: 0, uncertain: 0, repeated: 0 })

export function operatorAdmin({ database, brands, secret }: OperatorAdmin): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      url: '/admin/summary',
      scope: 'read',
      says: 'Counts the messages of each outcome, in all and for each brand.',
      gives: json(Type.Object({ ...Counted.properties, brands: Type.Record(Type.String(), Counted) })),
      async handler(_request, key) {
        const rows = (await database.read(op(countMessages, [[]]))).filter(
          (row) => key.brands?.includes(row.brand) ?? true,
        )
        const total = noMessages()
        const byBrand = new Map<string, Counts>()
        for (const row of rows) {
          const brand = byBrand.get(row.brand) ?? noMessages()
          byBrand.set(row.brand, brand)
          for (const counts of [total, brand]) counts[row.name as keyof Counts] += row.n
        }
        return { ...total, brands: Object.fromEntries(byBrand) }
      },
    },
    {
      method: 'GET',
      url: '/admin/messages/:ref',
      scope: 'read',
      says: 'Shows the way of one message: its outcome, its request, the calls and the devices it went to.',
      params: { ref: 'The push_id or site_notification_id that was answered.' },
      gives: json(Shown),
      async handler(request, key) {
        const { ref } = request.params as { ref: string }
        const visible = brands.filter((brand) => key.brands?.includes(brand) ?? true)
        const found = await findByRef(database, visible, ref)
        if (!found) throw new HttpError(404, `no message ${ref} was settled here`)
        const refusals = await database.read(op(listRefusals, [[found.brand, ref]]))
        const devices = await database.read(op(listDeviceSends, [[found.brand, ref]]))
        const calls = await database.read(
          op(
            findCall,
            [found.call, ...refusals.map((r) => r.call)].filter((id) => id !== null).map((id) => [id]),
          ),
        )
        const { channel, id, userId } = readMessageKey(found.key)
        const sent = await readRequest(database, found)
        return {
          ref,
          brand: found.brand,
          channel,
          id,
          user_id: userId,
          outcome: found.state,
          rule: found.rule ?? 'in flight',
          attempts: found.attempt,
          uncertain: found.uncertain,
          claimed_at: timeOfUuidv7(ref) ?? 0,
          request: sent?.text,
          tracking: sent?.tracking ? JSON.parse(sent.tracking) : undefined,
          refusals,
          calls,
          devices,
        }
      },
    },
    {
      method: 'POST',
      url: '/admin/subscriber-tokens',
      scope: 'tokens',
      says: 'Makes a subscriber token, with which an app or a page of one user calls /app.',
      body: json(
        Type.Object({
          brand: brandNumber(),
          user_id: Type.String({ minLength: 1, maxLength: mostText }),
          ttl_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: longestTokenSeconds, default: 600 })),
        }),
      ),
      gives: json(Type.Object({ token: Type.String(), expires_at: Type.String({ format: 'date-time' }) })),
      async handler(request, key) {
        if (secret === undefined)
          throw new HttpError(503, 'no secret for subscriber tokens is configured: set operator.app.secrets')
        const { brand, user_id: userId, ttl_seconds: ttlSeconds = 600 } = jsonObject(request)
        if (typeof brand !== 'string' || !isIntegerText(brand))
          throw new HttpError(400, 'brand must be the number of a brand as a string, such as "1"')
        if (typeof userId !== 'string' || userId === '' || userId.length > mostText || !isPrintable(userId))
          throw new HttpError(
            400,
            `user_id must be a string of 1 to ${mostText} characters, none of them a control character`,
          )
        if (!(key.brands?.includes(brand) ?? true))
          throw new HttpError(403, `the key ${key.name} may not act for brand ${brand}`)
        if (!Number.isInteger(ttlSeconds) || !(Number(ttlSeconds) >= 1 && Number(ttlSeconds) <= longestTokenSeconds))
          throw new HttpError(400, `ttl_seconds must be a whole number from 1 to ${longestTokenSeconds}`)
        const token = await createSubscriberToken({ secret, brand, userId, ttlSeconds: Number(ttlSeconds) })
        return { token, expires_at: new Date(Date.now() + Number(ttlSeconds) * 1000).toISOString() }
      },
    },
  ]
}
