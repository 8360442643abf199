// What `bellwire reconcile` prints. Pure.

import { type Direction, severityOf, worstDirection } from '../../platform/reconcile/severity.ts'
import type { ShownRun } from '../../platform/reconcile/shown-run.ts'

export interface Sampled {
  readonly user_id: string
  readonly direction: Direction
  readonly severity: string
}

/** What `--json` prints. */
export interface Report {
  readonly run: ShownRun
  /** The first of the findings, the worst first. */
  readonly sample: readonly Sampled[]
}

/** The report for a person. */
export function phraseReport({ run, sample }: Report): string {
  const { brand, field, refused, state } = run
  const title = `brand ${brand}, ${field}`
  if (state === 'no_source')
    return `${title}: not compared. The operator has no source for this field (it answered 501).`
  if (refused) {
    const { why, particulars, remedy } = refused
    return `${title}: not compared, the answer was refused (${why})\n  ${particulars}\n  ${remedy}`
  }
  return [...findings(title, run, sample), ...toDo(run)].join('\n')
}

function findings(title: string, run: ShownRun, sample: readonly Sampled[]): string[] {
  const { field, discrepancies, data_at, crm_users, ids } = run
  if (!discrepancies) return [`${title}: ${run.state}`]
  const total = discrepancies.operator_only + discrepancies.crm_only
  const worst = worstDirection(field)
  const ways: readonly Direction[] = worst === 'operator_only' ? [worst, 'crm_only'] : [worst, 'operator_only']
  const found = ways.flatMap((direction) => {
    if (discrepancies[direction] === 0) return []
    const shown = sample.filter((each) => each.direction === direction).map(({ user_id }) => JSON.stringify(user_id))
    const more = discrepancies[direction] > shown.length ? ', …' : ''
    return [
      row(severityOf(field, direction), discrepancies[direction], says(field, direction)),
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
            'changed in the CRM just before or after that: the next run judges them',
          ),
        ]
      : []),
    `  ${(ms / 1000).toFixed(1)} s, ${number(run.ids_per_second ?? 0)} ids/s, at most ${Math.round(run.memory_bytes / 2 ** 20)} MB in the platform`,
  ]
}

function toDo({ field, run, discrepancies }: ShownRun): string[] {
  if (!discrepancies || discrepancies.operator_only + discrepancies.crm_only === 0) return []
  const path = `/admin/reconciliations/${run}`
  const worst = worstDirection(field)
  return [
    '',
    'What to do',
    `  all of them     GET ${path}/export?format=csv`,
    '  find the cause  what should have told the CRM of these changes did not: mend that first',
    ...(discrepancies[worst] > 0
      ? [
          `  correct         POST ${path}/correct {"what": "tighten"}: ${sets(field)} for ${number(discrepancies[worst])} in the CRM`,
        ]
      : []),
    `  done            POST ${path}/acknowledge`,
  ]
}

function says(field: ShownRun['field'], direction: Direction): string {
  const [yes, no] = direction === 'operator_only' ? ['the operator', 'the CRM'] : ['the CRM', 'the operator']
  switch (severityOf(field, direction)) {
    case 'critical':
      return `${field} says ${yes}, not ${no}: the CRM goes on messaging them`
    case 'high':
      return `${field} says ${yes}, not ${no}: the CRM counts on what is not there`
    case 'low':
      return `${field} says ${yes}, not ${no}: they may be left out without need`
  }
}

const sets = (field: ShownRun['field']): string => `${field} = ${worstDirection(field) === 'operator_only'}`

function row(name: string, value: number, more: string): string {
  return `  ${name.padEnd(10)} ${number(value).padStart(11)}  ${more}`
}

function number(value: number): string {
  return value.toLocaleString('en')
}
