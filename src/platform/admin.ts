// /admin of the platform: fill the lanes, ask for outcomes, read and decide Failed Actions, look at the lanes.

import type { FastifyRequest } from 'fastify'
import type { Channel } from '../providers/provider.ts'
import type { FailedFilter, LaneService, Queue } from '../queue/queue.ts'
import type { AccessKey } from '../runtime/access.ts'
import { type AdminRoute, jsonObject } from '../runtime/admin-access.ts'
import { HttpError } from '../runtime/http.ts'
import { enqueueJson, enqueueStream } from './enqueue.ts'

export interface PlatformAdmin {
  readonly queue: Queue
  readonly lanes: readonly LaneService[]
}

const mostSeqs = 10_000
const mostFailed = 1_000

export function platformAdmin({ queue, lanes }: PlatformAdmin): readonly AdminRoute[] {
  const names = new Set(lanes.map((lane) => lane.name))
  return [
    {
      method: 'POST',
      url: '/admin/activities/:channel',
      scope: 'enqueue',
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
      async handler(request, key) {
        const { seqs } = jsonObject(request)
        if (!Array.isArray(seqs) || seqs.length > mostSeqs || !seqs.every((seq) => Number.isSafeInteger(seq))) {
          throw new HttpError(
            400,
            `seqs must be an array of at most ${mostSeqs} numbers, as the answer of /admin/activities gave them`,
          )
        }
        const outcomes = await queue.outcomes(seqs as number[])
        return { outcomes: outcomes.filter((outcome) => visible(key, outcome.lane)) }
      },
    },
    {
      method: 'GET',
      url: '/admin/failed',
      scope: 'read',
      async handler(request, key) {
        const { after, limit, ...query } = request.query as Record<string, string | undefined>
        const page = {
          after: wholeNumber('after', after, 0),
          limit: Math.min(wholeNumber('limit', limit, 100), mostFailed),
        }
        const { items, next } = await queue.failed(readFilter(query, key), page)
        return { items: items.filter((item) => visible(key, item.lane)), next }
      },
    },
    ...(['dismiss', 'replay'] as const).map(
      (what): AdminRoute => ({
        method: 'POST',
        url: `/admin/failed/${what}`,
        scope: 'manage',
        async handler(request, key) {
          return { count: await queue.decide(readFilter(jsonObject(request), key), what) }
        },
      }),
    ),
    {
      method: 'GET',
      url: '/admin/lanes',
      scope: 'read',
      async handler(_request, key) {
        const states = await Promise.all(lanes.filter((lane) => visible(key, lane.name)).map((lane) => lane.state()))
        return { lanes: states }
      },
    },
    {
      method: 'POST',
      url: '/admin/lanes/resume',
      scope: 'manage',
      async handler(request, key) {
        const { lane: name } = jsonObject(request)
        const lane = lanes.find((each) => each.name === name && visible(key, each.name))
        if (!lane) throw new HttpError(404, `there is no lane ${JSON.stringify(name)}: GET /admin/lanes lists them`)
        lane.resume()
        return lane.state()
      },
    },
    {
      method: 'GET',
      url: '/admin/summary',
      scope: 'read',
      async handler(_request, key) {
        const total: Record<string, number> = { waiting: 0, successful: 0, failed: 0 }
        const counted: Record<string, Record<string, number>> = {}
        for (const { lane, category, items } of await queue.count()) {
          if (!visible(key, lane)) continue
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

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new HttpError(400, `${name} must be a whole number`)
}

const filterFields = ['lane', 'activity', 'action', 'user', 'state'] as const

/** A filter that names something unknown is refused: it would decide more than was meant. */
function readFilter(given: Readonly<Record<string, unknown>>, key: AccessKey): FailedFilter {
  const filter: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (!filterFields.includes(name as (typeof filterFields)[number])) {
      throw new HttpError(400, `${name} is not a filter: use ${filterFields.join(', ')}`)
    }
    if (typeof value !== 'string') throw new HttpError(400, `${name} must be a string`)
    filter[name] = value
  }
  if (filter.state !== undefined && !['pending', 'dismissed', 'replayed'].includes(filter.state)) {
    throw new HttpError(400, 'state must be pending, dismissed or replayed')
  }
  if (key.brands && !(filter.lane !== undefined && visible(key, filter.lane))) {
    throw new HttpError(403, `the key ${key.name} is bound to brands: name one of its lanes in the filter`)
  }
  return filter
}

/** A key bound to brands sees only their lanes, which begin with the brand (row 31). */
function visible(key: AccessKey, lane: string): boolean {
  return key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
}
