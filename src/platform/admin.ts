// /admin of the platform: fill the lanes, ask for outcomes, read and decide Failed Actions, look at the lanes.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { json, textOf, whole } from '../contract/documents/described.ts'
import { ActivityRequest, BatchRequest } from '../contract/records.ts'
import { type AdminRoute, jsonObject } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import type { Channel } from '../providers/provider.ts'
import { isLaneVisible, queueAdmin } from '../queue/admin.ts'
import type { LaneService, Queue } from '../queue/queue.ts'
import { EnqueueAnswer, enqueueJson, enqueueStream } from './enqueue.ts'

const Counted = Type.Object({ waiting: whole(), successful: whole(), failed: whole() })

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
    {
      method: 'POST',
      url: '/admin/activities/:channel',
      scope: 'enqueue',
      says: 'Puts messages into the lanes of their brands: one record, an array of them, or one in each line, of any length.',
      params: { channel: Type.Enum(['push', 'site'], { description: 'The channel.' }) },
      body: {
        ...json(Type.Union([ActivityRequest, BatchRequest])),
        ...textOf('application/x-ndjson', 'One activity request record in each line'),
      },
      streamed: ['application/x-ndjson', 'application/jsonl'],
      largeBody: true,
      gives: json(EnqueueAnswer),
      async handler(request, key) {
        const enqueue = { queue, channel: channelOf(request), key, hasLane: (lane: string) => names.has(lane) }
        if (Buffer.isBuffer(request.body)) return enqueueJson(request.body, enqueue)
        if (request.body) return enqueueStream(request.body as AsyncIterable<Buffer>, enqueue)
        throw new HttpError(
          400,
          'the body is empty: send an activity request record, an array of them, or NDJSON (application/x-ndjson)',
        )
      },
    },
    {
      method: 'POST',
      url: '/admin/outcomes',
      scope: 'read',
      says: 'Says what became of messages, by the numbers under which they were put.',
      body: json(Type.Object({ seqs: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: mostSeqs }) })),
      gives: json(Type.Object({ outcomes: Type.Array(Became) })),
      async handler(request, key) {
        const { seqs } = jsonObject(request)
        if (
          !Array.isArray(seqs) ||
          seqs.length > mostSeqs ||
          !seqs.every((seq) => Number.isSafeInteger(seq) && seq >= 0)
        ) {
          throw new HttpError(
            400,
            `seqs must be an array of at most ${mostSeqs} numbers, as the answer of /admin/activities gave them`,
          )
        }
        const outcomes = await queue.readOutcomes(seqs as number[])
        return { outcomes: outcomes.filter((outcome) => isLaneVisible(key, outcome.lane)) }
      },
    },
    ...queueAdmin({ queue, lanes }),
    {
      method: 'GET',
      url: '/admin/summary',
      scope: 'read',
      says: 'Counts what waits, what was successful and what failed, in all and for each lane.',
      gives: json(Type.Object({ ...Counted.properties, lanes: Type.Record(Type.String(), Counted) })),
      async handler(_request, key) {
        const total: Record<string, number> = { waiting: 0, successful: 0, failed: 0 }
        const counted: Record<string, Record<string, number>> = {}
        for (const { lane, category, items } of await queue.countItems()) {
          if (!isLaneVisible(key, lane)) continue
          counted[lane] = { waiting: 0, successful: 0, failed: 0, ...counted[lane], [category]: items }
          total[category] = (total[category] ?? 0) + items
        }
        return { ...total, lanes: counted }
      },
    },
  ]
}

function channelOf(request: FastifyRequest): Channel {
  const { channel } = request.params as { channel: string }
  if (channel === 'push' || channel === 'site') return channel
  throw new HttpError(404, `there is no channel ${channel}: use push or site`)
}
