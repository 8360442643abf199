import type { ReconciliationField as Field } from '../../contract/records.ts'

/** The side for which alone the field is true. */
export type Direction = 'operator_only' | 'crm_only'

/**
 * critical: the CRM sends messages to a user who must not get any. high: the CRM wrongly considers a user reachable or consenting.
 * low: the CRM leaves out a user without need.
 */
export type Severity = 'critical' | 'high' | 'low'

/**
 * The severity of a discrepancy.
 *
 * @example severityOf('blocked', 'operator_only') // 'critical': the operator blocked the user, the CRM did not
 */
export function severityOf(field: Field, direction: Direction): Severity {
  switch (field) {
    case 'blocked':
    case 'excluded':
      return direction === 'operator_only' ? 'critical' : 'low'
    case 'active':
    case 'consent_email':
    case 'consent_sms':
    case 'consent_telephone':
    case 'consent_post_mail':
    case 'consent_site_notification':
    case 'consent_push_notification':
      return direction === 'crm_only' ? 'high' : 'low'
  }
}

/** The direction with the worse discrepancies. A correction of this direction tightens, of the other direction loosens. */
export function worstDirection(field: Field): Direction {
  return severityOf(field, 'operator_only') === 'low' ? 'crm_only' : 'operator_only'
}

/**
 * Whether a correction of this direction takes rights away (tighten) or gives them back (loosen).
 *
 * @example correctionKindOf('consent_sms', 'crm_only') // 'tighten': the consent is withdrawn
 */
export function correctionKindOf(field: Field, direction: Direction): 'tighten' | 'loosen' {
  return severityOf(field, direction) === 'low' ? 'loosen' : 'tighten'
}
