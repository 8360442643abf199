// What both sides show of their queue under /admin: lanes, and failed items with what a person decides about them (§6.4).

import { Type } from 'typebox'
import { closed, limitOf, moment, nullable, text, whole } from '../contract/documents/described.ts'
import type { AccessKey } from '../http/access.ts'
import { type AdminRoute, adminRoute, filterOrAll } from '../http/admin-access.ts'
import { HttpError } from '../http/http.ts'
import type { FailedFilter, FailedItem, LaneService, LaneState, Queue } from './queue.ts'

export interface QueueAdmin {
  readonly queue: Queue
  readonly lanes: readonly LaneService[]
}

const mostFailed = 1_000

const states = ['pending', 'dismissed', 'replayed'] as const

const filter = {
  lane: Type.Optional(text('Of this lane, such as 1/push. Required of a key that is bound to brands.')),
  activity: Type.Optional(text('Of this activity_id.')),
  action: Type.Optional(text('Of this action_id.')),
  user: Type.Optional(text('Of this user.')),
  state: Type.Optional(Type.Enum([...states], { description: 'In this state.' })),
}
const selection = {
  ...filter,
  all: Type.Optional(Type.Literal(true, { description: 'Every one. Without it at least one other member is needed.' })),
}
const pace = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'Most messages per second. Default: no limit.',
})

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

function shownFailed({ decidedBy, decidedAt, ...item }: FailedItem) {
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

function shownLane({ oldestAgeMs, heldForMs, inFlight, lastError, ...lane }: LaneState) {
  return { ...lane, oldest_age_ms: oldestAgeMs, held_for_ms: heldForMs, in_flight: inFlight, last_error: lastError }
}

export function queueAdmin({ queue, lanes }: QueueAdmin): readonly AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      url: '/admin/failed',
      scope: 'read',
      says: 'Lists Failed Actions: what failed and was not decided about, or was (§6.4).',
      query: Type.Object(
        {
          ...filter,
          limit: Type.Optional(limitOf(mostFailed)),
          after: Type.Optional(whole('The `next` of the page before.')),
        },
        closed,
      ),
      gives: Type.Object({ items: Type.Array(Failed), next: Type.Optional(whole()) }),
      async handler(request, key) {
        const { after = 0, limit = 100, ...given } = request.query
        demandLane(given, key)
        const { items, next } = await queue.failed(given, { after, limit })
        return { items: items.filter((item) => visible(key, item.lane)).map(shownFailed), next }
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/failed/dismiss',
      scope: 'manage',
      says: 'Dismisses the failed items that match, and says how many they were.',
      body: Type.Object(selection, closed),
      gives: Type.Object({ count: whole() }),
      async handler({ body }, key) {
        const given = filterOrAll(body, Object.keys(filter))
        demandLane(given, key)
        return { count: await queue.decide(given, 'dismiss', { by: key.name }) }
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/failed/replay',
      scope: 'manage',
      says: 'Sends again the failed items that match, and says how many they were.',
      body: Type.Object({ ...selection, per_second: Type.Optional(pace) }, closed),
      gives: Type.Object({ count: whole() }),
      async handler({ body: { per_second: perSecond, ...body } }, key) {
        const given = filterOrAll(body, Object.keys(filter))
        demandLane(given, key)
        const decision = { by: key.name, ...(perSecond !== undefined && { perSecond }) }
        return { count: await queue.decide(given, 'replay', decision) }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/lanes',
      scope: 'read',
      says: 'Shows the lanes: what waits, what is under way, and what holds them.',
      gives: Type.Object({ lanes: Type.Array(Lane) }),
      async handler(_request, key) {
        const states = await Promise.all(lanes.filter((lane) => visible(key, lane.name)).map((lane) => lane.state()))
        return { lanes: states.map(shownLane) }
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/lanes/resume',
      scope: 'manage',
      says: 'Ends the pause of a lane.',
      body: Type.Object({
        lane: Type.String({ title: 'a string, as GET /admin/lanes names it', examples: ['1/push'] }),
      }),
      gives: Lane,
      refuses: { 404: 'There is no such lane, or not for this key.' },
      async handler(request, key) {
        const { lane: name } = request.body
        const lane = lanes.find((each) => each.name === name && visible(key, each.name))
        if (!lane) throw new HttpError(404, `there is no lane ${JSON.stringify(name)}: GET /admin/lanes lists them`)
        await lane.resume()
        return shownLane(await lane.state())
      },
    }),
  ]
}

function demandLane({ lane }: FailedFilter, key: AccessKey): void {
  if (key.brands && !(lane !== undefined && visible(key, lane)))
    throw new HttpError(403, `the key ${key.name} is bound to brands: name one of its lanes in the filter`)
}

/** A key bound to brands sees only their lanes, which begin with the brand (row 31). */
export function visible(key: AccessKey, lane: string): boolean {
  return key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
}
