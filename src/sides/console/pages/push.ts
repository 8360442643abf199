// Do pushes arrive? The push services and providers, the removal of dead devices, and the device links of each brand.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf, SideName } from '../../admin/calls.ts'
import { badge, duration, empty, figures, type Html, html, moment, number, table } from '../html.ts'
import type { Act, Page, Visit } from '../page.ts'
import { actSelect, offers, reasonField, reasonOf } from './act-fields.ts'
import { type Lane, reasonsOf, stateOf } from './lane-facts.ts'

type Service = AnswerOf<SideName, 'GET /admin/services'>['services'][number]
type Paused = NonNullable<Service['paused']>
type Brake = AnswerOf<SideName, 'GET /admin/devices/removals'>['services'][number]
type Consumer = AnswerOf<'platform', 'GET /admin/consumers'>['consumers'][number]

/** Origins of Web Push come from users. */
const mostCounterparts = 30

export const pushPage: Page = {
  path: '/push',
  title: 'Push services',
  needs: 'GET /admin/services',
  letter: 'p',
  async live(visit) {
    const [{ services }, brakes, links, consumers] = await Promise.all([
      visit.call('GET /admin/services'),
      readBrakes(visit),
      readLinks(visit),
      readConsumers(visit),
    ])
    return html`<h1>Push services</h1>
!${brakes.filter(({ stopped }) => stopped).map((brake) => stoppedOf(visit, brake))}
!${figuresOf(services, brakes, links)}
!${services.length === 0 ? empty('This side has no push service or provider of its own: its lanes call operators.') : serviceTable(services, brakes)}
!${links.length === 0 ? '' : html`<h2>Device links</h2>!${linkTable(visit, links)}`}
!${consumers.length === 0 ? '' : html`<h2>Queues and topics</h2>!${consumerTable(consumers)}`}`
  },
}

function figuresOf(services: readonly Service[], brakes: readonly Brake[], links: readonly Link[]): Html {
  const paused = services.filter((service) => service.paused).length
  const partly = services.filter((service) => !service.paused && isPartlyPaused(service)).length
  const sends = brakes.reduce((sum, { recent }) => sum + recent.sends, 0)
  const removals = brakes.reduce((sum, { recent }) => sum + recent.removals, 0)
  const parked = links.reduce((sum, link) => sum + (link.parked ?? 0), 0)
  return figures([
    ['Services', number(services.length)],
    ['Paused', number(paused), paused > 0 ? 'bad' : ''],
    ['Paused in part', number(partly), partly > 0 ? 'warn' : ''],
    ...(brakes.length === 0
      ? []
      : ([
          ['Sends, 10 min', number(sends)],
          ['Dead devices, 10 min', number(removals)],
        ] as const)),
    ...(links.length === 0 ? [] : [['Parked events', number(parked), parked > 0 ? 'bad' : ''] as const]),
  ])
}

const isPartlyPaused = ({ counterparts = [] }: Service): boolean => counterparts.some(({ paused }) => paused)

function serviceTable(services: readonly Service[], brakes: readonly Brake[]): Html {
  const rows = services.flatMap((service) => {
    const { service: name, channel, waiting, paused, counterparts = [] } = service
    const brake = brakes.find((each) => each.service === name)
    const state = paused ? 'paused' : isPartlyPaused(service) ? 'paused in part' : 'running'
    const more = counterparts.length - mostCounterparts
    return [
      html`<tr><th scope="row">${name}</th><td>${channel}</td><td>!${badge(state)}</td><td class="number">${number(waiting)}</td><td class="number">${brake ? number(brake.recent.sends) : '–'}</td><td class="number">${brake ? number(brake.recent.removals) : '–'}</td><td class="wide">!${[...(paused ? [pausedOf(paused)] : []), ...allowedOf(brake)].join('<br>')}</td></tr>`,
      ...counterparts
        .toSorted((a, b) => Number(b.paused !== undefined) - Number(a.paused !== undefined))
        .slice(0, mostCounterparts)
        .filter((each) => each.name !== '')
        .map(
          (each) =>
            html`<tr class="part"><th scope="row" colspan="2"><bdi>${each.name}</bdi></th><td>!${each.paused ? badge('paused') : badge(each.accepted ? 'running' : 'not accepted yet')}</td><td colspan="3"></td><td class="wide">!${each.paused ? pausedOf(each.paused) : each.accepted ? '' : 'It has not accepted a send since this process began.'}</td></tr>`,
        ),
      ...(more > 0
        ? [html`<tr class="part"><td colspan="7">${phraseCount(more, 'further counterpart')}</td></tr>`]
        : []),
    ]
  })
  return html`<h2>Services</h2>!${table(
    'Push services',
    ['Credential', 'Channel', 'State', '#Waiting', '#Sends, 10 min', '#Dead devices, 10 min', 'Why'],
    rows,
  )}<p class="lead">The state is of this process. A paused service is tried again by itself.</p>`
}

const pausedOf = ({ reason, next_try_at: at }: Paused): Html => html`paused, next try !${moment(at)}: ${reason}`

function allowedOf(brake: Brake | undefined): readonly Html[] {
  if (!brake || brake.stopped || brake.allowed_until === undefined) return []
  return [
    html`${brake.confirmed_by ?? ''} confirmed the removal of dead devices, without a limit until !${moment(brake.allowed_until)}`,
  ]
}

function stoppedOf(visit: Visit, { service, stopped_at: at, stopped_for: of }: Brake): Html {
  const count = of ? ` after ${number(of.removals)} removals in ${number(of.sends)} sends` : ''
  return html`<div class="note bad"><strong>The removal of dead devices by ${service} has stopped</strong>!${at === undefined ? '' : html` since !${moment(at)}`}${count}.
Check its credential: a wrong one makes living devices look dead. No message is lost.
!${visit.key.brands ? '' : offers(visit, [[confirm.needs, visit.link(confirm.path, { service }), confirm.title]])}</div>`
}

interface Link extends Lane {
  /** Undefined: there are too many Failed Actions of other lanes. */
  readonly parked: number | undefined
}

/** The lanes of device links, with the number of their parked events. */
async function readLinks(visit: Visit): Promise<readonly Link[]> {
  const query = { state: 'pending' } as const
  const [{ lanes }, { groups, omitted }] = await Promise.all([
    visit.call('GET /admin/lanes'),
    visit.call('GET /admin/failed/summary', { query }),
  ])
  const parkedOf = (name: string): number | undefined => {
    const found = groups.filter(({ lane }) => lane === name)
    return found.length === 0 && omitted > 0 ? undefined : found.reduce((sum, { pending }) => sum + pending, 0)
  }
  return lanes
    .filter(({ name }) => name.endsWith('/device-links'))
    .map((lane) => ({ ...lane, parked: parkedOf(lane.name) }))
}

function linkTable(visit: Visit, links: readonly Link[]): Html {
  const rows = links.map((lane) => {
    const { name, waiting, oldest_age_ms: age, parked } = lane
    const count = parked === undefined ? '–' : number(parked)
    const shown = parked ? html`<a href="${visit.link('/failed', { lane: name })}">${count}</a>` : html`${count}`
    return html`<tr id="lane-${name}"><th scope="row"><a href="${visit.link('/lane', { name })}">${name}</a></th><td>!${stateOf(lane)}</td><td class="number">${number(waiting)}</td><td class="number">${waiting === 0 ? '–' : duration(age)}</td><td class="number">!${shown}</td><td class="wide">!${reasonsOf(lane).join('<br>')}</td></tr>`
  })
  return table('Device links', ['Lane', 'State', '#Waiting', '#Oldest', '#Parked', 'Why'], rows)
}

function consumerTable(consumers: readonly Consumer[]): Html {
  const rows = consumers.map(
    ({ name, state, since, lag, last_error: error }) =>
      html`<tr><th scope="row">${name}</th><td>!${badge(state)}</td><td>!${moment(since)}</td><td class="number">${lag === undefined ? '–' : number(lag)}</td><td class="wide">${error ?? ''}</td></tr>`,
  )
  return table('Queues and topics', ['Queue or topic', 'State', 'Since', '#Waiting at the broker', 'Last error'], rows)
}

async function readBrakes(visit: Visit): Promise<readonly Brake[]> {
  if (!visit.can('GET /admin/devices/removals')) return []
  return (await visit.call('GET /admin/devices/removals')).services
}

async function readConsumers(visit: Visit): Promise<readonly Consumer[]> {
  if (!visit.can('GET /admin/consumers')) return []
  return (await visit.call('GET /admin/consumers')).consumers
}

const limitEnds = [
  ['15', '15 minutes'],
  ['60', '1 hour'],
  ['240', '4 hours'],
  ['1440', '1 day'],
] as const

const confirm: Act = {
  path: '/push/confirm',
  needs: 'POST /admin/devices/removals/confirm',
  title: 'Confirm removals',
  async ask(visit) {
    const { service } = visit.query
    const brake = (await readBrakes(visit)).find((each) => each.service === service)
    const tally = brake?.stopped_for
    return {
      effect: html`!${tally ? html`${service} reported ${phraseCount(tally.removals, 'dead device')} in ${phraseCount(tally.sends, 'send')}. ` : ''}Dead devices are removed again; for the time below, their number has no limit. A device that was removed wrongly can be restored for 30 days.`,
      fields: html`!${actSelect(visit, 'Without a limit for', 'for_minutes', limitEnds, '60')}!${reasonField(visit, this.needs)}`,
      none: !brake?.stopped && `The removal of dead devices by ${service ?? 'this service'} has not stopped.`,
      back: visit.link('/push'),
    }
  },
  async act(visit, fields) {
    const { service = '', for_minutes: minutes = '60' } = fields
    const body = { service, for_minutes: Number(minutes), ...reasonOf(visit, this.needs, fields) }
    const { for_minutes: count } = await visit.call('POST /admin/devices/removals/confirm', { body })
    return { to: visit.link('/push'), count }
  },
  done: (count) => `Dead devices are removed again, for ${phraseCount(count, 'minute')} without a limit.`,
}

export const pushActs: readonly Act[] = [confirm]
