// §2 as schemas, for the API documents, for clients in other languages and for TypeScript types. Additional properties are always
// allowed (row 3). Requests are not validated with these schemas, because JSON.parse rounds integers; see read-item.ts.

import { type Static, type TSchema, Type } from 'typebox'
import { mostId, mostText } from './ids.ts'

// There is no `maximum`, because 2^63 - 1 is not an exact JavaScript number; int64 implies it, and the reader enforces it (row 1).
const integer = (description: string) => Type.Integer({ minimum: 0, format: 'int64', description })
const open = { additionalProperties: true } as const
// The interface lists all seven fields; four of them may be missing or null (row 33).
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

/** §2.1: the object named `activity`. */
export const ActivityFields = Type.Object(
  {
    id: Type.Union([
      integer('Unique identifier of the notification'),
      Type.String({ minLength: 1, maxLength: mostId }),
    ]),
    brand_id: integer('Unique identifier of the brand on the platform'),
    user_id: Type.String({ minLength: 1, maxLength: mostText, description: 'Unique identifier of the player' }),
    activity_id: optional(integer('Unique identifier of the activity set up in the platform')),
    action_group_id: optional(integer('Unique identifier of the action group')),
    trigger_hash: optional(Type.String({ maxLength: mostText, description: 'Trigger hash' })),
    action_id: optional(integer('Unique identifier of the individual action')),
  },
  open,
)
export type ActivityFields = Static<typeof ActivityFields>

/** §2.1: the body of a single request, and each element of a batch. Content and target are siblings of `activity` (row 4). */
export const ActivityRequest = Type.Object({ activity: ActivityFields }, { $id: 'ActivityRequest', ...open })
export type ActivityRequest = Static<typeof ActivityRequest>

export const BatchRequest = Type.Array(ActivityRequest, { $id: 'BatchRequest' })
export type BatchRequest = Static<typeof BatchRequest>

/** §2.2. */
export const PushSuccess = Type.Object({ push_id: Type.String() }, { $id: 'PushSuccess', ...open })
export type PushSuccess = Static<typeof PushSuccess>
export const SiteSuccess = Type.Object({ site_notification_id: Type.String() }, { $id: 'SiteSuccess', ...open })
export type SiteSuccess = Static<typeof SiteSuccess>

/** §2.3; all our other error bodies use it too (rows 12, 14, 16, 19). */
export const ErrorRecord = Type.Object({ error: Type.String() }, { $id: 'ErrorRecord', ...open })
export type ErrorRecord = Static<typeof ErrorRecord>

const identifiers = { push_id: Type.Optional(Type.String()), site_notification_id: Type.Optional(Type.String()) }

/** §2.4: an item of `successful`. `id` echoes the value of activity.id, so it can have any type (rows 2 and 27). */
export const ReportedMessage = Type.Object({ id: Type.Unknown(), ...identifiers }, open)
export type ReportedMessage = Static<typeof ReportedMessage>

/** Row 11: an item of `failed` or `fatal`. `service`: the push service that a fatal message waits for (row 59). */
export const RefusedMessage = Type.Object(
  { id: Type.Unknown(), ...identifiers, error: Type.String(), service: Type.Optional(Type.String()) },
  open,
)
export type RefusedMessage = Static<typeof RefusedMessage>

/** §2.4. Our answers always contain all three arrays; a reader must accept an answer with any one of them. */
export const BatchResponse = Type.Object(
  { successful: Type.Array(ReportedMessage), failed: Type.Array(RefusedMessage), fatal: Type.Array(RefusedMessage) },
  { $id: 'BatchResponse', ...open },
)
export type BatchResponse = Static<typeof BatchResponse>

/** §2.5: the user attributes that can be reconciled. */
export const reconciliationFields = [
  'blocked',
  'excluded',
  'active',
  'consent_email',
  'consent_sms',
  'consent_telephone',
  'consent_post_mail',
  'consent_site_notification',
  'consent_push_notification',
] as const
export type ReconciliationField = (typeof reconciliationFields)[number]

export const ReconciliationRequest = Type.Object(
  { field: Type.Enum([...reconciliationFields]) },
  { $id: 'ReconciliationRequest', ...open },
)
export type ReconciliationRequest = Static<typeof ReconciliationRequest>

/** §2.5. */
export const ReconciliationResponse = Type.Object(
  { users: Type.Array(Type.String()), timestamp: Type.String({ format: 'date-time' }) },
  { $id: 'ReconciliationResponse', ...open },
)
export type ReconciliationResponse = Static<typeof ReconciliationResponse>

/** §7.3 and row 17: an error after the status 200 was sent. All users in the answer must be discarded. */
export const ReconciliationError = Type.Object(
  { error: Type.String(), users: Type.Optional(Type.Array(Type.String())) },
  { $id: 'ReconciliationError', ...open },
)
export type ReconciliationError = Static<typeof ReconciliationError>
