// The routes under /admin that cancel waiting messages, on both sides.

import { type Static, Type } from 'typebox'
import { HttpError } from '../../base/http/http.ts'
import type { Cancellation, WaitingSelection as Selected } from '../../base/queue/controls/waiting-selection.ts'
import type { LaneService } from '../../base/queue/queue.ts'
import { present } from '../../base/runtime/present.ts'
import { random } from '../../base/runtime/random.ts'
import { closedObject, limitOf, moment, text, whole } from '../../contract/documents/described.ts'
import { readMoment } from '../../contract/moment.ts'
import { findTargets, type LaneAdmin, noSuchLane } from './lane-target.ts'
import { reasonText, WaitingSelection, waitingFilter } from './requests.ts'
import { adminRoute, filterOrAll } from './route.ts'
import { isLaneVisible } from './visibility.ts'

/** The owner of a lane compares each item with its open cancellations. */
const mostOpen = 20
const mostListed = 1_000

const identifier = Type.String({
  pattern: '^[\\w-]{1,64}$',
  title: 'a text of 1 to 64 letters, digits, _ and -',
  description:
    'An identifier of your own. A second request with the same identifier changes nothing. Default: a new UUID.',
})

const Shown = Type.Object({
  id: Type.String(),
  lane: Type.String(),
  activity: Type.Optional(Type.String()),
  action: Type.Optional(Type.String()),
  user: Type.Optional(Type.String()),
  from: Type.Optional(moment('Enqueued at this time or later')),
  until: Type.Optional(moment('Enqueued before this time')),
  by: text('The name of the key'),
  reason: Type.String(),
  at: moment('The time of the request'),
  cancelled: whole('How many messages were cancelled so far'),
  done_at: Type.Optional(moment('When all waiting messages were examined; absent: the platform still works')),
})

export function cancellationRoutes({ queue, lanes }: LaneAdmin) {
  return {
    preview: adminRoute({
      says: 'Counts the waiting messages that a cancellation would select, at most 20,000 of a lane in each request.',
      body: closedObject({
        ...WaitingSelection.properties,
        after: Type.Optional(text('The `next` of the previous answer.')),
      }),
      gives: Type.Object({
        count: whole('Of these messages, some may be in running calls'),
        next: Type.Optional(text('Present if there may be more: send it as `after`, and add the counts')),
      }),
      refuses: { 404: noSuchLane },
      async handler({ body }, key) {
        const { targets } = findTargets(lanes, body, key)
        const { lane, after } = readCursor(body.after, targets)
        const { count, next } = await queue.countSelected(lane.name, selectionOf(body), after)
        const following = targets[targets.indexOf(lane) + 1]
        if (next !== undefined) return { count, next: `${lane.name} ${next}` }
        return { count, ...(following && { next: following.name }) }
      },
    }),
    cancel: adminRoute({
      says: 'Cancels the selected messages that wait now. They are in Failed Actions with the reason `cancelled`. Messages in running calls are cancelled only if they must be sent again.',
      body: closedObject({ ...WaitingSelection.properties, reason: reasonText, id: Type.Optional(identifier) }),
      gives: Type.Object({
        id: text('GET /admin/lanes/cancellations?id=… shows the progress'),
      }),
      refuses: { 404: noSuchLane, 409: 'Too many cancellations are not done yet.' },
      async handler({ body }, key) {
        const { targets } = findTargets(lanes, body, key)
        const selected = selectionOf(body)
        const { reason, id = random.uuid() } = body
        const names = targets.map(({ name }) => name)
        const recent = await queue.listCancellations(names, mostOpen * names.length)
        for (const name of names)
          if (recent.filter(({ lane, doneAt }) => lane === name && doneAt === undefined).length >= mostOpen)
            throw new HttpError(409, `${mostOpen} cancellations of lane ${name} are not done yet: wait until they are`)
        await queue.cancelWaiting(
          names.map((lane) => ({ ...selected, id, lane, by: key.name, reason })),
          key.audit.ops(),
        )
        return { id }
      },
    }),
    list: adminRoute({
      says: 'Lists the cancellations of waiting messages with their progress, the newest first.',
      query: closedObject({ id: Type.Optional(identifier), limit: Type.Optional(limitOf(mostListed)) }),
      gives: Type.Object({ cancellations: Type.Array(Shown) }),
      async handler({ query: { id, limit = 100 } }, key) {
        const names = lanes()
          .map(({ name }) => name)
          .filter((name) => isLaneVisible(key, name))
        const listed = await queue.listCancellations(names, id === undefined ? limit : mostListed)
        return { cancellations: listed.filter((each) => id === undefined || each.id === id).map(showCancellation) }
      },
    }),
  }
}

function selectionOf(body: Static<typeof WaitingSelection>): Selected {
  const { all, ...members } = body
  const given = Object.fromEntries(Object.entries(members).filter(([name]) => name in waitingFilter))
  filterOrAll({ ...given, ...(all && { all }) }, Object.keys(waitingFilter))
  const { activity, action, user, from = '', until = '' } = body
  return present({ activity, action, user, enqueuedAfter: readMoment(from), enqueuedBefore: readMoment(until) })
}

/** The lane with which a count continues, and the place in it. */
function readCursor(
  cursor: string | undefined,
  targets: readonly LaneService[],
): { readonly lane: LaneService; readonly after?: string } {
  if (cursor === undefined) return { lane: targets[0] as LaneService }
  const [name, after] = cursor.split(' ')
  const lane = targets.find((each) => each.name === name)
  if (!lane || (after !== undefined && !/^-?\d{1,16}\.\d{1,16}$/.test(after)))
    throw new HttpError(400, 'after is not the `next` of a preview with the same filter: leave it out to begin again')
  return { lane, ...(after !== undefined && { after }) }
}

function showCancellation({
  enqueuedAfter,
  enqueuedBefore,
  doneAt,
  lastSeq: _,
  ...rest
}: Cancellation): Static<typeof Shown> {
  return { ...rest, ...present({ from: enqueuedAfter, until: enqueuedBefore, done_at: doneAt }) }
}
