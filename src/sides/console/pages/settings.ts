// How is it set? The settings in effect with their sources, and the reload of the configuration.

import type { AnswerOf, SideName } from '../../admin/calls.ts'
import { empty, filterForm, type Html, html, input, moment, table } from '../html.ts'
import type { Act, Page, Visit } from '../page.ts'
import { offers, reasonField, reasonOf } from './act-fields.ts'

type State = AnswerOf<SideName, 'GET /admin/settings'>
type Setting = State['settings'][number]

export const settingsPage: Page = {
  path: '/settings',
  title: 'Settings',
  needs: 'GET /admin/settings',
  letter: 's',
  async still(visit) {
    const { find = '', only } = visit.query
    const { settings, reload } = await visit.call('GET /admin/settings')
    const waiting = settings.filter(({ after_restart: next }) => next !== undefined)
    const shown = settings
      .filter(({ source }) => only !== 'written' || source !== 'default')
      .filter(({ setting, value, source }) => `${setting} ${value} ${source}`.includes(find))
    return html`<h1>Settings</h1>
<p class="lead">The settings of this process, each with the place where it was written. Secrets are hidden.</p>
!${reload ? reloadOf(reload) : ''}
!${offers(visit, [[reloadAct.needs, visit.link(reloadAct.path), reloadAct.title]])}
!${waiting.length === 0 ? '' : html`<h2>Waiting for a restart</h2>!${settingTable('Settings that wait for a restart', waiting)}`}
!${filterForm(visit.link('/settings'), [
      input('Part of the name, the value or the source', 'find', find, html`spellcheck="false"`),
      html`<label class="box"><input type="checkbox" name="only" value="written" !${only === 'written' ? 'checked' : ''}> Without defaults</label>`,
    ])}
!${shown.length === 0 ? empty('No setting matches the filter.') : settingTable('Settings in effect', shown)}`
  },
}

function reloadOf({ at, applied = [], restart = [], error }: NonNullable<State['reload']>): Html {
  if (error !== undefined)
    return html`<p class="note bad">The latest reload !${moment(at)} changed nothing.</p><pre tabindex="0" role="region" aria-label="Why nothing was changed">${error}</pre>`
  const names = (all: readonly string[]): Html => html`!${all.map((each) => html` <code>${each}</code>`)}`
  return html`<p class="lead">Latest reload !${moment(at)}. !${applied.length === 0 ? 'Nothing was applied.' : html`Applied:!${names(applied)}.`} !${restart.length === 0 ? '' : html`Waiting for a restart:!${names(restart)}.`}</p>`
}

function settingTable(label: string, settings: readonly Setting[]): Html {
  const rows = settings.map(
    ({ setting, value, source, after_restart: next }) =>
      html`<tr><th scope="row" class="mono">${setting}</th><td class="wide"><bdi>${value}</bdi>!${next === undefined ? '' : html`<br><span class="badge warn">after a restart</span> <bdi>${next}</bdi>`}</td><td class="!${source === 'default' ? 'muted' : 'mono'}">${source}</td></tr>`,
  )
  return table(label, ['Setting', 'Value', 'Source'], rows)
}

const reloadAct: Act = {
  path: '/settings/reload',
  needs: 'POST /admin/reload',
  title: 'Reload',
  async ask(visit: Visit) {
    return {
      effect: html`This process reads its configuration again, with the files of its variables. The changes apply at once, but for the addresses and the store: the page names the settings that wait for a restart. A configuration that is not valid changes nothing.`,
      fields: reasonField(visit, this.needs),
      back: visit.link('/settings'),
    }
  },
  async act(visit, fields) {
    const { applied } = await visit.call('POST /admin/reload', { body: reasonOf(visit, this.needs, fields) })
    return { to: visit.link('/settings'), count: applied.length }
  },
  done: (count) =>
    count === 0 ? 'The configuration was read; nothing was applied.' : 'The configuration was applied.',
}

export const settingsActs: readonly Act[] = [reloadAct]
