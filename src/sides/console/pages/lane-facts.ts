// A lane, as several pages show it.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import { badge, duration, type Html, html, moment, number, table } from '../html.ts'
import type { Visit } from '../page.ts'

export type Lane = AnswerOf<'platform', 'GET /admin/lanes'>['lanes'][number]
export type Pause = Lane['pauses'][number]

/** The state of a lane, as a badge. */
export const stateOf = ({ state, pauses }: Pick<Lane, 'state' | 'pauses'>): Html =>
  badge(state === 'running' && pauses.length > 0 ? 'paused in part' : state)

/** A table with one row for each lane, and its reasons to wait under it. */
export function laneTable(visit: Visit, lanes: readonly Lane[]): Html {
  const rows = lanes.map((lane) => {
    const { name, waiting, oldest_age_ms: age, in_flight: inFlight, settings } = lane
    const reasons = reasonsOf(lane)
    return html`<tr id="lane-${name}">
<th scope="row"><a href="${visit.link('/lane', { name })}"><bdi>${name}</bdi></a></th>
<td>!${stateOf(lane)}</td>
<td class="number">${number(waiting)}</td>
<td class="number">${waiting === 0 ? '–' : duration(age)}</td>
<td class="number">${number(inFlight)}</td>
<td class="number">${settings.per_second.value === null ? 'no limit' : `${number(settings.per_second.value)} / s`}</td>
</tr>!${reasons.length === 0 ? '' : html`<tr class="why"><td colspan="6">!${reasons.join('<br>')}</td></tr>`}`
  })
  return table('Lanes', ['Lane', 'State', '#Waiting', '#Oldest', '#In calls', '#Rate'], rows)
}

/** Lanes in an unknown state. */
export const missingLanes = (names: readonly string[]): Html =>
  html`!${names.map((name) => html`<p class="note bad">The store of lane <bdi>${name}</bdi> does not answer now.</p>`)}`

/** Why messages of the lane wait: its hold, its pauses, its last error. */
export function reasonsOf(lane: Lane): readonly Html[] {
  const { held_reason: held, held_for_ms: heldMs, last_error: error, last_error_at: at } = lane
  return [
    ...(held === undefined ? [] : [html`held for ${duration(heldMs)}: ${held}!${nextTryOf(lane)}`]),
    ...lane.pauses.map(pauseOf),
    ...(error === undefined || error === held
      ? []
      : [html`last error!${at === undefined ? '' : html` !${moment(at)}`}: ${error}`]),
  ]
}

/** A lane without messages tries with the next one. */
const nextTryOf = ({ next_try_at: at, waiting }: Lane): Html =>
  at === undefined ? '' : html`; next try !${moment(at)}${waiting === 0 ? ' or later, with the next message' : ''}`

/** @example 'activity 7 of the lane is paused, 5 messages held back, by crm since …: wrong text' */
export function pauseOf({ scope, activity, action, held_back: items, by, reason, since, until }: Pause): Html {
  const part = activity !== undefined ? `activity ${activity}` : action !== undefined ? `action ${action}` : undefined
  const paused =
    part === undefined
      ? `the ${scope} is paused`
      : `${part} of the ${scope} is paused, ${phraseCount(items, 'message')} held back,`
  return html`${paused} by ${by} since !${moment(since)}!${until === undefined ? '' : html` until !${moment(until)}`}: ${reason}`
}
