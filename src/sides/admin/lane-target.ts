// The lanes that a request of /admin names.

import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http.ts'
import { brandScope } from '../../base/queue/controls/controls.ts'
import type { LaneService, Lanes } from '../../base/queue/queue.ts'
import { isLaneVisible } from './visibility.ts'

export interface LaneAdmin {
  readonly queue: Lanes
  /** The lanes that are served now. */
  readonly lanes: () => readonly LaneService[]
}

export const noSuchLane = 'There is no such lane, or this key may not see it.'
interface Target {
  readonly lane?: string
  readonly brand?: string
}

/** The scope that a request names, and its lanes. */
export function findTargets(
  lanes: LaneAdmin['lanes'],
  { lane, brand }: Target,
  key: AccessKey,
): { readonly scope: string; readonly targets: readonly LaneService[] } {
  if ((lane === undefined) === (brand === undefined))
    throw new HttpError(400, 'send either lane (one lane) or brand (all lanes of the brand)')
  const scope = lane ?? brandScope(brand as string)
  const targets = lanes().filter(
    ({ name }) => isLaneVisible(key, name) && (lane === undefined ? name.startsWith(scope) : name === lane),
  )
  if (targets.length > 0) return { scope, targets }
  const named = lane === undefined ? `brand ${brand} has no lane` : `there is no lane ${JSON.stringify(lane)}`
  throw new HttpError(404, `${named}: GET /admin/lanes lists them`)
}
