// Messages at the operator: search by identifier, by activity.id or by user, the details of one message, and erasure.

import { Type } from 'typebox'
import { brandNumber, closed, moment, nullable, text, userId, whole } from '../contract/documents/described.ts'
import { readMessageKey } from '../contract/message-key.ts'
import { messageStatuses } from '../contract/status.ts'
import { rfc3339 } from '../contract/timestamp.ts'
import { listDeviceSends } from '../delivery/device-sends.ts'
import { findById, findByRef, findByUser, type MessageRow } from '../delivery/messages.ts'
import { listRefusals } from '../delivery/refusals.ts'
import { readRequest } from '../delivery/requests.ts'
import type { AccessKey } from '../http/access.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import { findCall } from '../providers/calls.ts'
import { ShownCall } from '../providers/shown-call.ts'
import { beforeDescription, messageKeyText, messageQuery, pageOf, readMessageQuery } from '../queue/message-query.ts'
import { timeOfUuidv7 } from '../runtime/ids.ts'
import type { MessageStatuses, StatusRecorder } from '../status/recorder.ts'
import type { Database } from '../store/database.ts'
import { op } from '../store/statement.ts'
import { eraseUser } from './erase.ts'

const evidence = { rule: Type.String(), answer: nullable(Type.String()), error: nullable(Type.String()) }
const uncertain = Type.Integer({ minimum: 0, maximum: 1, description: '1: no answer, the message may have arrived' })

const lastChange = {
  error: nullable(Type.String()),
  updated_at: moment('Time of the last change of the outcome'),
}

/** The fields of a message in a list and in its details. */
const common = {
  ref: Type.String({ description: 'push_id or site_notification_id' }),
  key: messageKeyText,
  brand: Type.String(),
  channel: Type.Enum(['push', 'site']),
  id: Type.String({ description: 'activity.id' }),
  user_id: Type.String(),
  outcome: Type.Enum(['in_flight', 'successful', 'failed', 'fatal']),
  rule: Type.String({ description: 'The reason for the outcome' }),
  attempts: whole(),
  uncertain: whole('Attempts without an answer, which may have arrived'),
}

const MessageInList = Type.Object({ ...common, ...lastChange })

const MessageDetails = Type.Object({
  ...common,
  ...lastChange,
  owner: Type.String({ description: 'The process of the last attempt; begins with its process id' }),
  claimed_at: moment('Time of the first request with the message'),
  request: Type.Optional(Type.String({ description: 'The request element, unchanged' })),
  tracking: Type.Optional(Type.Record(Type.String(), Type.String())),
  status: Type.Optional(
    nullable(Type.Enum([...messageStatuses], { description: 'The summary of the delivery statuses' })),
  ),
  statuses: Type.Optional(
    Type.Array(Type.Object({ status: Type.Enum([...messageStatuses]), at: Type.String({ format: 'date-time' }) })),
  ),
  refusals: Type.Array(
    Type.Object({
      attempt: whole(),
      at: moment('Time of the refusal'),
      category: Type.Enum(['failed', 'fatal']),
      reason: Type.String(),
      ...evidence,
      call: nullable(Type.String()),
      uncertain,
    }),
  ),
  calls: Type.Array(ShownCall),
  devices: Type.Array(
    Type.Object({
      attempt: whole(),
      device: Type.String({ description: 'A hash of the token' }),
      service: Type.String({ description: 'The push service; empty if none was called' }),
      category: Type.Enum(['successful', 'failed', 'fatal']),
      ...evidence,
      provider_id: nullable(Type.String()),
      uncertain,
      at: moment('Time of the result'),
    }),
  ),
})

export interface MessageRoutes {
  readonly database: Database
  /** Absent: delivery statuses are not recorded. */
  readonly statuses?: StatusRecorder | undefined
  readonly brands: readonly string[]
}

export function messageRoutes({ database, brands, statuses }: MessageRoutes): readonly AdminRoute[] {
  const visible = (key: AccessKey) => brands.filter((brand) => key.brands?.includes(brand) ?? true)
  return [
    adminRoute({
      method: 'GET',
      url: '/admin/messages',
      scope: 'read',
      says: 'Finds messages by identifier, by activity.id, or by brand and user.',
      query: Type.Object(
        {
          ref: Type.Optional(text('The push_id or site_notification_id of the answer.')),
          ...messageQuery,
          before: Type.Optional(text(beforeDescription)),
        },
        closed,
      ),
      gives: Type.Object({
        messages: Type.Array(MessageInList),
        next: Type.Optional(text('In a search by user: the `before` of the next page')),
      }),
      async handler(request, key) {
        const search = readMessageQuery(request.query, key, ['ref', 'id'])
        if ('name' in search) return { messages: (await findMessages(search, visible(key))).map(toItem) }
        const { brand, userId, before, limit } = search
        const found = await findByUser(database, brand, userId, {
          most: limit,
          ...(before !== undefined && { before }),
        })
        return pageOf(found.map(toItem), search, ({ ref }) => ref)
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/messages/erase',
      scope: 'manage',
      says: "Erases a user's texts in the stored requests and in the inbox. The messages stay, without text.",
      body: Type.Object({ brand: brandNumber(), user_id: userId() }, closed),
      gives: Type.Object({ messages: whole(), requests: whole(), notifications: whole() }),
      async handler(request, key) {
        const { brand, user_id: userId } = request.body
        if (!visible(key).includes(brand))
          throw new HttpError(403, `the key ${key.name} is not for brand ${brand}, or the operator has no such brand`)
        return eraseUser(database, brand, userId)
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/messages/:ref',
      scope: 'read',
      says: 'Shows one message: its outcome, its request, the calls, and the result at each device.',
      params: Type.Object({ ref: text('The push_id or site_notification_id of the answer.') }),
      gives: MessageDetails,
      async handler(request, key) {
        const { ref } = request.params
        const found = await findByRef(database, visible(key), ref)
        if (!found) throw new HttpError(404, `there is no message ${ref} here`)
        const refusals = await database.read(op(listRefusals, [[found.brand, ref]]))
        const devices = await database.read(op(listDeviceSends, [[found.brand, ref]]))
        const calls = await database.read(
          op(
            findCall,
            [found.call, ...refusals.map((r) => r.call)].filter((id) => id !== null).map((id) => [id]),
          ),
        )
        const stored = await readRequest(database, found)
        return {
          ...toItem(found),
          owner: found.owner,
          claimed_at: timeOfUuidv7(ref) ?? 0,
          request: stored?.text,
          ...(statuses && shownStatuses(await statuses.read(ref))),
          tracking: stored?.tracking ? JSON.parse(stored.tracking) : undefined,
          refusals,
          calls,
          devices,
        }
      },
    }),
  ]

  async function findMessages(
    { name, value }: { readonly name: 'ref' | 'id'; readonly value: string },
    visibleBrands: readonly string[],
  ): Promise<readonly MessageRow[]> {
    if (name === 'id') return findById(database, visibleBrands, value)
    const found = await findByRef(database, visibleBrands, value)
    return found ? [found] : []
  }
}

function shownStatuses({ summary, statuses }: MessageStatuses) {
  return { status: summary ?? null, statuses: statuses.map(({ status, at }) => ({ status, at: rfc3339(at) })) }
}

function describeMessage(row: MessageRow) {
  const { channel, id, userId } = readMessageKey(row.key)
  return {
    ref: row.ref,
    key: row.key,
    brand: row.brand,
    channel,
    id,
    user_id: userId,
    outcome: row.state,
    rule: row.rule ?? 'in flight',
    attempts: row.attempt,
    uncertain: row.uncertain,
  }
}

const toItem = (row: MessageRow) => ({ ...describeMessage(row), error: row.error, updated_at: row.updated_at })
