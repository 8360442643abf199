// Formats the report of `bellwire reconcile`. Pure functions.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../../sides/admin/calls.ts'
import type { ShownRun } from '../../../sides/admin/shown/run.ts'
import { type Direction, severityOf, worstDirection } from '../../../subjects/reconcile/severity.ts'
import { number } from '../text-table.ts'

type Sample = AnswerOf<'platform', 'GET /admin/reconciliations/:run/discrepancies'>['discrepancies']

/** The output of `--json`. */
export interface Report {
  readonly run: ShownRun
  /** The first discrepancies, the worst first. */
  readonly sample: Sample
}

/** The report as text. */
export function phraseReport({ run, sample }: Report): string {
  const { brand, field, refused, state } = run
  const title = `brand ${brand}, ${field}`
  if (state === 'no_source')
    return `${title}: not compared. The operator has no source for this field (it answered 501).`
  if (refused) {
    const { why, detail, remedy } = refused
    return `${title}: not compared, the answer was refused (${why})\n  ${detail}\n  ${remedy}`
  }
  return [...phraseFindings(title, run, sample), ...phraseNextSteps(run)].join('\n')
}

function phraseFindings(title: string, run: ShownRun, sample: Sample): string[] {
  const { field, discrepancies, data_at, crm_users, ids } = run
  if (!discrepancies) return [`${title}: ${run.state}`]
  const total = discrepancies.operator_only + discrepancies.crm_only
  const worst = worstDirection(field)
  const directions: readonly Direction[] = worst === 'operator_only' ? [worst, 'crm_only'] : [worst, 'operator_only']
  const found = directions.flatMap((direction) => {
    if (discrepancies[direction] === 0) return []
    const shown = sample.filter((each) => each.direction === direction).map(({ user_id }) => JSON.stringify(user_id))
    const more = discrepancies[direction] > shown.length ? ', …' : ''
    return [
      row(severityOf(field, direction), discrepancies[direction], explain(field, direction)),
      ...(shown.length > 0 ? [`${' '.repeat(26)}${shown.join(', ')}${more}`] : []),
    ]
  })
  const ms = Date.parse(run.ended_at ?? '') - Date.parse(run.started_at ?? '')
  return [
    `${title}: ${total === 0 ? 'no discrepancies' : `${number(total)} discrepanc${total === 1 ? 'y' : 'ies'}`}`,
    row('operator', ids, `users, as of ${data_at}`),
    row('CRM', crm_users ?? 0, 'users'),
    ...found,
    ...(discrepancies.too_recent > 0
      ? [
          row(
            'too recent',
            discrepancies.too_recent,
            'changed in the CRM shortly before or after that time: the next run compares them',
          ),
        ]
      : []),
    `  ${(ms / 1000).toFixed(1)} s, ${number(run.ids_per_second ?? 0)} ids/s, at most ${Math.round(run.memory_bytes / 2 ** 20)} MB in the platform`,
  ]
}

function phraseNextSteps({ field, run, discrepancies }: ShownRun): string[] {
  if (!discrepancies || discrepancies.operator_only + discrepancies.crm_only === 0) return []
  const worst = worstDirection(field)
  return [
    '',
    'Next steps',
    `  export all      bellwire reconcile export ${run} --out discrepancies.csv`,
    '  find the cause  the CRM did not receive these changes: fix their source first',
    ...(discrepancies[worst] > 0
      ? [
          `  correct         bellwire reconcile correct ${run}: sets ${safeValue(field)} for ${phraseCount(discrepancies[worst], 'user')} in the CRM`,
        ]
      : []),
    `  acknowledge     bellwire reconcile acknowledge ${run}`,
  ]
}

function explain(field: ShownRun['field'], direction: Direction): string {
  const [yes, no] = direction === 'operator_only' ? ['the operator', 'the CRM'] : ['the CRM', 'the operator']
  switch (severityOf(field, direction)) {
    case 'critical':
      return `${field} at ${yes}, not at ${no}: the CRM still messages these users`
    case 'high':
      return `${field} at ${yes}, not at ${no}: the CRM relies on a wrong value`
    case 'low':
      return `${field} at ${yes}, not at ${no}: these users may miss messages`
  }
}

const safeValue = (field: ShownRun['field']): string => `${field} = ${worstDirection(field) === 'operator_only'}`

function row(name: string, value: number, more: string): string {
  return `  ${name.padEnd(10)} ${number(value).padStart(11)}  ${more}`
}
