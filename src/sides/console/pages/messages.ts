// Which message is it? Search by identifier, by activity.id, or by user.

import { HttpError } from '../../../base/http/http-error.ts'
import { readMessageKey } from '../../../contract/message-key.ts'
import type { AnswerOf, SideName } from '../../admin/calls.ts'
import { badge, empty, filterForm, type Html, html, input, moment, table } from '../html.ts'
import type { Page, Visit } from '../page.ts'

/** A message of a list of either side. */
export type Row = AnswerOf<SideName, 'GET /admin/messages'>['messages'][number]

const mostListed = 50
/** A search by user asks each of these brands. */
const mostBrands = 20

export const messagesPage: Page = {
  path: '/messages',
  title: 'Messages',
  needs: 'GET /admin/messages',
  letter: 'm',
  async still(visit) {
    const { find, brand } = visit.query
    const fields = [
      input('Identifier, activity.id or user', 'find', find, html`type="search" spellcheck="false"`),
      input('Brand of the user (optional)', 'brand', brand, html`inputmode="numeric"`),
    ]
    const form = html`<h1>Messages</h1>!${filterForm(visit.link('/messages'), fields, 'Find')}`
    if (find === undefined)
      return html`!${form}!${empty('Give the push_id or site_notification_id of the operator, the activity.id of the platform, or a user.')}`
    const [byRef, byId, byUser] = await Promise.all([
      listed(visit, { ref: find }),
      listed(visit, { id: find }),
      findByUser(visit, find, brand),
    ])
    const found = [
      ...part(visit, 'With this identifier', byRef),
      ...part(visit, 'With this activity.id', byId),
      ...part(visit, 'To this user', byUser),
    ]
    const inErrors = visit.can('GET /admin/failed')
      ? html`<p class="lead">For a part of an error, <a href="${visit.link('/failed', { error: find })}">search Failed Actions</a>.</p>`
      : ''
    const none = `No message has the identifier, activity.id or user ${find}. Messages are deleted after the time of the setting keep, and a key that is bound to brands sees only their messages.`
    return html`!${form}!${found.length === 0 ? empty(none) : found}!${inErrors}`
  },
}

function part(visit: Visit, title: string, rows: readonly Row[]): readonly Html[] {
  if (rows.length === 0) return []
  return [
    html`<h2>${title}</h2>!${messageTable(visit, rows, title)}!${rows.length >= mostListed ? html`<p class="lead">The newest ${mostListed}.</p>` : ''}`,
  ]
}

export function messageTable(visit: Visit, rows: readonly Row[], label: string): Html {
  const lines = rows.map((row) => {
    const { id, userId, activityId, actionId } = readMessageKey(row.key)
    const at = 'seq' in row ? row.enqueued_at : row.updated_at
    const place = 'seq' in row ? row.lane : `${row.brand}/${row.channel}`
    const error = row.error ?? ''
    const reason = ('reason' in row ? row.reason : undefined) ?? shownRule(row) ?? ''
    const why = error.startsWith(reason) ? error : [reason, error].filter(Boolean).join(': ')
    return html`<tr><th scope="row"><a href="${linkOf(visit, row)}"><bdi>${id}</bdi></a></th><td>!${moment(at)}</td><td><bdi>${place}</bdi></td><td><bdi>${userId}</bdi></td><td>${activityId ?? '–'}</td><td>${actionId ?? '–'}</td><td>!${badge(row.outcome)}</td><td class="wide"><bdi class="cut">${why}</bdi></td></tr>`
  })
  return table(label, ['activity.id', 'Time', 'Lane', 'User', 'Activity', 'Action', 'Outcome', 'Why'], lines)
}

/** The number of a section says nothing about a success. */
const shownRule = ({ outcome, rule }: Row): string | undefined =>
  outcome === 'successful' && rule?.startsWith('§') ? undefined : rule

const linkOf = (visit: Visit, row: Row): string =>
  visit.link('/message', 'seq' in row ? { seq: row.seq } : { ref: row.ref })

async function findByUser(visit: Visit, user: string, brand: string | undefined): Promise<readonly Row[]> {
  const brands = brand === undefined ? await brandsOf(visit) : [brand]
  const found = await Promise.all(
    brands.map((each) => listed(visit, { brand: each, user_id: user, limit: mostListed })),
  )
  return found.flat()
}

/** The brands that have messages and that the key may see. */
async function brandsOf(visit: Visit): Promise<readonly string[]> {
  if (visit.key.brands) return visit.key.brands.slice(0, mostBrands)
  if (!visit.can('GET /admin/summary')) return []
  const summary = await visit.call('GET /admin/summary')
  const brands =
    'brands' in summary ? Object.keys(summary.brands) : Object.keys(summary.lanes).map((lane) => lane.split('/')[0])
  return [...new Set(brands as string[])].slice(0, mostBrands)
}

async function listed(
  visit: Visit,
  query: {
    readonly ref?: string
    readonly id?: string
    readonly brand?: string
    readonly user_id?: string
    readonly limit?: number
  },
): Promise<readonly Row[]> {
  try {
    return (await visit.call('GET /admin/messages', { query })).messages
  } catch (error) {
    // The text is too long for an identifier, but may be one of another kind.
    if (error instanceof HttpError && error.status === 400) return []
    throw error
  }
}
