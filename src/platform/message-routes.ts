// Messages at the platform, looked up by the operator's identifier, by activity.id or by user.

import { Type } from 'typebox'
import { closed, moment, text, whole } from '../contract/documents/described.ts'
import { channels } from '../contract/endpoints.ts'
import { readMessageKey } from '../contract/message-key.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { visible } from '../queue/admin.ts'
import { beforeSays, messageQuery, pageOf, readMessageQuery } from '../queue/message-query.ts'
import type { FoundItem, LaneService, Queue } from '../queue/queue.ts'
import { laneName } from './enqueue.ts'

const Shown = Type.Object({
  seq: whole('The number under which it was put'),
  lane: Type.String(),
  id: Type.String({ description: 'activity.id' }),
  user_id: Type.String(),
  outcome: Type.Enum(['waiting', 'successful', 'failed']),
  attempts: Type.Optional(whole('Left out while it waits')),
  ref: Type.Optional(Type.String({ description: 'push_id or site_notification_id' })),
  rule: Type.Optional(Type.String({ description: 'The reason for the outcome' })),
  untracked: Type.Optional(Type.Literal(true, { description: 'Delivered, but the answer has no identifier' })),
  reason: Type.Optional(Type.String({ description: 'Why it failed, or why it still waits, where this process knows' })),
  error: Type.Optional(Type.String()),
  call: Type.Optional(Type.String()),
  put_at: moment('When it was put'),
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
          before: Type.Optional(whole(beforeSays)),
        },
        closed,
      ),
      gives: Type.Object({
        messages: Type.Array(Shown),
        next: Type.Optional(text('Of a user: send it as `before` for the next page')),
      }),
      async handler(request, key) {
        const search = readMessageQuery(request.query, key, ['ref', 'id'])
        if ('brand' in search) {
          const { brand, userId, before = Number.MAX_SAFE_INTEGER, limit } = search
          const ofBrand = channels.map((channel) => laneName(brand, channel))
          const found = await queue.find({ lanes: ofBrand, userId, before, limit })
          return pageOf(found.map(show), search, ({ seq }) => String(seq))
        }
        const seen = lanes.map(({ name }) => name).filter((name) => visible(key, name))
        const { name, value } = search
        const found = await queue.find({ lanes: seen, ...(name === 'ref' ? { ref: value } : { id: value }) })
        return { messages: found.map(show) }
      },
    }),
  ]
}

function show({ category, key, putAt, ...rest }: FoundItem) {
  const { id, userId } = readMessageKey(key)
  return { ...rest, id, user_id: userId, outcome: category, put_at: putAt }
}
