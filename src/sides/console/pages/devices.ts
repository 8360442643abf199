// Which devices does this user have? A token is never shown in full.

import { HttpError } from '../../../base/http/http-error.ts'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { AnswerOf, SideName } from '../../admin/calls.ts'
import { empty, type Html, html, moment, table } from '../html.ts'
import type { Act, Page, Visit } from '../page.ts'
import { offers, reasonField, reasonOf } from './act-fields.ts'
import { askPerson, type Person } from './person.ts'

type Device = AnswerOf<SideName, 'GET /admin/devices'>['devices'][number]
type Removal = AnswerOf<SideName, 'GET /admin/devices/removed'>['removed'][number]

const mostRemovals = 100

export const devicesPage: Page = {
  path: '/devices',
  title: 'Devices',
  needs: 'GET /admin/devices',
  letter: 'd',
  async still(visit) {
    const { form, person } = askPerson(visit, '/devices')
    if (!person) return html`<h1>Devices</h1>!${form}`
    const [devices, removed] = await Promise.all([
      visit.call('GET /admin/devices', { query: { brand: person.brand, user_id: person.user } }),
      readRemoved(visit, person),
    ])
    return html`<h1>Devices</h1>!${form}
<h2>Linked devices</h2>!${devices.devices.length === 0 ? empty('This user has no device: pushes fail with the reason no_device.') : deviceTable(devices.devices)}
!${removed.length === 0 ? '' : removedOf(visit, person, removed)}`
  },
}

function deviceTable(devices: readonly Device[]): Html {
  const rows = devices.map(
    ({ kind, token, app, environment, channel, origin, linked_at: at, device }) =>
      html`<tr><th scope="row">${kind}</th><td class="mono"><bdi>${token}</bdi></td><td><bdi>${[app, environment].filter(Boolean).join(', ') || '–'}</bdi></td><td>${channel}</td><td>${origin}</td><td>!${moment(at)}</td><td class="mono" title="${device}">${device.slice(0, 12)}…</td></tr>`,
  )
  return table('Linked devices', ['Kind', 'Token begins', 'App', 'Linked by', 'Origin', 'Linked', 'Device'], rows)
}

async function readRemoved(visit: Visit, { brand, user }: Person): Promise<readonly Removal[]> {
  const query = { brand, user_id: user, limit: mostRemovals }
  return (await visit.call('GET /admin/devices/removed', { query })).removed
}

function removedOf(visit: Visit, person: Person, removed: readonly Removal[]): Html {
  const rows = removed
    .toReversed()
    .map(
      ({ kind, why, linked_at: linked, removed_at: at, restored_at: restored, restorable }) =>
        html`<tr><th scope="row">${kind ?? '–'}</th><td>!${moment(at)}</td><td>!${moment(linked)}</td><td>!${restored === undefined ? html`${restorable ? 'can be restored' : 'was linked or unlinked since'}` : html`restored !${moment(restored)}`}</td><td class="wide">${why}</td></tr>`,
    )
  const count = removed.filter(({ restorable }) => restorable).length
  return html`<h2>Removed devices</h2>!${table('Removed devices', ['Kind', 'Removed', 'Linked', 'State', 'Why'], rows)}
!${count === 0 ? '' : offers(visit, [[restore.needs, visit.link(restore.path, { ...person }), restore.title]])}`
}

const restore: Act = {
  path: '/devices/restore',
  needs: 'POST /admin/devices/restore',
  title: 'Restore devices',
  async ask(visit) {
    const { brand, user } = userIn(visit.query)
    const count = (await readRemoved(visit, { brand, user })).filter(({ restorable }) => restorable).length
    return {
      effect: html`${phraseCount(count, 'device')} of user <bdi>${user}</bdi> of brand ${brand} ${count === 1 ? 'is' : 'are'} linked again, as before the removal. Pushes are sent to ${count === 1 ? 'it' : 'them'} again.`,
      fields: reasonField(visit, this.needs),
      none: count === 0 && 'No removed device of this user can be restored.',
      back: visit.link('/devices', { brand, user }),
    }
  },
  async act(visit, fields) {
    const { brand, user } = userIn(fields)
    const body = { brand, user_id: user, ...reasonOf(visit, this.needs, fields) }
    const { restored } = await visit.call('POST /admin/devices/restore', { body })
    return { to: visit.link('/devices', { brand, user }), count: restored }
  },
  done: (count) => `${phraseCount(count, 'device')} restored.`,
}

/** @throws HttpError 400 if the address names no user */
function userIn({ brand, user }: Readonly<Record<string, string>>): Person {
  if (brand === undefined || user === undefined)
    throw new HttpError(400, 'no user is named: open the page of the devices')
  return { brand, user }
}

export const deviceActs: readonly Act[] = [restore]
