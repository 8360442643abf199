// The route that finds messages on the platform: by the operator's identifier, by activity.id or by user.

import { Type } from 'typebox'
import { closed, moment, text, whole } from '../contract/documents/described.ts'
import { channels } from '../contract/endpoints.ts'
import { readMessageKey } from '../contract/message-key.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { isLaneVisible } from '../queue/admin.ts'
import { beforeDescription, messageQuery, pageOf, readMessageQuery } from '../queue/message-query.ts'
import type { FoundItem, LaneService, Queue } from '../queue/queue.ts'
import { laneName } from './enqueue.ts'

const FoundMessage = Type.Object({
  seq: whole('The number of the message'),
  lane: Type.String(),
  id: Type.String({ description: 'activity.id' }),
  user_id: Type.String(),
  outcome: Type.Enum(['waiting', 'successful', 'failed']),
  attempts: Type.Optional(whole('Absent while the message waits')),
  ref: Type.Optional(Type.String({ description: 'push_id or site_notification_id' })),
  rule: Type.Optional(Type.String({ description: 'The reason for the outcome' })),
  untracked: Type.Optional(Type.Literal(true, { description: 'Delivered, but the answer has no identifier' })),
  reason: Type.Optional(
    Type.String({ description: 'Why it failed; for a waiting message, why it still waits, if this process knows' }),
  ),
  error: Type.Optional(Type.String()),
  call: Type.Optional(Type.String()),
  put_at: moment('The time when it was enqueued'),
})

export interface MessageRoutes {
  readonly queue: Queue
  /** The lanes of messages, without the lanes of device events. */
  readonly lanes: readonly LaneService[]
}

export function messageRoutes({ queue, lanes }: MessageRoutes): readonly AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      url: '/admin/messages',
      scope: 'read',
      says: "Finds messages by the operator's identifier, by activity.id, or by brand and user.",
      query: Type.Object(
        {
          ref: Type.Optional(text('The push_id or site_notification_id that the operator answered.')),
          ...messageQuery,
          before: Type.Optional(whole(beforeDescription)),
        },
        closed,
      ),
      gives: Type.Object({
        messages: Type.Array(FoundMessage),
        next: Type.Optional(text('For a search by user: send it as `before` to get the next page')),
      }),
      async handler(request, key) {
        const search = readMessageQuery(request.query, key, ['ref', 'id'])
        if ('brand' in search) {
          const { brand, userId, before = Number.MAX_SAFE_INTEGER, limit } = search
          const brandLanes = channels.map((channel) => laneName(brand, channel))
          const found = await queue.findItems({ lanes: brandLanes, userId, before, limit })
          return pageOf(found.map(shownMessage), search, ({ seq }) => String(seq))
        }
        const visibleLanes = lanes.map(({ name }) => name).filter((name) => isLaneVisible(key, name))
        const { name, value } = search
        const found = await queue.findItems({
          lanes: visibleLanes,
          ...(name === 'ref' ? { ref: value } : { id: value }),
        })
        return { messages: found.map(shownMessage) }
      },
    }),
  ]
}

function shownMessage({ category, key, enqueuedAt, ...rest }: FoundItem) {
  const { id, userId } = readMessageKey(key)
  return { ...rest, id, user_id: userId, outcome: category, put_at: enqueuedAt }
}
