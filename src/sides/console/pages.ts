// All pages of the console and all acts. Each is one file in pages/.

import type { Act, Page } from './page.ts'
import { auditPage } from './pages/audit.ts'
import { conversionListPage, conversionsPage } from './pages/conversions.ts'
import { deviceActs, devicesPage } from './pages/devices.ts'
import { failedActs, failedPage } from './pages/failed.ts'
import { lanePage } from './pages/lane.ts'
import { laneActs } from './pages/lane-acts.ts'
import { lanesPage } from './pages/lanes.ts'
import { messagePage } from './pages/message.ts'
import { messagesPage } from './pages/messages.ts'
import { overviewPage } from './pages/overview.ts'
import { erasurePage, exportPage, personActs, personPage } from './pages/person.ts'
import { pushActs, pushPage } from './pages/push.ts'
import { discrepanciesPage, reconciliationPage, runPage } from './pages/reconciliation.ts'
import { reconciliationActs } from './pages/reconciliation-acts.ts'
import { settingsActs, settingsPage } from './pages/settings.ts'

/** In the order of the navigation. */
export const pages: readonly Page[] = [
  overviewPage,
  lanesPage,
  lanePage,
  messagesPage,
  messagePage,
  failedPage,
  pushPage,
  devicesPage,
  personPage,
  exportPage,
  erasurePage,
  conversionsPage,
  conversionListPage,
  reconciliationPage,
  runPage,
  discrepanciesPage,
  auditPage,
  settingsPage,
]

export const acts: readonly Act[] = [
  ...laneActs,
  ...failedActs,
  ...pushActs,
  ...deviceActs,
  ...personActs,
  ...reconciliationActs,
  ...settingsActs,
]

/** The page of the navigation to which a page or an act belongs. */
export function sectionOf(path: string): string {
  const page = pages.find((each) => each.path === path)
  return page ? (page.within ?? page.path) : path.slice(0, path.lastIndexOf('/'))
}
