import { Type } from 'typebox'
import { nullable, text, whole } from '../../../contract/documents/described.ts'
import { canStoreUserId } from '../../../subjects/reconcile/crm/read-line.ts'
import type { Discrepancy } from '../../../subjects/reconcile/discrepancies.ts'

export const ShownDiscrepancy = Type.Object({
  n: whole('Increasing, with gaps; the worse direction comes first'),
  user_id: Type.String(),
  field: Type.String(),
  direction: Type.Enum(['operator_only', 'crm_only']),
  severity: Type.Enum(['critical', 'high', 'low']),
  crm_changed_at: nullable(Type.String({ format: 'date-time', description: 'null: the CRM had no value' })),
  correction: nullable(text('The correction that changed the value')),
  note: nullable(text('The reason why the CRM cannot take the correction')),
})

/** A discrepancy in the format of /admin. */
export function shownDiscrepancy({ n, field, user_id, direction, severity, crm_at, correction }: Discrepancy) {
  return {
    n,
    user_id,
    field,
    direction,
    severity,
    crm_changed_at: crm_at === null ? null : new Date(crm_at).toISOString(),
    correction,
    note: canStoreUserId(user_id) ? null : unstorableUserId,
  }
}

/** Such a discrepancy would appear in every run. */
const unstorableUserId =
  'the CRM cannot store this id (at most 255 characters, no control characters): correct the id at the operator'
