// All pages of the console and all acts. Each is one file in pages/.

import type { Act, Page } from './page.ts'
import { lanesPage } from './pages/lanes.ts'
import { overviewPage } from './pages/overview.ts'

/** In the order of the navigation. */
export const pages: readonly Page[] = [overviewPage, lanesPage]

export const acts: readonly Act[] = []
