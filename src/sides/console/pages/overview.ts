// Is all well?

import { HttpError } from '../../../base/http/http-error.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import { duration, figures, type Html, html, moment, number, sentence } from '../html.ts'
import type { Page, Visit } from '../page.ts'
import { outcomes, type Span } from '../watch.ts'
import { type Lane, laneTable, missingLanes } from './lane-facts.ts'

export const overviewPage: Page = {
  path: '/',
  title: 'Overview',
  needs: 'GET /admin/summary',
  letter: 'o',
  async live(visit) {
    const [summary, { lanes, unavailable = [] }] = await Promise.all([
      readSummary(visit),
      visit.call('GET /admin/lanes'),
    ])
    const stopped = lanes.filter(({ state, pauses }) => state === 'held' || state === 'paused' || pauses.length > 0)
    // Alerts and curves are of all brands.
    const isWhole = visit.key.brands === undefined
    const alerts = isWhole ? visit.watch.alerts() : []
    return html`!${verdictOf(stopped, alerts.length, unavailable.length)}
!${missingLanes(unavailable)}
!${numbersOf(visit, summary, lanes)}
!${alerts.length === 0 ? '' : alertsOf(visit)}
!${stopped.length === 0 ? '' : html`<h2>Held and paused</h2>!${laneTable(visit, stopped)}`}
!${isWhole ? html`<h2>Outcomes</h2><div class="curves">!${curveOf(visit, 'hour')}!${curveOf(visit, 'day')}</div>` : ''}`
  },
}

function verdictOf(stopped: readonly Lane[], alerts: number, unknown: number): Html {
  const held = stopped.filter(({ state }) => state === 'held').length
  const paused = stopped.filter(({ state }) => state === 'paused').length
  const partly = stopped.length - held - paused
  const problems = [
    ...(unknown > 0 ? [`${unknown} ${unknown === 1 ? 'lane does' : 'lanes do'} not answer`] : []),
    ...(held > 0 ? [`${held} ${held === 1 ? 'lane is' : 'lanes are'} held`] : []),
    ...(paused > 0 ? [`${paused} ${paused === 1 ? 'lane is' : 'lanes are'} paused`] : []),
    ...(partly > 0 ? [`${partly} ${partly === 1 ? 'lane is' : 'lanes are'} paused in part`] : []),
    ...(alerts > 0 ? [`${alerts} ${alerts === 1 ? 'alert' : 'alerts'}`] : []),
  ]
  if (problems.length === 0)
    return html`<h1 class="verdict good" aria-live="polite">All is well</h1><p class="lead">No lane is held or paused, and there is no alert.</p>`
  return html`<h1 class="verdict bad" aria-live="polite">${problems.join(', ')}</h1>`
}

type Summary = AnswerOf<'operator' | 'platform', 'GET /admin/summary'>

/** Undefined: a store does not answer, and a part would look like the whole. */
async function readSummary(visit: Visit): Promise<Summary | undefined> {
  try {
    return await visit.call('GET /admin/summary')
  } catch (error) {
    if (error instanceof HttpError && error.status === 503) return undefined
    throw error
  }
}

function numbersOf(visit: Visit, summary: Summary | undefined, lanes: readonly Lane[]): Html {
  const failed = visit.side === 'platform' && visit.can('GET /admin/failed/summary') ? visit.link('/failed') : undefined
  const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0)
  const oldest = Math.max(0, ...lanes.filter((lane) => lane.waiting > 0).map((lane) => lane.oldest_age_ms))
  return figures([
    ['Waiting', number(waiting), '', visit.link('/lanes')],
    ['Oldest message', waiting === 0 ? '–' : duration(oldest)],
    ...(summary
      ? ([
          ['Successful', number(summary.successful), summary.successful > 0 ? 'good' : ''],
          ['Failed', number(summary.failed), summary.failed > 0 ? 'bad' : '', failed],
        ] as const)
      : []),
    ...(summary && 'fatal' in summary
      ? ([
          ['Fatal', number(summary.fatal), summary.fatal > 0 ? 'warn' : ''],
          ['In flight', number(summary.in_flight)],
          ['Uncertain', number(summary.uncertain)],
        ] as const)
      : ([['In calls', number(lanes.reduce((sum, lane) => sum + lane.in_flight, 0))]] as const)),
  ])
}

function alertsOf(visit: Visit): Html {
  const items = visit.watch
    .alerts()
    .map(
      ({ name, says, remedy, since, count }) =>
        html`<li><strong>${name}:</strong> ${says}!${count > 1 ? html` <span class="muted">(${number(count)} times)</span>` : ''}<br><span class="muted">since !${moment(since)}.</span> ${sentence(remedy)}</li>`,
    )
  return html`<h2>Alerts</h2><ul class="alerts">!${items}</ul>`
}

const titles: Record<Span, string> = { hour: 'Last hour, by minute', day: 'Last day, by ten minutes' }

/** The data of a curve, which the page's script draws, and the same as a table. */
function curveOf(visit: Visit, span: Span): Html {
  const { at, counts } = visit.watch.curve(span)
  const data = JSON.stringify([at, ...outcomes.map((outcome) => counts[outcome])])
  const rows = at.map(
    (end, i) =>
      html`<tr><th scope="row">!${moment(end * 1_000)}</th>!${outcomes.map((outcome) => html`<td class="number">${number(counts[outcome][i] ?? 0)}</td>`)}</tr>`,
  )
  return html`<figure class="curve" data-curve="${data}" data-names="${outcomes.join(' ')}">
<figcaption>${titles[span]} <span class="muted">(this process)</span></figcaption>
!${at.length < 2 ? html`<p class="muted">The curve begins when this process has run for ${span === 'hour' ? 'two' : 'twenty'} minutes.</p>` : ''}
<div class="plot" id="plot-${span}" aria-hidden="true" hx-morph-skip></div>
<details id="table-${span}"><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="${titles[span]}"><table><thead><tr><th scope="col">Until</th>!${outcomes.map((outcome) => html`<th scope="col" class="number">${outcome}</th>`)}</tr></thead><tbody>!${rows.reverse()}</tbody></table></div></details>
</figure>`
}
