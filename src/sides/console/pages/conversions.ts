// What did the campaign do? Messages by how far they came, for each activity, action or action group.

import { clock } from '../../../base/runtime/clock.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import {
  badge,
  buttons,
  crumb,
  empty,
  figures,
  filterForm,
  type Html,
  hidden,
  html,
  input,
  moment,
  number,
  select,
  table,
} from '../html.ts'
import type { Page, Visit } from '../page.ts'
import { pick } from './act-fields.ts'

type Group = AnswerOf<'platform', 'GET /admin/conversions'>['groups'][number]
type Listed = AnswerOf<'platform', 'GET /admin/conversions/messages'>['conversions'][number]

const filterNames = ['brand', 'channel', 'activity', 'action', 'action_group', 'since', 'until'] as const
const kinds = ['activity', 'action', 'action_group'] as const
const kindNames = { activity: 'Activity', action: 'Action', action_group: 'Action group' } as const
const mostGroups = 200
const mostListed = 100
const weekMs = 7 * 24 * 3_600_000

const kindOf = ({ query }: Visit): (typeof kinds)[number] => kinds.find((each) => each === query.by) ?? 'activity'

/** Without a first day, the last seven days are counted. */
function filterIn({ query }: Visit) {
  const now = clock.now()
  const since = new Date(now - weekMs).toISOString().slice(0, 10)
  return { since, ...pick(query, filterNames) } as { readonly [Each in (typeof filterNames)[number]]?: string } & {
    readonly channel?: 'push'
  }
}

export const conversionsPage: Page = {
  path: '/conversions',
  title: 'Conversions',
  needs: 'GET /admin/conversions',
  letter: 'c',
  async still(visit) {
    const by = kindOf(visit)
    const filter = filterIn(visit)
    const { groups } = await visit.call('GET /admin/conversions', { query: { by, ...filter } })
    const ranked = groups.toSorted((a, b) => b.sent - a.sent)
    return html`<h1>Conversions</h1>
<p class="lead">The messages that were enqueued in these days, by the stage that they reached.</p>
!${formOf(visit, by, filter.since)}
!${groups.length === 0 ? empty('No message was sent in these days, or none matches the filter: choose an earlier first day, or clear the filter.') : html`!${sumOf(groups)}<h2>By ${kindNames[by].toLowerCase()}</h2>!${groupTable(visit, by, ranked)}`}`
  },
}

function formOf(visit: Visit, by: (typeof kinds)[number], since: string | undefined): Html {
  const { query } = visit
  const channels = [
    ['', 'any'],
    ['push', 'push'],
    ['site', 'site'],
  ] as const
  const names = kinds.map((each) => [each, kindNames[each].toLowerCase()] as const)
  const fields = [
    select('Counted by', 'by', names, by),
    input('Brand', 'brand', query.brand, html`inputmode="numeric"`),
    select('Channel', 'channel', channels, query.channel),
    input('Activity', 'activity', query.activity),
    input('Action', 'action', query.action),
    input('Action group', 'action_group', query.action_group),
    input('First day (UTC)', 'since', since, html`type="date"`),
    input('Last day (UTC)', 'until', query.until, html`type="date"`),
  ]
  return filterForm(visit.link('/conversions'), fields, 'Count')
}

const stages = ['delivered', 'displayed', 'clicked'] as const

function sumOf(groups: readonly Group[]): Html {
  const sum = (name: 'sent' | 'failed' | (typeof stages)[number]): number =>
    groups.reduce((total, group) => total + group[name], 0)
  const sent = sum('sent')
  return figures([
    ['Sent', number(sent)],
    ...stages.map((stage) => [`${capital(stage)} ${share(sum(stage), sent)}`, number(sum(stage))] as const),
    ['Failed', number(sum('failed')), sum('failed') > 0 ? 'bad' : ''],
  ])
}

const capital = (word: string): string => `${word[0]?.toUpperCase()}${word.slice(1)}`

/** @example share(1, 3) // '33 %' */
const share = (part: number, all: number): string =>
  all === 0 ? '–' : `${((100 * part) / all).toFixed(part * 10 < all && part > 0 ? 1 : 0)} %`

function groupTable(visit: Visit, by: (typeof kinds)[number], groups: readonly Group[]): Html {
  const lists = visit.can('GET /admin/conversions/messages')
  const rows = groups.slice(0, mostGroups).map((group) => {
    const { lane, sent, failed } = group
    const id = group[by]
    const [brand, channel] = lane.split('/')
    const to = visit.link('/conversions/messages', {
      ...pick(visit.query, filterNames),
      brand,
      channel,
      [by]: id ?? undefined,
    })
    const counts = stages.map(
      (stage) =>
        html`<td class="number">${number(group[stage])}</td><td class="number muted">${share(group[stage], sent)}</td>`,
    )
    return html`<tr><th scope="row">!${lists && id !== null ? html`<a href="${to}">${id}</a>` : html`${id ?? '–'}`}</th><td>${lane}</td><td class="number">${number(sent)}</td>!${counts}<td class="number">${number(failed)}</td></tr>`
  })
  const more = groups.length - rows.length
  const columns = [
    kindNames[by],
    'Lane',
    '#Sent',
    ...stages.flatMap((stage) => [`#${capital(stage)}`, '#of sent']),
    '#Failed',
  ]
  return html`!${table('Conversions', columns, rows)}!${more > 0 ? html`<p class="lead">${phraseCount(more, 'further group')}: use the filter.</p>` : ''}`
}

export const conversionListPage: Page = {
  path: '/conversions/messages',
  title: 'Messages with a status',
  needs: 'GET /admin/conversions/messages',
  within: '/conversions',
  async still(visit) {
    const filter = filterIn(visit)
    const { stage, after } = visit.query
    const query = { ...filter, stage: stage as 'clicked', after, limit: mostListed }
    const { conversions, next } = await visit.call('GET /admin/conversions/messages', { query })
    const given = pick(visit.query, filterNames)
    const path = '/conversions/messages'
    const choices = [['', 'any'], ...stages.map((each) => [each, each] as const)] as const
    return html`!${crumb(visit.link('/conversions', given), 'Conversions')}<h1>Messages with a status</h1>
!${filterForm(visit.link(path), [hidden(given), select('Reached', 'stage', choices, stage)], 'Filter', [visit.link(path, given), 'Clear'])}
!${conversions.length === 0 ? empty('No message with a status matches on this page.') : listTable(visit, conversions)}
!${next === undefined ? '' : buttons([[visit.link(path, { ...given, stage, after: next }), 'Next page']])}`
  },
}

function listTable(visit: Visit, conversions: readonly Listed[]): Html {
  const rows = conversions.map(({ lane, ref, activity, action, stage, statuses }) => {
    const said = statuses.map(({ status, at }) => html`${status} !${moment(at)}`).join('<br>')
    return html`<tr><th scope="row" class="mono">!${visit.can('GET /admin/messages') ? html`<a href="${visit.link('/messages', { find: ref })}">${ref}</a>` : html`${ref}`}</th><td>${lane}</td><td>${activity ?? '–'}</td><td>${action ?? '–'}</td><td>!${badge(stage)}</td><td>!${said}</td></tr>`
  })
  return table('Messages with a status', ['Identifier', 'Lane', 'Activity', 'Action', 'Reached', 'Statuses'], rows)
}
