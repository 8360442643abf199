// /admin of the platform: fill the lanes, ask for outcomes, read and decide Failed Actions, look at the lanes.

import { type Static, Type } from 'typebox'
import { json, textOf, whole } from '../contract/documents/described.ts'
import { ActivityRequest, BatchRequest } from '../contract/records.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import { queueAdmin, visible } from '../queue/admin.ts'
import type { LaneService, Queue } from '../queue/queue.ts'
import { EnqueueAnswer, enqueueJson, enqueueStream } from './enqueue.ts'

const Counted = Type.Object({ waiting: whole(), successful: whole(), failed: whole() })
const zeroCounts = () => ({ waiting: 0, successful: 0, failed: 0 })

const Became = Type.Object({
  seq: whole(),
  lane: Type.String(),
  category: Type.Enum(['waiting', 'successful', 'failed']),
  attempts: Type.Optional(whole()),
  ref: Type.Optional(Type.String({ description: 'push_id or site_notification_id' })),
  rule: Type.Optional(Type.String()),
  untracked: Type.Optional(Type.Literal(true, { description: 'Delivered, but the answer has no identifier (row 6)' })),
  reason: Type.Optional(Type.String({ description: 'Why it failed, or why it still waits, where this process knows' })),
  error: Type.Optional(Type.String()),
  call: Type.Optional(Type.String()),
})

export interface PlatformAdmin {
  readonly queue: Queue
  readonly lanes: readonly LaneService[]
}

const mostSeqs = 10_000

export function platformAdmin({ queue, lanes }: PlatformAdmin): readonly AdminRoute[] {
  const names = new Set(lanes.map((lane) => lane.name))
  return [
    adminRoute({
      method: 'POST',
      url: '/admin/activities/:channel',
      scope: 'enqueue',
      says: 'Puts messages into the lanes of their brands: one record, an array of them, or one in each line, of any length.',
      params: Type.Object({ channel: Type.Enum(['push', 'site'], { description: 'The channel.' }) }),
      bodies: {
        ...json(Type.Union([ActivityRequest, BatchRequest])),
        ...textOf('application/x-ndjson', 'One activity request record in each line'),
      },
      streamed: ['application/x-ndjson', 'application/jsonl'],
      largeBody: true,
      gives: EnqueueAnswer,
      async handler(request, key) {
        const enqueue = { queue, channel: request.params.channel, key, hasLane: (lane: string) => names.has(lane) }
        if (Buffer.isBuffer(request.body)) return enqueueJson(request.body, enqueue)
        if (request.body) return enqueueStream(request.body as AsyncIterable<Buffer>, enqueue)
        throw new HttpError(
          400,
          'the body is empty: send an activity request record, an array of them, or NDJSON (application/x-ndjson)',
        )
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/outcomes',
      scope: 'read',
      says: 'Says what became of messages, by the numbers under which they were put.',
      body: Type.Object({
        seqs: Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
          maxItems: mostSeqs,
          title: `an array of at most ${mostSeqs} numbers, as the answer of /admin/activities gave them`,
        }),
      }),
      gives: Type.Object({ outcomes: Type.Array(Became) }),
      async handler(request, key) {
        const outcomes = await queue.outcomes(request.body.seqs)
        return { outcomes: outcomes.filter((outcome) => visible(key, outcome.lane)) }
      },
    }),
    ...queueAdmin({ queue, lanes }),
    adminRoute({
      method: 'GET',
      url: '/admin/summary',
      scope: 'read',
      says: 'Counts what waits, what was successful and what failed, in all and for each lane.',
      gives: Type.Object({ ...Counted.properties, lanes: Type.Record(Type.String(), Counted) }),
      async handler(_request, key) {
        const total = zeroCounts()
        const counted: Record<string, Static<typeof Counted>> = {}
        for (const { lane, category, items } of await queue.count()) {
          if (!visible(key, lane)) continue
          counted[lane] = { ...zeroCounts(), ...counted[lane], [category]: items }
          total[category] += items
        }
        return { ...total, lanes: counted }
      },
    }),
  ]
}
