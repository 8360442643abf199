// The platform's routes of messages: search by the operator's identifier, by activity.id or by user.

import { Type } from 'typebox'
import { HttpError } from '../../base/http/http-error.ts'
import { failedStates } from '../../base/queue/failed/failed-state.ts'
import { brandOf, laneName } from '../../base/queue/lane-name.ts'
import type { FoundItem, ItemDetails, LaneService, LookUps } from '../../base/queue/queue.ts'
import { present } from '../../base/runtime/present.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { closedObject, messageKeyText, moment, nullable, text, whole } from '../../contract/documents/described.ts'
import { channels } from '../../contract/endpoints.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import { messageStatuses } from '../../contract/status.ts'
import { readStatuses, ShownStatus } from '../../subjects/conversions/shown-statuses.ts'
import { findById } from '../../subjects/delivery/messages.ts'
import { findCall } from '../../subjects/providers/calls.ts'
import { beforeDescription, messageQuery, pageOf, readMessageQuery } from './message-query.ts'
import { adminRoute } from './route.ts'
import { readDelivery, ShownDelivery } from './shown/delivery.ts'
import { ShownAttempt, ShownCall, ShownIdentifiers, shownAttempt, shownIdentifiers } from './shown/history.ts'
import { ShownLane, showLanes } from './shown/lanes.ts'
import { isLaneVisible } from './visibility.ts'

const FoundMessage = Type.Object({
  seq: whole('The number of the message'),
  lane: Type.String(),
  key: messageKeyText,
  id: text('activity.id'),
  user_id: Type.String(),
  outcome: Type.Enum(['waiting', 'successful', 'failed']),
  attempts: Type.Optional(whole('Absent while the message waits')),
  ref: Type.Optional(text('push_id or site_notification_id')),
  replays: Type.Optional(whole('How often it was replayed from Failed Actions; absent: never')),
  earlier_refs: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The identifiers before a replay, oldest first. They find the message, too',
    }),
  ),
  rule: Type.Optional(text('The reason for the outcome')),
  untracked: Type.Optional(Type.Literal(true, { description: 'Delivered, but the answer has no identifier' })),
  reason: Type.Optional(text('Why it failed; for a waiting message, why it still waits, if this process knows')),
  error: Type.Optional(Type.String()),
  call: Type.Optional(Type.String()),
  enqueued_at: moment('The time when it was enqueued'),
  erased: Type.Optional(Type.Literal(true, { description: 'The text was erased: the message cannot be replayed' })),
  status: Type.Optional(
    Type.Enum([...messageStatuses], {
      description: 'How far the message came, as its operator reported; absent: nothing was reported',
    }),
  ),
  statuses: Type.Optional(Type.Array(ShownStatus, { description: 'All statuses that its operator reported' })),
  history: Type.Optional(
    Type.Array(ShownAttempt, {
      description:
        'The unsuccessful attempts, oldest first; of many, the first 20 and the last 20. Not for a list by user',
    }),
  ),
})

const MessageDetails = Type.Object({
  ...FoundMessage.properties,
  transactional: Type.Optional(Type.Literal(true, { description: 'It is sent before the others of its lane' })),
  expires_at: Type.Optional(moment('From then on it is not sent')),
  settled_at: Type.Optional(moment('The time of the outcome; absent while the message waits')),
  failed: Type.Optional(
    Type.Object(
      {
        state: Type.Enum([...failedStates]),
        decided_by: nullable(text('The name of the key')),
        decided_at: nullable(moment('The time of the decision')),
      },
      { description: 'Its place in Failed Actions: the last failure and the last decision' },
    ),
  ),
  identifiers: ShownIdentifiers,
  calls: Type.Array(ShownCall),
  lane_owner: Type.Optional(text('The process that owns the lane now; begins with its process id')),
  lane_state: Type.Optional(ShownLane),
  delivery: Type.Optional(ShownDelivery),
})

export interface PlatformMessages {
  /** The database of a brand's lanes. */
  readonly databaseOf: (brand: string) => Database
  readonly queue: LookUps
  /** The lanes of messages, without the lanes of device events. */
  readonly lanes: () => readonly LaneService[]
}

export function platformMessageRoutes({ databaseOf, queue, lanes }: PlatformMessages) {
  const ofLane = (lane: string): Database => databaseOf(brandOf(lane))

  async function withStatuses<Row extends ReturnType<typeof shownMessage>>(rows: readonly Row[]) {
    const identified = rows.map(({ lane, ref, earlier_refs: earlier = [] }) => ({
      lane,
      refs: [...earlier, ...(ref === undefined ? [] : [ref])],
    }))
    const statuses = await readStatuses(ofLane, identified, { withMeta: false })
    return rows.map((row, i) => ({ ...row, ...statuses[i] }))
  }

  return {
    find: adminRoute({
      says: "Finds messages by the operator's identifier, by activity.id, or by brand and user.",
      query: closedObject({
        ref: Type.Optional(text('The push_id or site_notification_id that the operator answered.')),
        ...messageQuery,
        before: Type.Optional(whole(beforeDescription)),
      }),
      gives: Type.Object({
        messages: Type.Array(FoundMessage),
        next: Type.Optional(text('For a search by user: send it as `before` to get the next page')),
      }),
      async handler(request, key) {
        const search = readMessageQuery(request.query, key, ['ref', 'id'])
        if ('brand' in search) {
          const { brand, userId, before = Number.MAX_SAFE_INTEGER, limit } = search
          const found = await queue.findItems({ lanes: lanesOf(brand), userId, before, limit })
          return pageOf(await withStatuses(found.map(shownMessage)), search, ({ seq }) => String(seq))
        }
        const visibleLanes = lanes()
          .map(({ name }) => name)
          .filter((name) => isLaneVisible(key, name))
        const { name, value } = search
        const found = await queue.findItems({
          lanes: visibleLanes,
          ...(name === 'ref' ? { ref: value } : { id: value }),
        })
        const [only, another] = found
        if (only && !another) key.audit.note(subjectOf(only))
        return { messages: await withStatuses(found.map(shownMessage)) }
      },
    }),
    show: adminRoute({
      says: 'Shows one message with its attempts, calls and identifiers, without its text. While it waits, also the state of its lane.',
      params: Type.Object({ seq: whole('The number of the message.') }),
      gives: MessageDetails,
      refuses: { 404: 'There is no such message, or this key may not see it.' },
      async handler({ params: { seq } }, key) {
        const found = await queue.findItem(seq)
        const service = lanes().find(({ name }) => name === found?.lane)
        if (!found || !service || !isLaneVisible(key, found.lane))
          throw new HttpError(404, `there is no message ${seq} here: GET /admin/messages finds messages`)
        key.audit.note(subjectOf(found))
        const callIds = [...found.history.map(({ call }) => call), found.call].filter((id) => typeof id === 'string')
        const calls = await databaseOf(brandOf(found.lane)).read(op(findCall, [...new Set(callIds)], (id) => [id]))
        const waits = found.category === 'waiting' ? (await showLanes([service])).lanes[0] : undefined
        const details = shownDetails(found)
        const [statuses] = await readStatuses(
          ofLane,
          [{ lane: found.lane, refs: details.identifiers.map(({ ref }) => ref) }],
          { withMeta: true },
        )
        const delivery = await readOwnDelivery(found)
        return {
          ...details,
          ...statuses,
          calls,
          ...(waits && { lane_state: waits }),
          ...(delivery && { delivery }),
        }
      },
    }),
  }

  /** The row of the send path, if the lane delivers through a provider of the platform itself. */
  async function readOwnDelivery({ lane, key }: Pick<FoundItem, 'lane' | 'key'>) {
    const brand = brandOf(lane)
    const database = databaseOf(brand)
    const rows = await findById(database, [brand], readMessageKey(key).id)
    const row = rows.find((each) => each.key === key)
    return row && readDelivery(database, row)
  }
}

/** Whom a message is to. */
const subjectOf = ({ lane, key }: Pick<FoundItem, 'lane' | 'key'>) => ({
  brand: brandOf(lane),
  lane,
  user: readMessageKey(key).userId,
})

const lanesOf = (brand: string): string[] => channels.map((channel) => laneName(brand, channel))

function shownDetails({ identifiers, expiresAt, settledAt, failed, owner, ...found }: ItemDetails) {
  return {
    ...shownMessage(found),
    ...present({ expires_at: expiresAt, settled_at: settledAt, lane_owner: owner }),
    ...(failed && { failed: { state: failed.state, decided_by: failed.by, decided_at: failed.at } }),
    identifiers: shownIdentifiers(identifiers),
  }
}

function shownMessage({ category, key, enqueuedAt, earlierRefs, history, ...rest }: FoundItem) {
  const { id, userId } = readMessageKey(key)
  return {
    ...rest,
    key,
    ...(earlierRefs && { earlier_refs: earlierRefs }),
    id,
    user_id: userId,
    outcome: category,
    enqueued_at: enqueuedAt,
    ...(history && { history: history.map(shownAttempt) }),
  }
}
