// What do the lanes do?

import { empty, html } from '../html.ts'
import type { Page } from '../page.ts'
import { laneTable, missingLanes } from './lane-facts.ts'

const none = {
  platform: 'There are no lanes. Add one to platform.lanes, or with the command bellwire lanes add.',
  operator: 'There are no lanes. An operator has lanes for the device links and statuses that it sends to platforms.',
}

export const lanesPage: Page = {
  path: '/lanes',
  title: 'Lanes',
  needs: 'GET /admin/lanes',
  letter: 'l',
  async live(visit) {
    const { lanes, unavailable = [] } = await visit.call('GET /admin/lanes')
    return html`<h1>Lanes</h1>!${missingLanes(unavailable)}!${lanes.length === 0 ? empty(none[visit.side]) : laneTable(visit, lanes)}`
  },
}
