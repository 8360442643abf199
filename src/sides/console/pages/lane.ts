// What is this lane doing?

import { HttpError } from '../../../base/http/http-error.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import { crumb, duration, figures, type Html, html, moment, number, table } from '../html.ts'
import type { AnyRouteName, Page, Visit } from '../page.ts'
import { offers } from './act-fields.ts'
import { type Lane, type Pause, pauseOf, reasonsOf, stateOf } from './lane-facts.ts'

export const lanePage: Page = {
  path: '/lane',
  title: 'Lane',
  needs: 'GET /admin/lanes',
  within: '/lanes',
  async live(visit) {
    const [lane, cancellations] = await Promise.all([readLane(visit), readCancellations(visit)])
    const { name, waiting, oldest_age_ms: age, in_flight: inFlight, settings } = lane
    const reasons = reasonsOf({ ...lane, pauses: [] })
    return html`!${crumb(visit.link('/lanes'), 'Lanes')}<h1>Lane <bdi>${name}</bdi> !${stateOf(lane)}</h1>
!${reasons.length === 0 ? '' : html`<ul class="reasons">!${reasons.map((each) => html`<li>!${each}</li>`)}</ul>`}
!${lane.state === 'held' ? html`<p class="lead">Its messages wait, and none is lost. The lane tries again by itself, with the first message.</p>` : ''}
!${figures([
      ['Waiting', number(waiting)],
      ['Oldest message', waiting === 0 ? '–' : duration(age)],
      ['In calls', number(inFlight)],
      ['Rate', settings.per_second.value === null ? 'no limit' : `${number(settings.per_second.value)} / s`],
      ['Concurrency', number(settings.concurrency.value)],
      ['Batch', settings.mode.value === 'single' ? 'single' : `up to ${number(settings.max.value)}`],
    ])}
!${actsOf(visit, lane)}
!${pausesOf(visit, lane)}
!${settingsOf(lane)}
!${cancellationsOf(lane, cancellations)}`
  },
}

/** @throws HttpError 404 if there is no such lane, or the key may not see it */
export async function readLane(visit: Visit): Promise<Lane> {
  const { lanes } = await visit.call('GET /admin/lanes')
  const name = visit.query.name ?? visit.query.lane
  const lane = lanes.find((each) => each.name === name)
  if (lane) return lane
  throw new HttpError(
    404,
    `there is no ${name === undefined ? 'such lane' : `lane ${name}`}, or your key may not see it`,
  )
}

function actsOf(visit: Visit, { name, state, waiting, settings, pauses }: Lane): Html {
  const act = (needs: AnyRouteName, path: string, says: string) =>
    [needs, visit.link(path, { lane: name }), says] as const
  const isPaused = pauses.some(({ scope, ...part }) => scope === 'lane' && !part.activity && !part.action)
  const isChanged = Object.values(settings).some(({ override }) => override)
  return offers(visit, [
    ...(state === 'held' ? [act('POST /admin/lanes/resume', '/lanes/try', 'Try now')] : []),
    ...(isPaused ? [act('POST /admin/lanes/resume', '/lanes/resume', 'Resume')] : []),
    act('POST /admin/lanes/pause', '/lanes/pause', 'Pause'),
    act('POST /admin/lanes/settings', '/lanes/change', 'Change settings'),
    ...(isChanged ? [act('POST /admin/lanes/settings/reset', '/lanes/reset', 'Reset settings')] : []),
    ...(waiting > 0 ? [act('POST /admin/lanes/cancel', '/lanes/cancel', 'Cancel messages')] : []),
    act('GET /admin/failed', '/failed', 'Failed Actions'),
  ])
}

function pausesOf(visit: Visit, { name, pauses }: Lane): Html {
  if (pauses.length === 0) return ''
  const rows = pauses.map(
    (pause) =>
      html`<tr id="pause-${Object.values(partOf(pause)).join()}"><td class="wide">!${pauseOf(pause)}</td><td>!${resumeOf(visit, name, pause)}</td></tr>`,
  )
  return html`<h2>Pauses</h2>!${table('Pauses', ['Pause', ''], rows)}`
}

const partOf = ({ scope, activity = '', action = '' }: Pause) => ({ scope, activity, action })

function resumeOf(visit: Visit, lane: string, pause: Pause): Html {
  if (!visit.can('POST /admin/lanes/resume')) return ''
  const { scope, ...part } = partOf(pause)
  const of = scope === 'lane' ? { lane } : { brand: lane.split('/')[0] }
  return html`<a href="${visit.link('/lanes/resume', { ...of, ...part })}">Resume</a>`
}

export const settingNames = {
  mode: 'Mode',
  max: 'Most in a batch',
  span_ms: 'Span (ms)',
  concurrency: 'Concurrency',
  per_second: 'Messages per second',
} as const

function settingsOf({ settings }: Lane): Html {
  const shown = (value: string | number | null): string =>
    value === null ? 'no limit' : typeof value === 'number' ? number(value) : value
  const rows = Object.entries(settingNames).map(([name, says]) => {
    const { value, configured, override } = settings[name as keyof typeof settings]
    const changed = override
      ? html`${override.by} since !${moment(override.since)}!${override.until === undefined ? '' : html` until !${moment(override.until)}`}: ${override.reason}`
      : ''
    return html`<tr><th scope="row">${says}</th><td class="number">${shown(value)}</td><td class="number">${shown(configured)}</td><td class="wide">!${changed}</td></tr>`
  })
  return html`<h2>Settings</h2>!${table('Settings', ['Setting', '#In effect', '#Configured', 'Changed by'], rows)}`
}

type Cancellation = AnswerOf<'platform', 'GET /admin/lanes/cancellations'>['cancellations'][number]

async function readCancellations(visit: Visit): Promise<readonly Cancellation[]> {
  if (!visit.can('GET /admin/lanes/cancellations')) return []
  return (await visit.call('GET /admin/lanes/cancellations')).cancellations
}

function cancellationsOf({ name }: Lane, cancellations: readonly Cancellation[]): Html {
  const rows = cancellations
    .filter(({ lane }) => lane === name)
    .slice(0, 20)
    .map(({ activity, action, user, by, reason, at, cancelled, done_at: doneAt }) => {
      const parts = [
        ...(activity === undefined ? [] : [`activity ${activity}`]),
        ...(action === undefined ? [] : [`action ${action}`]),
        ...(user === undefined ? [] : [`user ${user}`]),
      ]
      return html`<tr><td>!${moment(at)}</td><td>${by}</td><td class="wide">${parts.join(', ') || 'all or by time'}: ${reason}</td><td class="number">${number(cancelled)}</td><td>${doneAt === undefined ? 'still working' : 'done'}</td></tr>`
    })
  if (rows.length === 0) return ''
  return html`<h2>Cancellations</h2>!${table('Cancellations', ['Time', 'By', 'Messages', '#Cancelled', 'Progress'], rows)}`
}
