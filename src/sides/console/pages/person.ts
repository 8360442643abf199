// Who is this person, and what may they get? Attributes with their times, the latest permission, messages, and the export.

import { HttpError } from '../../../base/http/http-error.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import { phraseDecision } from '../../admin/message-life.ts'
import { hideSecrets } from '../hide-secrets.ts'
import { badge, crumb, empty, facts, filterForm, type Html, html, input, moment, number, table } from '../html.ts'
import type { Act, Page, Visit } from '../page.ts'
import { offers, reasonField, reasonOf } from './act-fields.ts'
import { messageTable } from './messages.ts'

type Attributes = AnswerOf<'platform', 'GET /admin/attributes/:brand/:user'>['attributes']
type Permission = NonNullable<AnswerOf<'operator', 'GET /admin/messages/:ref'>['permission']>

export interface Person {
  readonly brand: string
  readonly user: string
}

/** The person that the address names, and the form that asks for one. */
export function askPerson(
  { query, key, link }: Visit,
  path: string,
): { readonly form: Html; readonly person?: Person } {
  const { user, brand = key.brands?.[0] } = query
  const fields = [
    input('Brand', 'brand', brand, html`inputmode="numeric" required`),
    input('User', 'user', user, html`required spellcheck="false"`),
  ]
  const form = filterForm(link(path), fields, 'Show')
  return user === undefined || brand === undefined
    ? { form: form + empty('Give a brand and a user. The look is recorded in the audit trail.') }
    : { form, person: { brand, user } }
}

const mostMessages = 10

export const personPage: Page = {
  path: '/person',
  title: 'Person',
  needs: 'GET /admin/messages',
  letter: 'u',
  async still(visit) {
    const { form, person } = askPerson(visit, '/person')
    if (!person) return html`<h1>Person</h1>!${form}`
    const { brand, user } = person
    const [attributes, { messages }] = await Promise.all([
      readAttributes(visit, person),
      visit.call('GET /admin/messages', { query: { brand, user_id: user, limit: mostMessages } }),
    ])
    const [latest] = messages
    const permission = latest && 'ref' in latest ? await readPermission(visit, latest.ref) : undefined
    return html`<h1>Person</h1>!${form}
!${linksOf(visit, person)}
!${attributes === undefined ? '' : html`<h2>Attributes in the CRM</h2>!${attributeTable(attributes)}`}
!${permission ? html`<h2>Permission at the latest message</h2>!${permissionOf(permission)}` : ''}
<h2>Latest messages</h2>!${messages.length === 0 ? empty('This side has no message to this user.') : messageTable(visit, messages, 'Latest messages')}`
  },
}

function linksOf(visit: Visit, person: Person): Html {
  return offers(visit, [
    ['GET /admin/devices', visit.link('/devices', { ...person }), 'Devices'],
    ['GET /admin/messages', visit.link('/messages', { brand: person.brand, find: person.user }), 'Messages'],
    ['GET /admin/audit', visit.link('/audit', { ...person }), 'Audit'],
    ['GET /admin/people/:brand/:user', visit.link('/person/export', { ...person }), 'Export'],
    [erase.needs, visit.link(erase.path, { ...person }), 'Erase'],
  ])
}

/** @returns undefined if this side has no attributes; no members if it has none of this user */
async function readAttributes(visit: Visit, params: Person): Promise<Attributes | undefined> {
  if (!visit.can('GET /admin/attributes/:brand/:user')) return undefined
  try {
    return (await visit.call('GET /admin/attributes/:brand/:user', { params })).attributes
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return {}
    throw error
  }
}

function attributeTable(attributes: Attributes): Html {
  const rows = Object.entries(attributes).map(
    ([field, { value, changed_at: at }]) =>
      html`<tr><th scope="row">${field}</th><td>!${showValue(field, value)}</td><td>!${moment(at)}</td></tr>`,
  )
  return rows.length === 0
    ? empty('The CRM has no attributes of this user.')
    : table('Attributes', ['Field', 'Value', 'Changed'], rows)
}

/** Whether a value lets messages through is in its colour; the word says the value. */
const showValue = (field: string, value: boolean): Html =>
  html`<span class="badge ${value === (field === 'blocked' || field === 'excluded') ? 'bad' : 'good'}">${value ? 'yes' : 'no'}</span>`

async function readPermission(visit: Visit, ref: string): Promise<Permission | null> {
  if (!visit.can('GET /admin/messages/:ref')) return null
  return (await visit.call('GET /admin/messages/:ref', { params: { ref } })).permission
}

/** The check with its source and the time of its data. */
function permissionOf({ decided, fields, exempt, source, read_at: readAt, as_of: asOf }: Permission): Html {
  return facts([
    ['Decided', html`${phraseDecision(decided)}!${exempt ? ', a service message: consent was not checked' : ''}`],
    ...Object.entries(fields).map(([field, value]) => [field, showValue(field, value)] as const),
    ['Source', html`${source}, asked !${moment(readAt)}`],
    ['Data as of', asOf === null ? html`the source does not tell it` : moment(asOf)],
  ])
}

function countTable(label: string, counts: Readonly<Record<string, number>>): Html {
  const rows = Object.entries(counts).map(
    ([name, count]) =>
      html`<tr><th scope="row">${name.replaceAll('_', ' ')}</th><td class="number ${count === 0 ? 'muted' : ''}">${number(count)}</td></tr>`,
  )
  return html`<div class="counts">!${table(label, ['Kind', '#Rows'], rows)}</div>`
}

const erase: Act = {
  path: '/person/erase',
  isFinal: true,
  needs: 'POST /admin/people/erase',
  title: 'Erase person',
  async ask(visit) {
    const { brand = '', user = '' } = visit.query
    const { rows } = await visit.call('POST /admin/people/erase/preview', { body: { brand, user_id: user } })
    const count = sumOf(rows)
    return {
      before: countTable('Rows of the person', rows),
      effect: html`${phraseCount(count, 'row')} of user <bdi>${user}</bdi> of brand ${brand} ${count === 1 ? 'is' : 'are'} erased on this ${visit.side}. Messages that wait are cancelled. Erased data cannot be restored. The other side has data of its own: erase it there, too.`,
      fields: reasonField(visit, this.needs),
      back: visit.link('/person', { brand, user }),
    }
  },
  async act(visit, fields) {
    const { brand = '', user = '' } = fields
    const { rows } = await visit.call('POST /admin/people/erase/preview', { body: { brand, user_id: user } })
    const body = { brand, user_id: user, ...reasonOf(visit, this.needs, fields) }
    const { id } = await visit.call('POST /admin/people/erase', { body })
    return { to: visit.link(erasurePage.path, { id }), count: sumOf(rows) }
  },
  done: (count) => `The erasure of ${phraseCount(count, 'row')} began. It goes on if you leave this page.`,
}

const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

export const personActs: readonly Act[] = [erase]

/** Its address names the erasure, and no person. */
export const erasurePage: Page = {
  path: '/person/erasure',
  title: 'Erasure',
  needs: 'GET /admin/people/erasures/:id',
  within: '/person',
  async live(visit) {
    const { id = '' } = visit.query
    const erasure = await visit.call('GET /admin/people/erasures/:id', { params: { id } })
    const { brand, state, erased, waiting, kept, user_digest: digest, done_at: doneAt } = erasure
    const rows = kept.map(
      ({ column, as, why }) =>
        html`<tr><th scope="row" class="mono">${column}</th><td>${as}</td><td class="wide">${why}</td></tr>`,
    )
    return html`!${crumb(visit.link('/person'), 'Person')}<h1>Erasure !${badge(state)}</h1>
!${facts([
      ['Requested', html`!${moment(erasure.requested_at)} by <bdi>${erasure.requested_by}</bdi>`],
      ['Brand', brand],
      ['Person', html`<span class="mono">${digest}</span>, the digest that stands for the user id`],
      ['Done', doneAt === undefined ? html`not yet` : moment(doneAt)],
      ...(waiting === 0
        ? []
        : [['In use', html`${phraseCount(waiting, 'row')}: erased as soon as they are settled`] as const]),
    ])}
<h2>Erased rows</h2>!${Object.keys(erased).length === 0 ? empty('Nothing was erased yet.') : countTable('Erased rows', erased)}
<h2>Rows that stay</h2>!${table('Columns that stay', ['Column', 'As', 'Why'], rows)}`
  },
}

/** More is downloaded with the command. */
const mostShown = 256 * 1024

export const exportPage: Page = {
  path: '/person/export',
  title: 'Export of a person',
  needs: 'GET /admin/people/:brand/:user',
  within: '/person',
  async still(visit) {
    const { brand = '', user = '' } = visit.query
    const held = await visit.call('GET /admin/people/:brand/:user', { params: { brand, user } })
    const lists = Object.entries(held as object).filter((entry): entry is [string, readonly object[]] =>
      Array.isArray(entry[1]),
    )
    const counts = Object.fromEntries(lists.map(([name, all]) => [name, all.length]))
    // A token allows sending to the device: only the file of the command has it.
    const text = hideSecrets(JSON.stringify(held, null, 2))
    const command = `bellwire person export --brand ${brand} --user ${user}`
    return html`!${crumb(visit.link('/person', { brand, user }), 'Person')}<h1>Export of a person</h1>
<p class="lead">Everything that this ${visit.side} holds about user <bdi>${user}</bdi> of brand ${brand}. Tokens are hidden here. To a file with all data: <code>${command}</code></p>
!${countTable('Data by kind', counts)}
!${text.length > mostShown ? html`<p class="lead">${phraseCount(text.length, 'character')}: too long to be shown here.</p>` : html`<h2>As JSON</h2><pre tabindex="0" role="region" aria-label="The export as JSON">${text}</pre>`}`
  },
}
