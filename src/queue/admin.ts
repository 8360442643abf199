// The routes of the queue under /admin, on both sides: lanes, and Failed Actions with their decisions (§6.4).

import { Type } from 'typebox'
import { json, limitOf, moment, nullable, whole } from '../contract/documents/described.ts'
import type { AccessKey } from '../http/access.ts'
import { type AdminRoute, filterOrAll, jsonObject, wholeNumber } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import type { FailedFilter, FailedItem, LaneService, LaneState, Queue } from './queue.ts'

export interface QueueAdmin {
  readonly queue: Queue
  readonly lanes: readonly LaneService[]
}

const maxListed = 1_000

const filterDescriptions = {
  lane: 'The lane, such as 1/push. Required if the key is bound to brands.',
  activity: 'The activity_id.',
  action: 'The action_id.',
  user: 'The user_id.',
} as const
const states = ['pending', 'dismissed', 'replayed'] as const
const State = Type.Enum([...states], { description: 'The state.' })
const closed = { additionalProperties: false } as const
const maxPerSecond = 1_000_000
const filterFields = [...Object.keys(filterDescriptions), 'state']

const failedFilter = Type.Object(
  {
    ...Object.fromEntries(
      Object.entries(filterDescriptions).map(([name, description]) => [
        name,
        Type.Optional(Type.String({ description })),
      ]),
    ),
    state: Type.Optional(State),
    all: Type.Optional(Type.Literal(true, { description: 'All failed items. Required if there is no other filter.' })),
  },
  closed,
)
const replayRate = {
  per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPerSecond,
      description: 'The most messages per second. Default: no limit.',
    }),
  ),
}

const Failed = Type.Object({
  seq: whole('The number of the message'),
  lane: Type.String(),
  activity: nullable(Type.String({ description: 'activity_id' })),
  action: nullable(Type.String({ description: 'action_id' })),
  user: nullable(Type.String()),
  key: Type.String({ description: 'The message key: unique in its lane' }),
  text: Type.String({ description: 'The request element that was enqueued' }),
  reason: Type.String(),
  error: Type.String(),
  rule: Type.String({ description: 'The reason for the outcome' }),
  answer: nullable(Type.String()),
  call: nullable(Type.String()),
  attempts: whole(),
  at: moment('The time of the failure'),
  state: Type.Enum([...states]),
  decided_by: nullable(
    Type.String({ description: 'The name of the key that dismissed or replayed it last; kept if it fails again' }),
  ),
  decided_at: nullable(moment('The time of that decision')),
})

function shownFailed({ decidedBy, decidedAt, ...item }: FailedItem): object {
  return { ...item, decided_by: decidedBy, decided_at: decidedAt }
}

const Lane = Type.Object({
  name: Type.String(),
  waiting: whole(),
  oldest_age_ms: whole('The age of the oldest waiting item'),
  owned: Type.Boolean({ description: 'Whether this process owns the lane' }),
  state: Type.Enum(['running', 'held', 'paused', 'elsewhere']),
  held_for_ms: whole(),
  in_flight: whole('The number of items in running calls'),
  last_error: Type.Optional(Type.String()),
})

function shownLane({ oldestAgeMs, heldForMs, inFlight, lastError, ...lane }: LaneState): object {
  return { ...lane, oldest_age_ms: oldestAgeMs, held_for_ms: heldForMs, in_flight: inFlight, last_error: lastError }
}

export function queueAdmin({ queue, lanes }: QueueAdmin): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      url: '/admin/failed',
      scope: 'read',
      says: 'Lists Failed Actions.',
      query: {
        ...filterDescriptions,
        state: State,
        limit: limitOf(maxListed),
        after: whole('The `next` of the previous page.'),
      },
      gives: json(Type.Object({ items: Type.Array(Failed), next: Type.Optional(whole()) })),
      async handler(request, key) {
        const { after, limit, ...query } = request.query as Record<string, string | undefined>
        const page = {
          after: wholeNumber('after', after, 0),
          limit: Math.min(wholeNumber('limit', limit, 100, 1), maxListed),
        }
        const { items, next } = await queue.listFailed(readFilter(query, key), page)
        return { items: items.filter((item) => isLaneVisible(key, item.lane)).map(shownFailed), next }
      },
    },
    ...(['dismiss', 'replay'] as const).map(
      (action): AdminRoute => ({
        method: 'POST',
        url: `/admin/failed/${action}`,
        scope: 'manage',
        says: `${action === 'dismiss' ? 'Dismisses' : 'Replays'} the matching failed items and returns their number.`,
        body: json(
          action === 'replay' ? Type.Object({ ...failedFilter.properties, ...replayRate }, closed) : failedFilter,
        ),
        gives: json(Type.Object({ count: whole() })),
        async handler(request, key) {
          const { per_second: value, ...filter } = jsonObject(request)
          if (value !== undefined && action === 'dismiss')
            throw new HttpError(400, 'per_second is only for /admin/failed/replay: leave it out')
          const perSecond = readReplayRate(value)
          const decision = { by: key.name, ...(perSecond !== undefined && { perSecond }) }
          return {
            count: await queue.decideFailed(readFilter(filterOrAll(filter, filterFields), key), action, decision),
          }
        },
      }),
    ),
    {
      method: 'GET',
      url: '/admin/lanes',
      scope: 'read',
      says: 'Lists the lanes: waiting items, running calls, and why a lane is held or paused.',
      gives: json(Type.Object({ lanes: Type.Array(Lane) })),
      async handler(_request, key) {
        const states = await Promise.all(
          lanes.filter((lane) => isLaneVisible(key, lane.name)).map((lane) => lane.state()),
        )
        return { lanes: states.map(shownLane) }
      },
    },
    {
      method: 'POST',
      url: '/admin/lanes/resume',
      scope: 'manage',
      says: 'Ends the pause of a lane.',
      body: json(Type.Object({ lane: Type.String({ description: 'A name from GET /admin/lanes' }) })),
      gives: json(Lane),
      refuses: { 404: 'There is no such lane, or this key may not see it.' },
      async handler(request, key) {
        const { lane: name } = jsonObject(request)
        if (typeof name !== 'string') throw new HttpError(400, 'lane must be a string: a name from GET /admin/lanes')
        const lane = lanes.find((each) => each.name === name && isLaneVisible(key, each.name))
        if (!lane) throw new HttpError(404, `there is no lane ${JSON.stringify(name)}: GET /admin/lanes lists them`)
        await lane.resume()
        return shownLane(await lane.state())
      },
    },
  ]
}

function readReplayRate(value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= maxPerSecond) return value as number
  throw new HttpError(400, `per_second must be a whole number from 1 to ${maxPerSecond}`)
}

/** Rejects unknown filters: ignoring one would dismiss or replay too many items. */
function readFilter(given: Readonly<Record<string, unknown>>, key: AccessKey): FailedFilter {
  const filter: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (!filterFields.includes(name)) {
      throw new HttpError(400, `${name} is not a filter: use ${filterFields.join(', ')}`)
    }
    if (typeof value !== 'string') throw new HttpError(400, `${name} must be a string`)
    filter[name] = value
  }
  if (filter.state !== undefined && !(states as readonly string[]).includes(filter.state)) {
    throw new HttpError(400, `state must be ${states.join(', ')}`)
  }
  if (key.brands && !(filter.lane !== undefined && isLaneVisible(key, filter.lane))) {
    throw new HttpError(403, `the key ${key.name} is bound to brands: name one of its lanes in the filter`)
  }
  return filter
}

/** A key that is bound to brands sees only the lanes whose names begin with one of them (row 31). */
export function isLaneVisible(key: AccessKey, lane: string): boolean {
  return key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
}
