// Messages at the operator: search by identifier, by activity.id or by user, and the details of one message.

import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import type { Database } from '../../base/store/database.ts'
import { closedObject, nullable, text } from '../../contract/documents/described.ts'
import { messageStatuses } from '../../contract/status.ts'
import { rfc3339 } from '../../contract/timestamp.ts'
import { findById, findByRef, findByUser, type MessageRow } from '../../subjects/delivery/messages.ts'
import { readRequest } from '../../subjects/delivery/requests.ts'
import type { MessageStatuses, StatusRecorder } from '../../subjects/status/recorder.ts'
import { beforeDescription, messageQuery, pageOf, readMessageQuery } from './message-query.ts'
import { adminRoute } from './route.ts'
import { readDelivery, ShownDelivery, ShownMessage, shownMessage } from './shown/delivery.ts'
import { isBrandVisible } from './visibility.ts'

const MessageDetails = Type.Object({
  ...ShownDelivery.properties,
  request: Type.Optional(text('The request element, unchanged')),
  tracking: Type.Optional(Type.Record(Type.String(), Type.String())),
  status: Type.Optional(
    nullable(Type.Enum([...messageStatuses], { description: 'The summary of the delivery statuses' })),
  ),
  statuses: Type.Optional(
    Type.Array(Type.Object({ status: Type.Enum([...messageStatuses]), at: Type.String({ format: 'date-time' }) })),
  ),
})

export interface OperatorMessages {
  readonly database: Database
  /** Absent: delivery statuses are not recorded. */
  readonly statuses: Pick<StatusRecorder, 'read'> | undefined
  readonly brands: readonly string[]
}

export function operatorMessageRoutes({ database, brands, statuses }: OperatorMessages) {
  const visible = (key: AccessKey) => brands.filter((brand) => isBrandVisible(key, brand))
  return {
    find: adminRoute({
      says: 'Finds messages by identifier, by activity.id, or by brand and user.',
      query: closedObject({
        ref: Type.Optional(text('The push_id or site_notification_id of the answer.')),
        ...messageQuery,
        before: Type.Optional(text(beforeDescription)),
      }),
      gives: Type.Object({
        messages: Type.Array(ShownMessage),
        next: Type.Optional(text('In a search by user: the `before` of the next page')),
      }),
      async handler(request, key) {
        const search = readMessageQuery(request.query, key, ['ref', 'id'])
        if ('name' in search) {
          const found = await findMessages(search, visible(key))
          const [only, another] = found
          if (only && !another) key.audit.note({ brand: only.brand, user: only.user_id })
          return { messages: found.map(shownMessage) }
        }
        const { brand, userId, before, limit } = search
        const found = await findByUser(database, brand, userId, {
          most: limit,
          ...(before !== undefined && { before }),
        })
        return pageOf(found.map(shownMessage), search, ({ ref }) => ref)
      },
    }),
    show: adminRoute({
      says: 'Shows one message: its outcome, its request, the calls, and the result at each device.',
      params: Type.Object({ ref: text('The push_id or site_notification_id of the answer.') }),
      gives: MessageDetails,
      async handler(request, key) {
        const { ref } = request.params
        const found = await findByRef(database, visible(key), ref)
        if (!found) throw new HttpError(404, `there is no message ${ref} here`)
        key.audit.note({ brand: found.brand, user: found.user_id })
        const stored = await readRequest(database, found)
        return {
          ...(await readDelivery(database, found)),
          request: stored?.text,
          ...(statuses && shownStatuses(await statuses.read(ref))),
          tracking: stored?.tracking ? JSON.parse(stored.tracking) : undefined,
        }
      },
    }),
  }

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
