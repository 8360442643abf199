import type { ReconciliationField as Field } from '../contract/records.ts'

/** Who says that the field is true, alone. */
export type Direction = 'operator_only' | 'crm_only'

/**
 * critical: somebody who must not be messaged is messaged now. high: somebody is taken for reachable who is not. low: somebody
 * is left out who need not be.
 */
export type Severity = 'critical' | 'high' | 'low'

export const severities: readonly Severity[] = ['critical', 'high', 'low']

/**
 * How bad it is that the two disagree.
 *
 * @example severityOf('blocked', 'operator_only') // 'critical': the operator blocked the user, the CRM goes on
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

/** The direction to look at first: believing the operator there tightens, in the other one it loosens. */
export function worstDirection(field: Field): Direction {
  return severityOf(field, 'operator_only') === 'low' ? 'crm_only' : 'operator_only'
}

/**
 * What a correction in this direction does to whom the CRM may message.
 *
 * @example changeOf('consent_sms', 'crm_only') // 'tighten': the consent is withdrawn
 */
export function changeOf(field: Field, direction: Direction): 'tighten' | 'loosen' {
  return severityOf(field, direction) === 'low' ? 'loosen' : 'tighten'
}
