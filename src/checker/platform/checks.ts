// All checks of a platform, in the order of docs/checks.md.

import type { CheckGroup } from '../check.ts'
import { arrivalChecks } from './arrivals.ts'
import { batchChecks } from './batches.ts'
import { connectionChecks } from './connections.ts'
import type { Lane } from './lane.ts'
import { outcomeChecks } from './outcomes.ts'

export const platformChecks: readonly CheckGroup<Lane>[] = [
  { title: 'Requests and records', checks: arrivalChecks },
  { title: 'Batches', checks: batchChecks },
  { title: 'Outcomes', checks: outcomeChecks },
  { title: 'Lost answers', checks: connectionChecks },
]
