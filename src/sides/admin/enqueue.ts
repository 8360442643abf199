// The platform's routes to enqueue messages, to read their outcomes and to count them.

import { type Static, Type } from 'typebox'
import { readTraceparent } from '../../base/brokers/consumer.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import type { LookUps } from '../../base/queue/queue.ts'
import { json, refusedLines, text, textOf, whole } from '../../contract/documents/described.ts'
import type { Channel } from '../../contract/endpoints.ts'
import { ActivityRequest, BatchRequest } from '../../contract/records.ts'
import { adminRoute } from './route.ts'
import { isLaneVisible } from './visibility.ts'

const Counts = Type.Object({ waiting: whole(), successful: whole(), failed: whole() })
const zeroCounts = () => ({ waiting: 0, successful: 0, failed: 0 })

const Outcome = Type.Object({
  seq: whole(),
  lane: Type.String(),
  category: Type.Enum(['waiting', 'successful', 'failed']),
  attempts: Type.Optional(whole()),
  ref: Type.Optional(text('push_id or site_notification_id')),
  rule: Type.Optional(Type.String()),
  untracked: Type.Optional(Type.Literal(true, { description: 'Delivered, but the answer has no identifier (row 6)' })),
  reason: Type.Optional(text('Why it failed; for a waiting message, why it still waits, if this process knows')),
  error: Type.Optional(Type.String()),
  call: Type.Optional(Type.String()),
})

export const EnqueueAnswer = Type.Object({
  accepted: whole(),
  repeated: whole('Enqueued before; nothing was stored'),
  refused_count: whole(),
  refused: refusedLines,
  seqs: Type.Array(Type.Tuple([whole(), whole()]), {
    description:
      'The numbers of accepted and repeated records, in the order of the lines: first and last number of each range',
  }),
})
export type EnqueueAnswer = Static<typeof EnqueueAnswer>

/** The sender of the records of one request. */
export interface EnqueueRequest {
  readonly channel: Channel
  readonly key: AccessKey
  /** The header `traceparent` of the request. */
  readonly traceparent?: string | undefined
}

/** Enqueues the records of a JSON body, or of a stream with one record per line. */
export type Enqueue = (body: Buffer | AsyncIterable<Buffer>, request: EnqueueRequest) => Promise<EnqueueAnswer>

const maxSeqs = 10_000
const seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** @example listNumbers([1, [4, 6]]) // [1, 4, 5, 6] */
function listNumbers(seqs: readonly (number | readonly [number, number])[]): number[] {
  const ranges = seqs.map((each) => (typeof each === 'number' ? ([each, each] as const) : each))
  const count = ranges.reduce((sum, [first, last]) => sum + Math.max(0, last - first + 1), 0)
  if (count > maxSeqs) throw new HttpError(400, `seqs: ${count} numbers; ask for at most ${maxSeqs} in a request`)
  return ranges.flatMap(([first, last]) => Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i))
}

export function enqueueRoutes(queue: LookUps, enqueue: Enqueue) {
  return {
    enqueue: adminRoute({
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
        const { channel } = request.params
        const body = request.body as Buffer | AsyncIterable<Buffer> | undefined
        if (body) return enqueue(body, { channel, key, ...readTraceparent(request.headers.traceparent) })
        throw new HttpError(
          400,
          'the body is empty: send an activity request record, an array of them, or NDJSON (application/x-ndjson)',
        )
      },
    }),
    readOutcomes: adminRoute({
      says: 'Returns the outcomes of messages by their numbers.',
      body: Type.Object({
        seqs: Type.Array(Type.Union([seq, Type.Tuple([seq, seq])]), {
          maxItems: maxSeqs,
          title: `an array of at most ${maxSeqs} numbers, or ranges [first, last] as in the answer of /admin/activities/CHANNEL`,
        }),
      }),
      gives: Type.Object({ outcomes: Type.Array(Outcome) }),
      async handler(request, key) {
        const outcomes = await queue.readOutcomes(listNumbers(request.body.seqs))
        return { outcomes: outcomes.filter((outcome) => isLaneVisible(key, outcome.lane)) }
      },
    }),
    summary: adminRoute({
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
  }
}
