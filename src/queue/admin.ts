// What both sides show of their queue under /admin: lanes, and failed items with what a person decides about them (§6.4).

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

const mostFailed = 1_000

const filterSays = {
  lane: 'Of this lane, such as 1/push. Required of a key that is bound to brands.',
  activity: 'Of this activity_id.',
  action: 'Of this action_id.',
  user: 'Of this user.',
} as const
const states = ['pending', 'dismissed', 'replayed'] as const
const State = Type.Enum([...states], { description: 'In this state.' })
const closed = { additionalProperties: false } as const
const mostPerSecond = 1_000_000
const filterFields = [...Object.keys(filterSays), 'state']

const failedFilter = Type.Object(
  {
    ...Object.fromEntries(
      Object.entries(filterSays).map(([name, description]) => [name, Type.Optional(Type.String({ description }))]),
    ),
    state: Type.Optional(State),
    all: Type.Optional(
      Type.Literal(true, { description: 'Every one. Without it at least one other member is needed.' }),
    ),
  },
  closed,
)
const pace = {
  per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostPerSecond,
      description: 'Most messages per second. Default: no limit.',
    }),
  ),
}

const Failed = Type.Object({
  seq: whole('The number under which it was put'),
  lane: Type.String(),
  activity: nullable(Type.String({ description: 'activity_id' })),
  action: nullable(Type.String({ description: 'action_id' })),
  user: nullable(Type.String()),
  key: Type.String({ description: 'What makes it this message and no other' }),
  text: Type.String({ description: 'The request element, as it was put' }),
  reason: Type.String(),
  error: Type.String(),
  rule: Type.String({ description: 'What decided' }),
  answer: nullable(Type.String()),
  call: nullable(Type.String()),
  attempts: whole(),
  at: moment('When it failed'),
  state: Type.Enum([...states]),
  decided_by: nullable(
    Type.String({ description: 'The key that decided last; kept when a replayed message fails again and is pending' }),
  ),
  decided_at: nullable(moment('When')),
})

function shownFailed({ decidedBy, decidedAt, ...item }: FailedItem): object {
  return { ...item, decided_by: decidedBy, decided_at: decidedAt }
}

const Lane = Type.Object({
  name: Type.String(),
  waiting: whole(),
  oldest_age_ms: whole('How long the oldest has been there'),
  owned: Type.Boolean({ description: 'By this process' }),
  state: Type.Enum(['running', 'held', 'paused', 'elsewhere']),
  held_for_ms: whole(),
  in_flight: whole('In calls that were not answered yet'),
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
        ...filterSays,
        state: State,
        limit: limitOf(mostFailed),
        after: whole('The `next` of the page before.'),
      },
      gives: json(Type.Object({ items: Type.Array(Failed), next: Type.Optional(whole()) })),
      async handler(request, key) {
        const { after, limit, ...query } = request.query as Record<string, string | undefined>
        const page = {
          after: wholeNumber('after', after, 0),
          limit: Math.min(wholeNumber('limit', limit, 100, 1), mostFailed),
        }
        const { items, next } = await queue.failed(readFilter(query, key), page)
        return { items: items.filter((item) => visible(key, item.lane)).map(shownFailed), next }
      },
    },
    ...(['dismiss', 'replay'] as const).map(
      (what): AdminRoute => ({
        method: 'POST',
        url: `/admin/failed/${what}`,
        scope: 'manage',
        says: `${what === 'dismiss' ? 'Dismisses' : 'Sends again'} the failed items that match, and says how many they were.`,
        body: json(what === 'replay' ? Type.Object({ ...failedFilter.properties, ...pace }, closed) : failedFilter),
        gives: json(Type.Object({ count: whole() })),
        async handler(request, key) {
          const { per_second: given, ...filter } = jsonObject(request)
          if (given !== undefined && what === 'dismiss') throw new HttpError(400, 'per_second is for a replay')
          const perSecond = readPace(given)
          const decision = { by: key.name, ...(perSecond !== undefined && { perSecond }) }
          return { count: await queue.decide(readFilter(filterOrAll(filter, filterFields), key), what, decision) }
        },
      }),
    ),
    {
      method: 'GET',
      url: '/admin/lanes',
      scope: 'read',
      says: 'Shows the lanes: what waits, what is under way, and what holds them.',
      gives: json(Type.Object({ lanes: Type.Array(Lane) })),
      async handler(_request, key) {
        const states = await Promise.all(lanes.filter((lane) => visible(key, lane.name)).map((lane) => lane.state()))
        return { lanes: states.map(shownLane) }
      },
    },
    {
      method: 'POST',
      url: '/admin/lanes/resume',
      scope: 'manage',
      says: 'Ends the pause of a lane.',
      body: json(Type.Object({ lane: Type.String({ description: 'As GET /admin/lanes names it' }) })),
      gives: json(Lane),
      refuses: { 404: 'There is no such lane, or not for this key.' },
      async handler(request, key) {
        const { lane: name } = jsonObject(request)
        if (typeof name !== 'string') throw new HttpError(400, 'lane must be a string, as GET /admin/lanes names it')
        const lane = lanes.find((each) => each.name === name && visible(key, each.name))
        if (!lane) throw new HttpError(404, `there is no lane ${JSON.stringify(name)}: GET /admin/lanes lists them`)
        await lane.resume()
        return shownLane(await lane.state())
      },
    },
  ]
}

function readPace(given: unknown): number | undefined {
  if (given === undefined) return undefined
  if (Number.isSafeInteger(given) && (given as number) >= 1 && (given as number) <= mostPerSecond)
    return given as number
  throw new HttpError(400, `per_second must be a whole number from 1 to ${mostPerSecond}`)
}

/** A filter that names something unknown is refused: it would decide more than was meant. */
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
  if (key.brands && !(filter.lane !== undefined && visible(key, filter.lane))) {
    throw new HttpError(403, `the key ${key.name} is bound to brands: name one of its lanes in the filter`)
  }
  return filter
}

/** A key bound to brands sees only their lanes, which begin with the brand (row 31). */
export function visible(key: AccessKey, lane: string): boolean {
  return key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
}
