// Who is this person, and what may they get? Attributes with their times, the latest permission, messages, and the export.

import { HttpError } from '../../../base/http/http-error.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../admin/calls.ts'
import { crumb, empty, facts, type Html, html, input, moment, table } from '../html.ts'
import type { Page, Visit } from '../page.ts'
import { hideSecrets } from './message.ts'
import { messageTable } from './messages.ts'

type Attributes = AnswerOf<'platform', 'GET /admin/attributes/:brand/:user'>['attributes']
type Permission = NonNullable<AnswerOf<'operator', 'GET /admin/messages/:ref'>['permission']>

interface Person {
  readonly brand: string
  readonly user: string
}

const mostMessages = 10

export const personPage: Page = {
  path: '/person',
  title: 'Person',
  needs: 'GET /admin/messages',
  letter: 'u',
  async still(visit) {
    const { user, brand = visit.key.brands?.[0] } = visit.query
    const form = html`<h1>Person</h1><form class="filter" action="${visit.link('/person')}">
!${input('Brand', 'brand', brand ?? '', html`inputmode="numeric" required`)}!${input('User', 'user', user ?? '', html`required spellcheck="false"`)}<button class="primary">Show</button></form>`
    if (user === undefined || brand === undefined)
      return html`!${form}!${empty('Give a brand and a user. The look is recorded in the audit trail.')}`
    const person = { brand, user }
    const [attributes, { messages }] = await Promise.all([
      readAttributes(visit, person),
      visit.call('GET /admin/messages', { query: { brand, user_id: user, limit: mostMessages } }),
    ])
    const [latest] = messages
    const permission = latest && 'ref' in latest ? await readPermission(visit, latest.ref) : undefined
    return html`!${form}
!${buttonsOf(visit, person)}
!${attributes === undefined ? '' : html`<h2>Attributes in the CRM</h2>!${attributeTable(attributes)}`}
!${permission ? html`<h2>Permission at the latest message</h2>!${permissionOf(permission)}` : ''}
<h2>Latest messages</h2>!${messages.length === 0 ? empty('This side has no message to this user.') : messageTable(visit, messages)}`
  },
}

function buttonsOf(visit: Visit, { brand, user }: Person): Html {
  const buttons = [
    ...(visit.can('GET /admin/devices') ? [[visit.link('/devices', { brand, user }), 'Devices']] : []),
    [visit.link('/messages', { brand, find: user }), 'Messages'],
    ...(visit.can('GET /admin/audit') ? [[visit.link('/audit', { brand, user }), 'Audit']] : []),
    ...(visit.can('GET /admin/people/:brand/:user') ? [[visit.link('/person/export', { brand, user }), 'Export']] : []),
  ] as const
  return html`<p class="buttons">!${buttons.map(([to, says]) => html`<a class="button" href="${to}">${says}</a>`)}</p>`
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
    ['Decided', html`${decided}!${exempt ? html`, a service message: consent was not checked` : ''}`],
    ...Object.entries(fields).map(([field, value]) => [field, showValue(field, value)] as const),
    ['Source', html`${source}, asked !${moment(readAt)}`],
    ['Data as of', asOf === null ? html`the source does not tell it` : moment(asOf)],
  ])
}

/** A token allows sending to the device: only the file of the command has it. A text may be JSON itself, such as a request. */
const hideInTexts = (_name: string, value: unknown): unknown => (typeof value === 'string' ? hideSecrets(value) : value)

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
    const rows = Object.entries(held as object)
      .filter((entry): entry is [string, readonly object[]] => Array.isArray(entry[1]))
      .map(
        ([name, all]) =>
          html`<tr><th scope="row">${name.replaceAll('_', ' ')}</th><td class="number">${String(all.length)}</td></tr>`,
      )
    const text = hideSecrets(JSON.stringify(held, hideInTexts, 2))
    const command = `bellwire person export --brand ${brand} --user ${user}`
    return html`!${crumb(visit.link('/person', { brand, user }), 'Person')}<h1>Export of a person</h1>
<p class="lead">Everything that this ${visit.side} holds about user <bdi>${user}</bdi> of brand ${brand}. Tokens are hidden here. To a file with all data: <code>${command}</code></p>
!${table('Data by kind', ['Kind', '#Entries'], rows)}
!${text.length > mostShown ? html`<p class="lead">${phraseCount(text.length, 'character')}: too long to be shown here.</p>` : html`<h2>As JSON</h2><pre tabindex="0" role="region" aria-label="The export as JSON">${text}</pre>`}`
  },
}
