// The routes of Failed Actions under /admin, on both sides (§6.4).

import { type Static, Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import { cursorPattern } from '../../base/queue/failed/decide-failed.ts'
import { failedStates } from '../../base/queue/failed/failed-state.ts'
import { readMessageParts } from '../../base/queue/item-keys.ts'
import { brandOf } from '../../base/queue/lane-name.ts'
import type { DecidedItems, FailedActions, FailedFilter, FailedGroup, FailedItem } from '../../base/queue/queue.ts'
import { present } from '../../base/runtime/present.ts'
import { closedObject, limitOf, moment, nullable, text, textOf, whole } from '../../contract/documents/described.ts'
import { readMoment } from '../../contract/moment.ts'
import { failedColumns, readAllFailed } from './failed-csv.ts'
import type { AdminCaller } from './request-audit.ts'
import { actNote, FailedGroups, FailedQuery, failedFilter, ReplayRate } from './requests.ts'
import { adminRoute, filterOrAll } from './route.ts'
import { sendCsv } from './send-file.ts'
import { ShownAttempt, ShownIdentifiers, shownAttempt, shownIdentifiers } from './shown/history.ts'
import { isLaneVisible } from './visibility.ts'

const maxListed = 1_000
const maxGroups = 10_000
const maxSelected = 10_000

const Dismissal = closedObject({
  ...failedFilter,
  seqs: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
      minItems: 1,
      maxItems: maxSelected,
      title: `an array of at most ${maxSelected} numbers of messages`,
      description: 'Only these numbers.',
    }),
  ),
  all: Type.Optional(Type.Literal(true, { description: 'All failed items. Required if there is no other filter.' })),
  preview: Type.Optional(Type.Boolean({ description: 'true: only count the items; nothing changes' })),
  after: Type.Optional(
    Type.String({
      pattern: cursorPattern,
      title: 'the `next` of the previous answer',
      description: 'The `next` of the previous answer.',
    }),
  ),
  ...actNote,
})
const failed = {
  seq: whole('The number of the message'),
  lane: Type.String(),
  id: nullable(text('activity.id')),
  activity: nullable(text('activity_id')),
  action: nullable(text('action_id')),
  user: nullable(Type.String()),
  key: text('The message key: unique in its lane'),
  text: text('The request element that was enqueued'),
  reason: Type.String(),
  error: Type.String(),
  rule: text('The reason for the outcome'),
  answer: nullable(Type.String()),
  call: nullable(Type.String()),
  attempts: whole('The number of attempts since it was enqueued or replayed'),
  at: moment('The time of the failure'),
  state: Type.Enum([...failedStates]),
  replays: whole('How often it was replayed'),
  decided_by: nullable(text('The name of the key that dismissed or replayed it last; kept if it fails again')),
  decided_at: nullable(moment('The time of that decision')),
}

const Group = Type.Object({
  lane: Type.String(),
  activity: nullable(text('activity_id')),
  action: nullable(text('action_id')),
  reason: Type.String(),
  pending: whole(),
  dismissed: whole(),
  replayed: whole('Replayed, and not failed again'),
})

const Decided = Type.Object({
  count: whole('The number of items that were changed, or that would be changed'),
  groups: Type.Optional(Type.Array(Group, { description: 'The items of a preview' })),
  next: Type.Optional(text('There may be more items: send the request again with this as `after`')),
})

export function failedRoutes(queue: FailedActions) {
  return {
    list: adminRoute({
      says: 'Lists Failed Actions: failed items with their decisions (§6.4).',
      query: closedObject({
        ...FailedQuery.properties,
        limit: Type.Optional(limitOf(maxListed)),
        after: Type.Optional(whole('The `next` of the previous page.')),
      }),
      gives: Type.Object({
        items: Type.Array(Type.Object(failed)),
        next: Type.Optional(whole('There may be more items, even if this page is short or empty')),
      }),
      async handler(request, key) {
        const { after = 0, limit = 100, ...given } = request.query
        demandLane(given, key)
        const { items, next } = await queue.listFailed(readFilter(given), { after, limit })
        return { items: items.filter((item) => isLaneVisible(key, item.lane)).map(shownFailed), next }
      },
    }),
    summarize: adminRoute({
      says: 'Counts Failed Actions by lane, activity, action, reason and state.',
      query: FailedGroups,
      gives: Type.Object({
        groups: Type.Array(Group, { description: `Sorted; at most ${maxGroups}` }),
        omitted: whole('The number of further groups: use a filter'),
      }),
      async handler({ query }, key) {
        const groups = (await queue.summarizeFailed(query)).filter(({ lane }) => isLaneVisible(key, lane))
        return { groups: groups.slice(0, maxGroups), omitted: Math.max(0, groups.length - maxGroups) }
      },
    }),
    exportList: adminRoute({
      says: 'Returns Failed Actions as a file, without the texts of the messages.',
      query: FailedQuery,
      files: textOf('text/csv', 'A header line, then one failed item per line'),
      async handler({ query }, key, reply) {
        demandLane(query, key)
        return sendCsv(reply, 'failed-actions', failedColumns, readAllFailed(queue, readFilter(query)))
      },
    }),
    show: adminRoute({
      says: 'Shows one failed item with all its attempts and identifiers.',
      params: Type.Object({ seq: whole('The number of the message.') }),
      gives: Type.Object({
        ...failed,
        history: Type.Array(ShownAttempt, {
          description: 'Every unsuccessful attempt, oldest first; of many, the first 20 and the last 20',
        }),
        identifiers: ShownIdentifiers,
      }),
      refuses: { 404: 'There is no such failed item, or this key may not see it.' },
      async handler({ params: { seq } }, key) {
        const found = await queue.findFailed(seq)
        if (!found || !isLaneVisible(key, found.lane))
          throw new HttpError(404, `there is no failed item ${seq}: GET /admin/failed lists them`)
        key.audit.note({ brand: brandOf(found.lane), lane: found.lane, user: found.user ?? undefined })
        const { history, identifiers, ...item } = found
        return {
          ...shownFailed(item),
          history: history.map(shownAttempt),
          identifiers: shownIdentifiers(identifiers),
        }
      },
    }),
    dismiss: adminRoute({
      says: 'Dismisses the matching failed items and returns their number.',
      body: Dismissal,
      gives: Decided,
      handler: ({ body }, key) => decide('dismiss', body, key),
    }),
    replay: adminRoute({
      says: 'Replays the matching failed items and returns their number.',
      body: closedObject({ ...Dismissal.properties, ...ReplayRate.properties }),
      gives: Decided,
      handler: ({ body }, key) => decide('replay', body, key),
    }),
  }

  async function decide(
    action: 'dismiss' | 'replay',
    { preview = false, after, note: _, per_second: perSecond, ...body }: Selection,
    key: AdminCaller,
  ): Promise<DecidedItems & { readonly groups?: readonly FailedGroup[] }> {
    const given = filterOrAll(body, [...Object.keys(failedFilter), 'seqs'])
    demandLane(given, key)
    const items = readFilter(given)
    if (preview) return queue.previewFailed(items, action, after)
    return queue.decideFailed(items, action, {
      by: key.name,
      also: (count) => key.audit.ops({ count }),
      ...present({ after, perSecond }),
    })
  }
}

type Selection = Static<typeof Dismissal> & Static<typeof ReplayRate>
type GivenFilter = Static<typeof FailedQuery> | Omit<Selection, 'all'>

function readFilter({ from = '', until = '', error: contains, seqs, ...rest }: GivenFilter): FailedFilter {
  const numbers = typeof seqs === 'string' ? seqs.split(',').map(Number) : seqs
  return { ...rest, ...present({ since: readMoment(from), until: readMoment(until), contains, seqs: numbers }) }
}

function shownFailed({ decidedBy, decidedAt, ...item }: FailedItem) {
  return {
    ...item,
    id: readMessageParts(item.key)?.id ?? null,
    decided_by: decidedBy,
    decided_at: decidedAt,
  }
}

function demandLane({ lane }: GivenFilter, key: AccessKey): void {
  if (key.brands && !(lane !== undefined && isLaneVisible(key, lane)))
    throw new HttpError(403, `the key ${key.name} is bound to brands: name one of its lanes in the filter`)
}
