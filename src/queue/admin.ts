// The routes of the queue under /admin, on both sides: lanes, and Failed Actions with their decisions (§6.4).

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

const maxListed = 1_000

const states = ['pending', 'dismissed', 'replayed'] as const

const filter = {
  lane: Type.Optional(text('The lane, such as 1/push. Required if the key is bound to brands.')),
  activity: Type.Optional(text('The activity_id.')),
  action: Type.Optional(text('The action_id.')),
  user: Type.Optional(text('The user_id.')),
  state: Type.Optional(Type.Enum([...states], { description: 'The state.' })),
}
const selection = {
  ...filter,
  all: Type.Optional(Type.Literal(true, { description: 'All failed items. Required if there is no other filter.' })),
}
const replayRate = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  description: 'The most messages per second. Default: no limit.',
})

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

function shownFailed({ decidedBy, decidedAt, ...item }: FailedItem) {
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

function shownLane({ oldestAgeMs, heldForMs, inFlight, lastError, ...lane }: LaneState) {
  return { ...lane, oldest_age_ms: oldestAgeMs, held_for_ms: heldForMs, in_flight: inFlight, last_error: lastError }
}

export function queueAdmin({ queue, lanes }: QueueAdmin): readonly AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      url: '/admin/failed',
      scope: 'read',
      says: 'Lists Failed Actions: failed items with their decisions (§6.4).',
      query: Type.Object(
        {
          ...filter,
          limit: Type.Optional(limitOf(maxListed)),
          after: Type.Optional(whole('The `next` of the previous page.')),
        },
        closed,
      ),
      gives: Type.Object({ items: Type.Array(Failed), next: Type.Optional(whole()) }),
      async handler(request, key) {
        const { after = 0, limit = 100, ...given } = request.query
        demandLane(given, key)
        const { items, next } = await queue.listFailed(given, { after, limit })
        return { items: items.filter((item) => isLaneVisible(key, item.lane)).map(shownFailed), next }
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/failed/dismiss',
      scope: 'manage',
      says: 'Dismisses the matching failed items and returns their number.',
      body: Type.Object(selection, closed),
      gives: Type.Object({ count: whole() }),
      async handler({ body }, key) {
        const given = filterOrAll(body, Object.keys(filter))
        demandLane(given, key)
        return { count: await queue.decideFailed(given, 'dismiss', { by: key.name }) }
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/failed/replay',
      scope: 'manage',
      says: 'Replays the matching failed items and returns their number.',
      body: Type.Object({ ...selection, per_second: Type.Optional(replayRate) }, closed),
      gives: Type.Object({ count: whole() }),
      async handler({ body: { per_second: perSecond, ...body } }, key) {
        const given = filterOrAll(body, Object.keys(filter))
        demandLane(given, key)
        const decision = { by: key.name, ...(perSecond !== undefined && { perSecond }) }
        return { count: await queue.decideFailed(given, 'replay', decision) }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/lanes',
      scope: 'read',
      says: 'Lists the lanes: waiting items, running calls, and why a lane is held or paused.',
      gives: Type.Object({ lanes: Type.Array(Lane) }),
      async handler(_request, key) {
        const states = await Promise.all(
          lanes.filter((lane) => isLaneVisible(key, lane.name)).map((lane) => lane.state()),
        )
        return { lanes: states.map(shownLane) }
      },
    }),
    adminRoute({
      method: 'POST',
      url: '/admin/lanes/resume',
      scope: 'manage',
      says: 'Ends the pause of a lane.',
      body: Type.Object({
        lane: Type.String({ title: 'a name from GET /admin/lanes', examples: ['1/push'] }),
      }),
      gives: Lane,
      refuses: { 404: 'There is no such lane, or this key may not see it.' },
      async handler(request, key) {
        const { lane: name } = request.body
        const lane = lanes.find((each) => each.name === name && isLaneVisible(key, each.name))
        if (!lane) throw new HttpError(404, `there is no lane ${JSON.stringify(name)}: GET /admin/lanes lists them`)
        await lane.resume()
        return shownLane(await lane.state())
      },
    }),
  ]
}

function demandLane({ lane }: FailedFilter, key: AccessKey): void {
  if (key.brands && !(lane !== undefined && isLaneVisible(key, lane)))
    throw new HttpError(403, `the key ${key.name} is bound to brands: name one of its lanes in the filter`)
}

/** A key that is bound to brands sees only the lanes whose names begin with one of them (row 31). */
export function isLaneVisible(key: AccessKey, lane: string): boolean {
  return key.brands?.some((brand) => lane.startsWith(`${brand}/`)) ?? true
}
