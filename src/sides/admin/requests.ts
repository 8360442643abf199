// The members of requests to /admin that are also options of commands. This file loads no server, so that a command may load it.

import { type Static, type TSchema, Type } from 'typebox'
import { allScopes } from '../../base/http/access.ts'
import { failedStates } from '../../base/queue/failed/failed-state.ts'
import { network, time } from '../../base/runtime/kinds.ts'
import {
  brandInJson,
  brandNumber,
  closedObject,
  plainText,
  text,
  timeText,
  userId,
} from '../../contract/documents/described.ts'
import { channels } from '../../contract/endpoints.ts'
import { mostText } from '../../contract/ids.ts'
import { readMoment } from '../../contract/moment.ts'
import { reconciliationFields } from '../../contract/records.ts'
import { readTimestamp } from '../../contract/timestamp.ts'
import { reachedStages } from '../../subjects/conversions/stage.ts'

const longestReason = 500
const longestForSeconds = 366 * 24 * 3_600

export const laneName = Type.String({
  title: 'a name from GET /admin/lanes',
  examples: ['1/push'],
  description: 'One lane.',
})

/** The lanes of a request. */
export const target = {
  lane: Type.Optional(laneName),
  brand: Type.Optional(brandNumber('All lanes of the brand.')),
}

/** An activity_id, an action_id or a user_id. */
const partId = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: mostText, title: `a text of 1 to ${mostText} characters`, description }),
  )

const reasonTitle = `a text of 1 to ${longestReason} characters`

export const reasonText = Type.String({
  minLength: 1,
  maxLength: longestReason,
  title: reasonTitle,
  description: 'Why, for the next person. Shown with the name of the key.',
})

/** The reason of a request that may end a block or an exclusion. */
export const liftReason = Type.Optional(
  Type.String({ ...reasonText, description: 'Why. Required to end `blocked` or `excluded`, with the scope `lift`.' }),
)

const pausedPart = {
  activity: partId('Only the messages of this activity_id.'),
  action: partId('Only the messages of this action_id.'),
}

const note = {
  reason: reasonText,
  for_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: longestForSeconds,
      description: 'Ends the change automatically after this time. Default: it stays until a person ends it.',
    }),
  ),
}

/** The reason and the end of a change. */
export const Note = Type.Object(note)

/** Why a person acts, for the audit trail. */
export const actReason = { reason: Type.Optional(reasonText) }

/** The same beside a filter that has a `reason` of its own. */
export const actNote = { note: Type.Optional(reasonText) }

/**
 * The member of a request to a route that says why the person acts. In other routes, `reason` is a filter.
 *
 * @returns undefined if the route stores no reason
 */
export function reasonMemberOf({ body, query }: RouteSchemas): 'reason' | 'note' | undefined {
  const has = (schema: TSchema | undefined, name: string): boolean => membersOf(schema)[name]?.title === reasonTitle
  return (['note', 'reason'] as const).find((name) => has(body, name) || has(query, name))
}

/** The members that a schema declares, by their names. */
export function membersOf(schema: TSchema | undefined): Readonly<Record<string, { readonly title?: string }>> {
  const { properties = {} } = (schema ?? {}) as { readonly properties?: Readonly<Record<string, { title?: string }>> }
  return properties
}

export interface RouteSchemas {
  readonly params?: TSchema
  readonly body?: TSchema
  readonly query?: TSchema
}

/** The body of an act that needs no more than its path. It may be left out. */
export const ReasonBody = closedObject(actReason)

export const PauseBody = closedObject({ ...target, ...pausedPart, ...note })

export const ResumeBody = closedObject({
  ...target,
  ...pausedPart,
  now: Type.Optional(
    Type.Boolean({ description: 'Held lanes send their next message now, and do not wait for their next try.' }),
  ),
  ...actReason,
})

const count = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }))

export const LaneSettings = Type.Object(
  {
    mode: Type.Optional(Type.Enum(['single', 'batch'], { description: 'One message or a batch in a request.' })),
    max: count(1_000_000, 'The most messages in a batch.'),
    span_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_600_000,
        description: 'A batch is sent when its first message has waited this long.',
      }),
    ),
    concurrency: count(100_000, 'The most concurrent requests.'),
    per_second: count(10_000_000, 'The most messages per second.'),
  },
  { additionalProperties: false, minProperties: 1, description: 'The settings to change.' },
)

export const SettingsBody = closedObject({ lane: laneName, settings: LaneSettings, ...note })

/** The filter of waiting messages. */
export const waitingFilter = {
  activity: partId('The activity_id.'),
  action: partId('The action_id.'),
  user: partId('The user_id.'),
  from: Type.Optional(timeText(readMoment, 'Enqueued at this time or later.')),
  until: Type.Optional(timeText(readMoment, 'Enqueued before this time.')),
}

export const PermissionCheck = closedObject({ brand: brandNumber() })

export const PermissionExport = closedObject({
  brand: brandNumber(),
  from: timeText(readMoment, 'Arrived at this time or later.'),
  to: timeText(readMoment, 'Arrived before this time.'),
})

/** The selection of waiting messages. */
export const WaitingSelection = Type.Object({
  ...target,
  ...waitingFilter,
  all: Type.Optional(
    Type.Literal(true, { description: 'All waiting messages. Required if there is no other filter.' }),
  ),
})

const groupFilter = {
  lane: Type.Optional(text('The lane, such as 1/push. Required if the key is bound to brands.')),
  activity: Type.Optional(text('The activity_id.')),
  action: Type.Optional(text('The action_id.')),
  reason: Type.Optional(text('The reason, such as rejected.')),
  state: Type.Optional(Type.Enum([...failedStates], { description: 'The state.' })),
}

export const FailedGroups = closedObject(groupFilter)

/** The filter of Failed Actions. */
export const failedFilter = {
  ...groupFilter,
  user: Type.Optional(text('The user_id.')),
  from: Type.Optional(timeText(readMoment, 'Failed at this time or later.')),
  until: Type.Optional(timeText(readMoment, 'Failed before this time.')),
  error: Type.Optional(Type.String({ minLength: 1, description: 'A part of the error, with the same case.' })),
}

export const FailedQuery = closedObject({
  ...failedFilter,
  seqs: Type.Optional(
    Type.String({
      pattern: String.raw`^\d{1,15}(,\d{1,15})*$`,
      title: 'numbers of messages, separated by commas',
      examples: ['17,18'],
      description: 'Only these numbers, separated by commas.',
    }),
  ),
})

/** Why items are replayed or dismissed. */
export const DecisionNote = Type.Object(actNote)

export const ReplayRate = Type.Object({
  per_second: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'The most messages per second. Default: the rate of the lane, which is never exceeded.',
    }),
  ),
})

const id = (what: string) =>
  Type.Optional(
    Type.String({ pattern: '^[0-9]{1,19}$', title: 'a number of 1 to 19 digits', description: `Only this ${what}.` }),
  )

/** @returns epoch milliseconds; undefined for any text but a day */
export const readDay = (given: string): number | undefined => (given.length === 10 ? readMoment(given) : undefined)

const day = (description: string) =>
  Type.Optional(timeText(readDay, `${description} (UTC).`, { title: 'a day', examples: ['2026-01-31'] }))

const conversions = {
  brand: Type.Optional(brandNumber('Only this brand.')),
  channel: Type.Optional(Type.Enum([...channels], { description: 'Only this channel.' })),
  activity: id('activity_id'),
  action: id('action_id'),
  action_group: id('action_group_id'),
  since: day('The first day on which the messages were enqueued'),
  until: day('The last day on which the messages were enqueued'),
}

/** The selection of conversions. */
export const Selection = Type.Object(conversions)
export type Selection = Static<typeof Selection>

export const ConversionCounts = closedObject({
  by: Type.Optional(
    Type.Enum(['activity', 'action', 'action_group'], {
      description: 'The identifier that a group has in common. Default: activity.',
      default: 'activity',
    }),
  ),
  ...conversions,
})

export const ConversionList = closedObject({
  ...conversions,
  stage: Type.Optional(
    Type.Enum([...reachedStages], { description: 'Only conversions that reached this stage, or a later one.' }),
  ),
})

/** The filter of removed devices. */
export const RemovedDevices = Type.Object({
  user_id: Type.Optional(text('The id of the user.')),
  why: Type.Optional(text('The reason for the removal, exactly as it was recorded.')),
  since: Type.Optional(timeText(readTimestamp, 'Removed at or after this time.')),
  until: Type.Optional(timeText(readTimestamp, 'Removed at or before this time.')),
  restorable: Type.Optional(Type.Boolean({ description: 'true: only devices that can be restored.' })),
})

const person = { brand: brandInJson(), user_id: userId() }

/** The user whose rows an erasure would concern. */
export const PreviewedUser = closedObject(person)

/** The user whose data is erased. */
export const ErasedUser = closedObject({ ...person, ...actReason })

/** The user whose subscriber tokens are revoked. */
export const RevokedUser = closedObject({ brand: brandInJson(), user_id: userId() })

/** The filter of the audit trail. */
export const AuditQuery = Type.Object({
  act: Type.Optional(text('The act, such as failed.dismiss.')),
  by: Type.Optional(text('The name of the key.')),
  brand: Type.Optional(brandNumber('The number of the brand. Required if the key is bound to brands.')),
  user: Type.Optional(text('The id of the user.')),
  since: Type.Optional(timeText(readMoment, 'At this time or later.')),
  until: Type.Optional(timeText(readMoment, 'Before this time.')),
})

export const AuditVerification = Type.Object({
  expect: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}(,[0-9a-f]{64})*$',
      title: 'digests of 64 hexadecimal digits in lower case, separated by commas',
      description: 'Digests of earlier verifications, separated by commas.',
    }),
  ),
})

/** The request for a run of reconciliation. */
export const ReconciliationBody = Type.Object({
  brand: brandInJson(),
  field: Type.Enum([...reconciliationFields], { description: 'The field.' }),
  any_size: Type.Optional(Type.Boolean({ description: 'Accept a list that is implausibly small or large.' })),
  ...actReason,
})

/** The confirmation of the removals of a push service. */
export const RemovalConfirmation = Type.Object({
  service: Type.String({ title: 'the name of a push service, as GET /admin/devices/removals lists it' }),
  for_minutes: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 1_440,
      default: 60,
      description: 'The time in which dead devices are removed without counting. Default: 1 hour.',
    }),
  ),
  ...actReason,
})

/** The members of a new key that commands have as options, too. */
export const NewKey = closedObject({
  name: plainText(1, 100, 'The name of the key, for the log and the audit trail.'),
  scopes: Type.Array(Type.Enum([...allScopes]), {
    minItems: 1,
    uniqueItems: true,
    description: 'The scopes of the key. The key that adds it must have each of them.',
  }),
  brands: Type.Optional(
    Type.Array(brandInJson(), {
      minItems: 1,
      description: 'The brands of the key. Default: the brands of the key that adds it.',
    }),
  ),
  from: Type.Optional(
    Type.Array(
      Type.Refine(
        Type.String({ title: 'an address or a network', examples: ['10.0.0.0/8'] }),
        (given) => network({ help: '' }).parse(given, '') !== undefined,
      ),
      {
        minItems: 1,
        description: 'The addresses and networks from which the key is accepted. Default: as for the key that adds it.',
      },
    ),
  ),
  expires_at: Type.Optional(
    timeText(
      (given) => time({ help: '' }).parse(given, ''),
      'The key is refused from this time. Default: the expiry of the key that adds it.',
    ),
  ),
  ...actReason,
})

export const RevokedKey = closedObject({ name: text('The name of a key of the store.'), ...actReason })

const laneSettings = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

export const AddedLane = closedObject({
  settings: laneSettings('The settings of the lane, as in `platform.lanes[]`. They name no file.'),
  ...actReason,
})

export const ChangedLane = closedObject({
  lane: laneName,
  settings: laneSettings('The settings to change.'),
  ...actReason,
})

export const RemovedLane = closedObject({
  lane: laneName,
  waiting: Type.Optional(Type.Literal('keep', { description: 'Waiting messages stay. Required if there are any.' })),
  ...actReason,
})
