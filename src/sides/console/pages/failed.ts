// What failed, and what do I do?

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { reasons } from '../../../contract/reasons.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import {
  buttons,
  empty,
  facts,
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
import type { Act, Fields, Page, Visit } from '../page.ts'
import { actInput, pick, reasonField, reasonOf } from './act-fields.ts'
import { describeReason } from './reason-facts.ts'

type Group = AnswerOf<'platform', 'GET /admin/failed/summary'>['groups'][number]

const filterNames = ['lane', 'activity', 'action', 'reason', 'user', 'error', 'from', 'until'] as const
const groupNames = ['lane', 'activity', 'action', 'reason'] as const
const mostListed = 50
const mostGroups = 100
/** The button of an act is on the same screen. */
const mostAskedGroups = 10

export const failedPage: Page = {
  path: '/failed',
  title: 'Failed Actions',
  needs: 'GET /admin/failed/summary',
  letter: 'f',
  async still(visit) {
    const query = pick(visit.query, groupNames)
    const { groups, omitted } = await visit.call('GET /admin/failed/summary', { query })
    const isFiltered = filterNames.some((name) => visit.query[name] !== undefined)
    const isCounted = Object.keys(pick(visit.query, filterNames)).length === Object.keys(query).length
    const pending = groups.reduce((sum, group) => sum + group.pending, 0)
    const count = `${omitted > 0 ? 'At least ' : ''}${phraseCount(pending, 'item')} ${pending === 1 ? 'waits' : 'wait'}`
    const counted = `${pending > 0 ? count : `No item${isFiltered ? ' that matches' : ''} waits`} for a decision.`
    return html`<h1>Failed Actions</h1>
<p class="lead">${isCounted ? counted : 'The items that match. Items are counted by lane, activity, action and reason only.'}</p>
!${filterOf(visit)}
!${groups.length === 0 ? empty(isFiltered ? 'No Failed Action matches the filter: clear it to see all.' : 'Nothing has failed. An item that fails for good is listed here, to be replayed or dismissed.') : html`!${isCounted ? groupTable(visit, groups, omitted) : ''}!${helpOf(groups)}`}
!${groups.length === 0 ? '' : await itemsOf(visit)}`
  },
}

function filterOf(visit: Visit): Html {
  const { query } = visit
  const known = [['', 'any'], ...Object.keys(reasons).map((each) => [each, each])] as [string, string][]
  const states = ['pending', 'dismissed', 'replayed'].map((each) => [each, each] as const)
  return filterForm(visit.link('/failed'), [
    input('Lane', 'lane', query.lane),
    input('Activity', 'activity', query.activity),
    input('Action', 'action', query.action),
    select('Reason', 'reason', known, query.reason),
    input('User', 'user', query.user),
    input('Part of the error', 'error', query.error),
    select('State', 'state', states, query.state ?? 'pending'),
  ])
}

/** The meaning of each reason, and its remedy. */
function helpOf(groups: readonly Group[]): Html {
  const found = [...new Set(groups.map(({ reason }) => reason))].flatMap((reason) => {
    const known = describeReason(reason)
    return known ? [[reason, html`!${known.says} <span class="muted">!${known.remedy}</span>`] as const] : []
  })
  return found.length === 0 ? '' : html`<h2>What helps</h2>!${facts(found)}`
}

/** @param omitted how many further groups there are @param most rows of the table */
function groupTable(visit: Visit, groups: readonly Group[], omitted: number, most = mostGroups): Html {
  const rows = groups.slice(0, most).map((group) => {
    const { lane, activity, action, reason, pending, dismissed, replayed } = group
    const of = { lane, activity: activity ?? undefined, action: action ?? undefined, reason }
    return html`<tr><th scope="row"><a href="${visit.link('/failed', of)}"><bdi>${lane}</bdi></a></th><td>${activity ?? '–'}</td><td>${action ?? '–'}</td><td>${reason}</td><td class="number">${number(pending)}</td><td class="number">${number(dismissed)}</td><td class="number">${number(replayed)}</td></tr>`
  })
  const more = groups.length - rows.length + omitted
  return html`!${table('Groups of failed items', ['Lane', 'Activity', 'Action', 'Reason', '#Pending', '#Dismissed', '#Replayed'], rows)}
!${more > 0 ? html`<p class="lead">${phraseCount(more, 'further group')}.</p>` : ''}`
}

/** The items with boxes to select them. A key that is bound to brands lists the items of one lane. */
async function itemsOf(visit: Visit): Promise<Html> {
  if (!visit.can('GET /admin/failed')) return ''
  if (visit.key.brands && visit.query.lane === undefined)
    return html`<h2>Items</h2><p class="lead">Choose a lane to see its items.</p>`
  const { after } = visit.query
  const filter = pick(visit.query, filterNames)
  const state = (visit.query.state ?? 'pending') as 'pending'
  const query = { ...filter, state, limit: mostListed, ...(after !== undefined && { after: Number(after) }) }
  const { items, next } = await visit.call('GET /admin/failed', { query })
  if (items.length === 0 && next === undefined)
    return html`<h2>Items</h2>!${empty(`No ${state} item matches the filter.`)}`
  const acts = state === 'pending' ? ([replay, dismiss] as const).filter((act) => visit.can(act.needs)) : []
  const rows = items.map(
    ({ seq, id, user, lane, reason, error, at, attempts }) =>
      html`<tr>!${acts.length === 0 ? '' : html`<td><input type="checkbox" name="seq" value="${seq}" aria-label="Select message ${id ?? seq}"></td>`}<th scope="row">!${visit.side === 'platform' && visit.can('GET /admin/messages') ? html`<a href="${visit.link('/message', { seq })}"><bdi>${id ?? seq}</bdi></a>` : html`${id ?? seq}`}</th><td>!${moment(at)}</td><td><bdi>${lane}</bdi></td><td><bdi>${user ?? '–'}</bdi></td><td>${reason}</td><td class="number">${number(attempts)}</td><td class="wide"><bdi class="cut">${error}</bdi></td></tr>`,
  )
  const columns = ['Message', 'Time', 'Lane', 'User', 'Reason', '#Attempts', 'Error']
  const following =
    next === undefined ? '' : buttons([[visit.link('/failed', { ...filter, state, after: next }), 'Next page']])
  if (acts.length === 0) return html`<h2>Items</h2>!${table('Items', columns, rows)}!${following}`
  const all = Object.keys(filter).length === 0 ? { all: 'true' } : filter
  const ofSelected = acts.map(
    (act) => html`<button formaction="${visit.link(act.path)}">${act.title} selected</button>`,
  )
  const ofAll = acts.map(
    (act) => html`<a class="button" href="${visit.link(act.path, all)}">${act.title} all that match</a>`,
  )
  return html`<h2>Items</h2>
<form action="${visit.link(replay.path)}">!${hidden({ ...filter, selected: 'yes' })}
<p class="buttons bar"><label class="box"><input type="checkbox" data-all> All on this page</label>!${ofSelected}!${ofAll}</p>
!${table('Items', ['', ...columns], rows)}</form>!${following}`
}

/** A call decides about a part of a large selection. */
const mostCalls = 200

type Selection = AnswerlessSelection & {
  readonly after?: string
  readonly preview?: boolean
  readonly per_second?: number
  readonly note?: string
}
type AnswerlessSelection = { readonly seqs?: readonly number[]; readonly all?: true } & {
  readonly [Each in (typeof filterNames)[number]]?: string
}

/** Selected items come with the filter of their page, which does not select. */
function selectionOf(fields: Fields): AnswerlessSelection {
  const { seq, selected } = fields
  if (seq !== undefined) return { seqs: seq.split(',').map(Number), ...pick(fields, ['lane']) }
  if (selected !== undefined) return {}
  const filter = pick(fields, filterNames)
  return Object.keys(filter).length === 0 && fields.all === 'true' ? { all: true } : filter
}

/** The page of the decided message, or the list with its filter. */
const pageOf = (visit: Visit, { seq = '', selected, ...fields }: Fields): string =>
  selected === undefined && /^\d+$/.test(seq) && visit.can('GET /admin/messages')
    ? visit.link('/message', { seq })
    : visit.link('/failed', pick(fields, filterNames))

function decisionOf(action: 'replay' | 'dismiss', title: string, effect: string, done: string): Act {
  const route = `POST /admin/failed/${action}` as const
  const path = `/failed/${action}`
  const callAll = async (
    visit: Visit,
    body: Selection,
    onPart: (groups: readonly Group[]) => void,
  ): Promise<number> => {
    let count = 0
    let after: string | undefined
    for (let calls = 0; calls < mostCalls; calls++) {
      const answer = await visit.call(route, { body: { ...body, ...(after !== undefined && { after }) } })
      count += answer.count
      onPart(answer.groups ?? [])
      after = answer.next
      if (after === undefined) break
    }
    return count
  }
  return {
    path,
    needs: route,
    title,
    async ask(visit) {
      const selection = selectionOf(visit.query)
      const back = pageOf(visit, visit.query)
      if (Object.keys(selection).length === 0)
        return { effect: '', none: 'Nothing is selected: select items, or use a filter.', back }
      const reached: Group[] = []
      const count = await callAll(visit, { ...selection, preview: true }, (groups) => reached.push(...groups))
      return {
        before: reached.length === 0 ? '' : groupTable(visit, reached, 0, mostAskedGroups),
        effect: html`${phraseCount(count, 'item')} ${effect}`,
        fields: html`!${action === 'replay' ? actInput(visit, 'Most messages per second (optional; the rate of the lane is never exceeded)', 'per_second', '', html`type="number" min="1" max="1000000"`) : ''}!${reasonField(visit, route)}`,
        none: count === 0 && 'No pending item matches.',
        back,
      }
    },
    async act(visit, fields) {
      const { per_second: rate } = fields
      const perSecond = action === 'replay' && rate !== undefined ? { per_second: Number(rate) } : {}
      const body = { ...selectionOf(fields), ...perSecond, ...reasonOf<'note'>(visit, route, fields) }
      const count = await callAll(visit, body, () => {})
      return { to: pageOf(visit, fields), count }
    },
    done: (count) => `${phraseCount(count, 'item')} ${done}.`,
  }
}

const replay = decisionOf(
  'replay',
  'Replay',
  'will be sent again, at the rate of the lane. An item that fails again is pending again.',
  'replayed',
)
const dismiss = decisionOf('dismiss', 'Dismiss', 'will be dismissed, and will not be sent.', 'dismissed')

export const failedActs: readonly Act[] = [replay, dismiss]
