import { Type } from 'typebox'
import { nullable, whole } from '../contract/documents/described.ts'
import { isKept } from './crm/read-line.ts'
import type { Discrepancy } from './discrepancies.ts'

export const ShownDiscrepancy = Type.Object({
  n: whole('Increasing, the worst first; with gaps'),
  user_id: Type.String(),
  field: Type.String(),
  direction: Type.Enum(['operator_only', 'crm_only']),
  severity: Type.Enum(['critical', 'high', 'low']),
  crm_changed_at: nullable(Type.String({ format: 'date-time', description: 'null: it never had a value' })),
  correction: nullable(Type.String({ description: 'The one that settled it' })),
  note: nullable(Type.String({ description: 'Why it cannot be corrected in the CRM' })),
})

/** As /admin shows it. */
export function shownDiscrepancy({ n, field, user_id, direction, severity, crm_at, correction }: Discrepancy) {
  return {
    n,
    user_id,
    field,
    direction,
    severity,
    crm_changed_at: crm_at === null ? null : new Date(crm_at).toISOString(),
    correction,
    note: isKept(user_id) ? null : noUser,
  }
}

/** Such a finding would come back in every run. */
const noUser =
  'the CRM takes no such id (at most 255 characters, none of them a control character): correct the id at the operator'

type Pages = AsyncIterable<readonly Discrepancy[]>

export async function* exportNdjson(pages: Pages): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((each) => `${JSON.stringify(shownDiscrepancy(each))}\n`).join('')
}

const columns = ['user_id', 'field', 'direction', 'severity', 'crm_changed_at', 'correction', 'note'] as const

export async function* exportCsv(pages: Pages): AsyncGenerator<string> {
  yield `${columns.join(',')}\n`
  for await (const page of pages) {
    yield page
      .map(shownDiscrepancy)
      .map((each) => `${columns.map((column) => cell(each[column] ?? '')).join(',')}\n`)
      .join('')
  }
}

/** Spreadsheets take what begins with one of =+-@ for a formula: an id from a stranger must not become one. */
function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
