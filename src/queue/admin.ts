// The routes of the queue under /admin, on both sides: lanes, and Failed Actions.

import type { AdminRoute } from '../http/admin-access.ts'
import { failedAdmin } from './failed-admin.ts'
import { laneAdmin } from './lane-admin.ts'
import type { LaneAdmin } from './lane-target.ts'

export { isLaneVisible } from './lane-visibility.ts'

export const queueAdmin = (parts: LaneAdmin): readonly AdminRoute[] => [
  ...failedAdmin(parts.queue),
  ...laneAdmin(parts),
]
