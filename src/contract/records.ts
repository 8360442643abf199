// §2 as schemas: for the API documents, for clients in other languages, and as TypeScript types. Further properties are never
// forbidden (row 3). Requests are not read with these: JSON.parse rounds integers, the reader does not (read-item.ts).

import { type Static, type TSchema, Type } from 'typebox'
import { mostId, mostText } from './ids.ts'

// No `maximum`: 2^63 - 1 is no exact JavaScript number. int64 says the same, and the reader holds it exactly (row 1).
const integer = (description: string) => Type.Integer({ minimum: 0, format: 'int64', description })
const open = { additionalProperties: true } as const
// The interface lists all seven; these four may be missing or null (row 33).
const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

/** §2.1: the object named `activity`. */
export const ActivityFields = Type.Object(
  {
    id: Type.Union([
      integer('Unique identifier of the notification'),
      Type.String({ minLength: 1, maxLength: mostId }),
    ]),
    brand_id: integer('Unique identifier of the brand on the platform'),
    user_id: Type.String({ minLength: 1, maxLength: mostText, description: 'Unique identifier of the player' }),
    activity_id: maybe(integer('Unique identifier of the activity set up in the platform')),
    action_group_id: maybe(integer('Unique identifier of the action group')),
    trigger_hash: maybe(Type.String({ maxLength: mostText, description: 'Trigger hash' })),
    action_id: maybe(integer('Unique identifier of the individual action')),
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

/** §2.3, and every other error body of ours (rows 12, 14, 16, 19). */
export const ErrorRecord = Type.Object({ error: Type.String() }, { $id: 'ErrorRecord', ...open })
export type ErrorRecord = Static<typeof ErrorRecord>

const identifiers = { push_id: Type.Optional(Type.String()), site_notification_id: Type.Optional(Type.String()) }

/** §2.4: an item of `successful`. Whatever value stood at activity.id is echoed, so that its type is open (rows 2 and 27). */
export const ReportedMessage = Type.Object({ id: Type.Unknown(), ...identifiers }, open)
export type ReportedMessage = Static<typeof ReportedMessage>

/** Row 11: an item of `failed` or `fatal`. */
export const RefusedMessage = Type.Object({ id: Type.Unknown(), ...identifiers, error: Type.String() }, open)
export type RefusedMessage = Static<typeof RefusedMessage>

/** §2.4, as we answer it: all three are always there. A reader must make do with any one of them. */
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

export function isReconciliationField(value: unknown): value is ReconciliationField {
  return (reconciliationFields as readonly unknown[]).includes(value)
}

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

/** §7.3 and row 17: status 200 all the same; whatever users came before it are worth nothing. */
export const ReconciliationError = Type.Object(
  { error: Type.String(), users: Type.Optional(Type.Array(Type.String())) },
  { $id: 'ReconciliationError', ...open },
)
export type ReconciliationError = Static<typeof ReconciliationError>
