// Who did what?

import type { AnswerOf, SideName } from '../../admin/calls.ts'
import { buttons, empty, filterForm, type Html, html, input, moment, number, table } from '../html.ts'
import type { Page, Visit } from '../page.ts'
import { pick } from './act-fields.ts'

type Entry = AnswerOf<SideName, 'GET /admin/audit'>['entries'][number]

const filterNames = ['act', 'by', 'brand', 'user', 'since', 'until'] as const
const mostListed = 100
const mostDetails = 600

export const auditPage: Page = {
  path: '/audit',
  title: 'Audit',
  needs: 'GET /admin/audit',
  letter: 'a',
  async still(visit) {
    const brand = visit.query.brand ?? visit.key.brands?.[0]
    const filter = { ...pick(visit.query, filterNames), ...(brand !== undefined && { brand }) }
    const query = { ...filter, limit: mostListed, before: visit.query.before }
    const { entries, next } = await visit.call('GET /admin/audit', { query })
    return html`<h1>Audit</h1>
<p class="lead">Who acted, or looked at data of persons, the newest first. This look is an entry too.</p>
!${formOf(visit, brand)}
!${entries.length === 0 ? empty('No entry matches the filter.') : entryTable(entries)}
!${next === undefined ? '' : buttons([[visit.link('/audit', { ...filter, before: next }), 'Older entries']])}`
  },
}

function formOf(visit: Visit, brand: string | undefined): Html {
  const { act, by, user, since, until } = visit.query
  return filterForm(visit.link('/audit'), [
    input('Act', 'act', act),
    input('By', 'by', by),
    input('Brand', 'brand', brand, html`inputmode="numeric"`),
    input('User', 'user', user, html`spellcheck="false"`),
    input('Since (UTC)', 'since', since, html`type="date"`),
    input('Before (UTC)', 'until', until, html`type="date"`),
  ])
}

function entryTable(entries: readonly Entry[]): Html {
  const rows = entries.map((entry) => {
    const { at, by, act, address, brand, user, user_digest: digest, lane, count, reason } = entry
    const person = user ?? (digest === undefined ? '–' : `erased (${digest.slice(0, 8)}…)`)
    return html`<tr><td>!${moment(at)}</td><th scope="row"><bdi>${by === '' ? 'unknown key' : by}</bdi><br><span class="muted">${address ?? ''}</span></th><td>${act}</td><td>${lane ?? brand ?? '–'}</td><td><bdi>${person}</bdi></td><td class="number">${count === undefined ? '–' : number(count)}</td><td class="wide">!${reason === undefined ? '' : html`<strong>${reason}</strong> `}!${detailsOf(entry)}</td></tr>`
  })
  return table(
    'Entries of the audit trail',
    ['Time', 'By', 'Act', 'Lane or brand', 'User', '#Count', 'Reason and details'],
    rows,
  )
}

/** What the request said, and the values before and after. */
function detailsOf({ given, old, new: after }: Entry): Html {
  const parts = [
    ...(given === undefined ? [] : [shown(given)]),
    ...(old === undefined ? [] : [`before: ${shown(old)}`]),
    ...(after === undefined ? [] : [`after: ${shown(after)}`]),
  ]
  const text = parts.join('; ')
  return html`<span class="muted mono">${text.length > mostDetails ? `${text.slice(0, mostDetails)}…` : text}</span>`
}

/** @example shown({ activity: '7' }) // 'activity: 7' */
function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '–')
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${typeof each === 'object' ? JSON.stringify(each) : String(each)}`)
    .join(', ')
}
