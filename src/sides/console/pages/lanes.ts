// What do the lanes do?

import { empty, html } from '../html.ts'
import type { Page } from '../page.ts'
import { laneTable } from './lane-facts.ts'

export const lanesPage: Page = {
  path: '/lanes',
  title: 'Lanes',
  needs: 'GET /admin/lanes',
  letter: 'l',
  async live(visit) {
    const { lanes, unavailable = [] } = await visit.call('GET /admin/lanes')
    const missing = unavailable.map(
      (name) => html`<p class="note bad">The store of lane ${name} does not answer now.</p>`,
    )
    return html`<h1>Lanes</h1>!${missing}!${lanes.length === 0 ? empty('This side has no lanes.') : laneTable(visit, lanes)}`
  },
}
