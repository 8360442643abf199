// Do the lists agree? The runs of reconciliation, the discrepancies by severity, and their correction.

import { HttpError } from '../../../base/http/http-error.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { reconciliationFields } from '../../../contract/records.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import {
  badge,
  buttons,
  crumb,
  duration,
  empty,
  facts,
  figures,
  filterForm,
  type Html,
  html,
  input,
  moment,
  number,
  select,
  table,
} from '../html.ts'
import type { AnyRouteName, Page, Visit } from '../page.ts'
import { offers } from './act-fields.ts'

export type Run = AnswerOf<'platform', 'GET /admin/reconciliations/:run'>
type Listed = AnswerOf<'platform', 'GET /admin/reconciliations'>['runs'][number]
type Discrepancy = AnswerOf<'platform', 'GET /admin/reconciliations/:run/discrepancies'>['discrepancies'][number]
type Field = Listed['field']

const mostRuns = 100
const mostUsers = 200

export const fields = reconciliationFields.map((each) => [each, each] as const)

export const reconciliationPage: Page = {
  path: '/reconciliation',
  title: 'Reconciliation',
  needs: 'GET /admin/reconciliations',
  letter: 'r',
  still({ query, link }) {
    const parts = [
      input('Brand', 'brand', query.brand, html`inputmode="numeric"`),
      select('Field', 'field', [['', 'any'], ...fields], query.field),
    ]
    return html`<h1>Reconciliation</h1>!${filterForm(link('/reconciliation'), parts)}`
  },
  async live(visit) {
    const { brand, field, after } = visit.query
    const query = { brand, field: field as Field, after, limit: mostRuns }
    const { runs, next } = await visit.call('GET /admin/reconciliations', { query })
    const latest = [...Map.groupBy(runs, (run) => `${run.brand} ${run.field}`).values()].map(
      ([newest, ...older]) => (newest?.ended_at === null ? older.find(isDone) : newest) ?? (newest as Listed),
    )
    const to = visit.link('/reconciliation/start', { brand, field })
    const start = offers(visit, [['POST /admin/reconciliations', to, 'Compare lists']])
    if (runs.length === 0)
      return html`!${empty('No run matches. A run compares the list of an operator with the CRM.')}!${start}`
    return html`!${after === undefined ? html`<h2>Latest comparison of each list</h2>!${latestTable(visit, latest.toSorted(byHarm))}!${next === null ? '' : html`<p class="lead">A list without a run among the newest ${mostRuns} is not here: filter by its brand or field.</p>`}!${start}` : ''}
<h2>Runs</h2>!${runTable(visit, runs)}
!${next === null ? '' : buttons([[visit.link('/reconciliation', { brand, field, after: next }), 'Older runs']])}`
  },
}

const isDone = ({ state }: Listed): boolean => state === 'done'

/** The worst first. A run without a result may hide anything. */
function byHarm(a: Listed, b: Listed): number {
  const of = ({ discrepancies: found }: Listed) => [
    found?.critical ?? 0,
    found ? 0 : 1,
    found?.high ?? 0,
    found?.low ?? 0,
  ]
  const [ofA, ofB] = [of(a), of(b)]
  const i = ofA.findIndex((count, at) => count !== ofB[at])
  return i < 0 ? 0 : (ofB[i] as number) - (ofA[i] as number)
}

const severe = (count: number | undefined, tone: string): Html =>
  count === undefined
    ? html`<td class="number">–</td>`
    : html`<td class="number ${count > 0 ? tone : 'muted'}">${number(count)}</td>`

function latestTable(visit: Visit, runs: readonly Listed[]): Html {
  const rows = runs.map((run) => {
    const { brand, field, discrepancies: found } = run
    return html`<tr id="latest-${run.run}"><th scope="row"><a href="${visit.link('/reconciliation/run', { run: run.run })}">${field}</a></th><td>${brand}</td><td>!${badge(run.state)}</td>!${severe(found?.critical, 'bad')}!${severe(found?.high, 'warn')}!${severe(found?.low, '')}<td class="number">${number(run.ids)}</td><td>!${run.data_at === null ? '–' : moment(run.data_at)}</td><td class="wide">!${noteOf(run)}</td></tr>`
  })
  const columns = ['Field', 'Brand', 'State', '#Critical', '#High', '#Low', '#Operator’s users', 'As of', 'Note']
  return table('Latest comparison of each list', columns, rows)
}

function noteOf({ refused, acknowledged }: Listed): Html {
  if (refused) return html`${refused.why}: ${refused.detail}`
  return acknowledged ? html`acknowledged by ${acknowledged.by}` : ''
}

function runTable(visit: Visit, runs: readonly Listed[]): Html {
  const rows = runs.map((run) => {
    const { discrepancies: found } = run
    const sum = found ? found.critical + found.high + found.low : undefined
    return html`<tr id="run-${run.run}"><th scope="row"><a href="${visit.link('/reconciliation/run', { run: run.run })}">!${moment(run.requested_at)}</a></th><td>${run.brand}</td><td>${run.field}</td><td>!${badge(run.state)}</td><td class="number">${sum === undefined ? '–' : number(sum)}</td><td class="number">${number(run.ids)}</td><td>${run.requested_by}</td><td class="wide">!${noteOf(run)}</td></tr>`
  })
  const columns = ['Requested', 'Brand', 'Field', 'State', '#Discrepancies', '#Operator’s users', 'By', 'Note']
  return table('Runs', columns, rows)
}

export const runPage: Page = {
  path: '/reconciliation/run',
  title: 'Run of reconciliation',
  needs: 'GET /admin/reconciliations/:run',
  within: '/reconciliation',
  async live(visit) {
    const run = await readRun(visit)
    const { brand, field, state, discrepancies: found, refused, ended_at: ended, started_at: started } = run
    const ms = started === null || ended === null ? undefined : Date.parse(ended) - Date.parse(started)
    return html`!${crumb(visit.link('/reconciliation'), 'Reconciliation')}<h1>${field} of brand ${brand} !${badge(state)}</h1>
!${refused === null ? '' : html`<p class="note bad">The answer of the operator was refused: ${refused.why}. ${refused.detail}<br>${refused.remedy}</p>`}
!${
      found === null
        ? ''
        : figures([
            ['Critical', number(found.critical), found.critical > 0 ? 'bad' : ''],
            ['High', number(found.high), found.high > 0 ? 'warn' : ''],
            ['Low', number(found.low)],
            ['Too recent', number(found.too_recent)],
            ['Operator’s users', number(run.ids)],
            ['CRM’s users', run.crm_users === null ? '–' : number(run.crm_users)],
          ])
    }
!${actsOf(visit, run)}
!${facts([
      ['Requested', html`!${moment(run.requested_at)} by ${run.requested_by}`],
      ...(run.data_at === null ? [] : [['Operator’s data as of', moment(run.data_at)] as const]),
      ...(ms === undefined ? [] : [['Took', html`${duration(ms)}, ${number(run.ids_per_second ?? 0)} ids/s`] as const]),
      ...(run.acknowledged === null
        ? []
        : [['Acknowledged', html`!${moment(run.acknowledged.at)} by ${run.acknowledged.by}`] as const]),
    ])}
!${found === null ? '' : html`<h2>Meaning</h2>!${facts(meaningOf(field, found))}`}
!${run.corrections.length === 0 ? '' : html`<h2>Corrections</h2>!${correctionTable(run)}`}`
  },
}

/** @throws HttpError 404 if there is no such run, or the key may not see it */
export async function readRun(visit: Visit): Promise<Run> {
  const { run } = visit.query
  if (run === undefined) throw new HttpError(404, 'there is no such run')
  return visit.call('GET /admin/reconciliations/:run', { params: { run } })
}

function meaningOf(field: Field, found: NonNullable<Run['discrepancies']>): readonly (readonly [string, Html])[] {
  return [
    [
      `Only the operator says ${field}`,
      html`${phraseCount(found.operator_only, 'user')}: ${isProhibition(field) ? 'the CRM still messages them' : 'the CRM may leave them out without need'}`,
    ],
    [
      `Only the CRM says ${field}`,
      html`${phraseCount(found.crm_only, 'user')}: ${isProhibition(field) ? 'the CRM may leave them out without need' : 'the CRM may message them wrongly'}`,
    ],
    [
      'Too recent',
      html`${phraseCount(found.too_recent, 'user')}: changed in the CRM shortly before or after the list; the next run compares them`,
    ],
  ]
}

export const isProhibition = (field: Field): boolean => field === 'blocked' || field === 'excluded'

/** The acts that this key may do with this run. To end a block or an exclusion needs the scope lift. */
function actsOf(visit: Visit, { run, field, state, discrepancies: found, acknowledged }: Run): Html {
  const act = (needs: AnyRouteName, path: string, says: string, more = {}) =>
    [needs, visit.link(path, { run, ...more }), says] as const
  const correct = 'POST /admin/reconciliations/:run/correct'
  const isWrong = state === 'done' && found !== null && found.operator_only + found.crm_only > 0
  const loosens = isWrong && (!isProhibition(field) || visit.key.scopes.includes('lift'))
  return offers(visit, [
    ...(isWrong ? [act('GET /admin/reconciliations/:run/discrepancies', '/reconciliation/users', 'List users')] : []),
    ...(isWrong ? [act(correct, '/reconciliation/correct', 'Tighten', { what: 'tighten' })] : []),
    ...(loosens ? [act(correct, '/reconciliation/correct', 'Loosen', { what: 'loosen' })] : []),
    ...(state === 'done' && acknowledged === null
      ? [act('POST /admin/reconciliations/:run/acknowledge', '/reconciliation/acknowledge', 'Acknowledge')]
      : []),
  ])
}

function correctionTable({ corrections }: Run): Html {
  const rows = corrections.map(
    ({ what, at, by, applied, skipped }) =>
      html`<tr><th scope="row">${what}</th><td>!${moment(at)}</td><td>${by}</td><td class="number">${applied === null ? 'interrupted' : number(applied)}</td><td class="number">${skipped === null ? '–' : number(skipped)}</td></tr>`,
  )
  return table('Corrections', ['Correction', 'Time', 'By', '#Changed', '#Changed since the run'], rows)
}

export const discrepanciesPage: Page = {
  path: '/reconciliation/users',
  title: 'Discrepancies',
  needs: 'GET /admin/reconciliations/:run/discrepancies',
  within: '/reconciliation',
  async still(visit) {
    const { run = '', after = '0' } = visit.query
    const query = { limit: mostUsers, after: Number(after) }
    const [{ brand, field }, { discrepancies, next }] = await Promise.all([
      readRun(visit),
      visit.call('GET /admin/reconciliations/:run/discrepancies', { params: { run }, query }),
    ])
    const rows = discrepancies.map((each) => rowOf(visit, brand, each))
    return html`!${crumb(visit.link('/reconciliation/run', { run }), 'Run')}<h1>Discrepancies of ${field}, brand ${brand}</h1>
<p class="lead">The worse direction comes first.</p>
!${rows.length === 0 ? empty('There are no further discrepancies.') : table('Discrepancies', ['User', 'Severity', 'Only at the', 'CRM changed', 'Corrected', 'Note'], rows)}
!${next === null ? '' : buttons([[visit.link('/reconciliation/users', { run, after: next }), 'Next page']])}`
  },
}

const rowOf = (
  visit: Visit,
  brand: string,
  { user_id: user, severity, direction, crm_changed_at: at, correction, note }: Discrepancy,
): Html =>
  html`<tr><th scope="row"><a href="${visit.link('/person', { brand, user })}"><bdi>${user}</bdi></a></th><td>!${badge(severity)}</td><td>${direction === 'operator_only' ? 'operator' : 'CRM'}</td><td>!${at === null ? '–' : moment(at)}</td><td>${correction === null ? '–' : 'yes'}</td><td class="wide">${note ?? ''}</td></tr>`
