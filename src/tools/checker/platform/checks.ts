// All checks of a platform, in the order of docs/checks.md.

import type { CheckGroup } from '../check.ts'
import { arrivalChecks } from './arrivals.ts'
import { batchChecks } from './batches.ts'
import { connectionChecks } from './connections.ts'
import { failedActionChecks } from './failed-actions.ts'
import type { Lane } from './lane.ts'
import { linkChecks } from './links.ts'
import { outcomeChecks } from './outcomes.ts'
import { reconciliationChecks } from './reconciliation.ts'
import { restartChecks } from './restart.ts'
import { statusChecks } from './statuses.ts'
import { timingChecks } from './timing.ts'

export const platformChecks: readonly CheckGroup<Lane>[] = [
  { title: 'Requests and records', checks: arrivalChecks },
  { title: 'Batches', checks: batchChecks },
  { title: 'Outcomes', checks: outcomeChecks },
  { title: 'Failed Actions', checks: failedActionChecks },
  { title: 'Lost answers', checks: connectionChecks },
  { title: 'Pauses and redirects', checks: timingChecks },
  { title: 'Restart of the platform', checks: restartChecks },
  { title: 'Reconciliation of the platform', checks: reconciliationChecks },
  { title: 'Links of devices', checks: linkChecks },
  { title: 'Delivery statuses', checks: statusChecks },
]
