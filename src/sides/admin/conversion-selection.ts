// The parameters by which /admin/conversions selects lanes, days and messages.

import type { AccessKey } from '../../base/http/access.ts'
import { brandOf, channelOf } from '../../base/queue/lane-name.ts'
import { clock } from '../../base/runtime/clock.ts'
import { present } from '../../base/runtime/present.ts'
import type { Database } from '../../base/store/database.ts'
import { dayOf } from '../../base/store/forget-old.ts'
import type { SelectedRange } from '../../subjects/conversions/listed.ts'
import type { ConversionFilter } from '../../subjects/conversions/report.ts'
import { readDay, type Selection } from './requests.ts'
import { demandVisible, isLaneVisible } from './visibility.ts'

export interface ConversionRoutes {
  /** The names of the lanes of messages. */
  readonly lanes: () => readonly string[]
  readonly databaseOf: (brand: string) => Database
}

/** @throws HttpError 403 if the key may not see the brand */
export function select(
  { lanes, databaseOf }: ConversionRoutes,
  { brand, channel, since, until }: Selection,
  key: AccessKey,
): SelectedRange {
  if (brand !== undefined) demandVisible(key, brand)
  const selected = lanes().filter(
    (lane) =>
      isLaneVisible(key, lane) &&
      (brand === undefined || brandOf(lane) === brand) &&
      (channel === undefined || channelOf(lane) === channel),
  )
  return {
    lanes: selected.map((name) => ({ name, database: databaseOf(brandOf(name)) })),
    since: dayOf(readDay(since ?? '') ?? 0),
    until: until === undefined ? dayOf(clock.now()) + 1 : dayOf(readDay(until) as number),
  }
}

/** The members that select messages of a lane. */
export const filterOf = ({ activity, action, action_group }: Selection): ConversionFilter =>
  present({ activity, action, action_group })
