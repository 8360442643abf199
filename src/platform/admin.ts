// The platform's routes under /admin: enqueue messages, read outcomes, and count messages.

import { type Static, Type } from 'typebox'
import { readTraceparent } from '../brokers/consumer.ts'
import { json, textOf, whole } from '../contract/documents/described.ts'
import { ActivityRequest, BatchRequest } from '../contract/records.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import { queueAdmin } from '../queue/admin.ts'
import { isLaneVisible } from '../queue/lane-visibility.ts'
import type { LaneService, Queue } from '../queue/queue.ts'
import { EnqueueAnswer, enqueueJson, enqueueStream } from './enqueue.ts'
import type { RecordRules } from './new-item.ts'

const Counts = Type.Object({ waiting: whole(), successful: whole(), failed: whole() })
const zeroCounts = () => ({ waiting: 0, successful: 0, failed: 0 })

const Outcome = Type.Object({
  seq: whole(),
  lane: Type.String(),
  category: Type.Enum(['waiting', 'successful', 'failed']),
  attempts: Type.Optional(whole()),
  ref: Type.Optional(Type.String({ description: 'push_id or site_notification_id' })),
  rule: Type.Optional(Type.String()),
  untracked: Type.Optional(Type.Literal(true, { description: 'Delivered, but the answer has no identifier (row 6)' })),
  reason: Type.Optional(
    Type.String({ description: 'Why it failed; for a waiting message, why it still waits, if this process knows' }),
  ),
  error: Type.Optional(Type.String()),
  call: Type.Optional(Type.String()),
})

export interface PlatformAdmin {
  readonly queue: Queue
  readonly lanes: readonly LaneService[]
  readonly rulesOf: (lane: string) => RecordRules | undefined
}

const maxSeqs = 10_000

export function platformAdmin({ queue, lanes, rulesOf }: PlatformAdmin): readonly AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      url: '/admin/activities/:channel',
      scope: 'enqueue',
      says: 'Enqueues messages in the lanes of their brands: one record, an array of records, or any number of lines.',
      params: Type.Object({ channel: Type.Enum(['push', 'site'], { description: 'The channel.' }) }),
      bodies: {
        ...json(Type.Union([ActivityRequest, BatchRequest])),
        ...textOf('application/x-ndjson', 'One activity request record per line'),
      },
      streamed: ['application/x-ndjson', 'application/jsonl'],
      largeBody: true,
      gives: EnqueueAnswer,
      async handler(request, key) {
        const options = {
          queue,
          channel: request.params.channel,
          key,
          rulesOf,
          ...readTraceparent(request.headers.traceparent),
        }
        if (Buffer.isBuffer(request.body)) return enqueueJson(request.body, options)
        if (request.body) return enqueueStream(request.body as AsyncIterable<Buffer>, options)
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
      says: 'Returns the outcomes of messages by their numbers.',
      body: Type.Object({
        seqs: Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
          maxItems: maxSeqs,
          title: `an array of at most ${maxSeqs} numbers from the answer of /admin/activities`,
        }),
      }),
      gives: Type.Object({ outcomes: Type.Array(Outcome) }),
      async handler(request, key) {
        const outcomes = await queue.readOutcomes(request.body.seqs)
        return { outcomes: outcomes.filter((outcome) => isLaneVisible(key, outcome.lane)) }
      },
    }),
    ...queueAdmin({ queue, lanes }),
    adminRoute({
      method: 'GET',
      url: '/admin/summary',
      scope: 'read',
      says: 'Counts the waiting, successful and failed messages, in total and for each lane.',
      gives: Type.Object({ ...Counts.properties, lanes: Type.Record(Type.String(), Counts) }),
      async handler(_request, key) {
        const total = zeroCounts()
        const countsByLane: Record<string, Static<typeof Counts>> = {}
        for (const { lane, category, items } of await queue.countItems()) {
          if (!isLaneVisible(key, lane)) continue
          const counts = countsByLane[lane] ?? zeroCounts()
          countsByLane[lane] = counts
          const shown = category === 'paused' ? 'waiting' : category
          counts[shown] += items
          total[shown] += items
        }
        return { ...total, lanes: countsByLane }
      },
    }),
  ]
}
