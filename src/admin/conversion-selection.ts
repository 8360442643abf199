// The parameters by which /admin/conversions selects lanes, days and messages.

import { type Static, Type } from 'typebox'
import { brandNumber, timeText } from '../contract/documents/described.ts'
import { channels } from '../contract/endpoints.ts'
import { readMoment } from '../contract/moment.ts'
import type { SelectedRange } from '../conversions/listed.ts'
import type { ConversionFilter } from '../conversions/report.ts'
import type { AccessKey } from '../http/access.ts'
import { HttpError } from '../http/http-error.ts'
import { brandOf, channelOf } from '../queue/lane-name.ts'
import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import { dayOf } from '../store/forget-old.ts'
import { isBrandVisible, isLaneVisible } from './visibility.ts'

const id = (what: string) => Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$', description: `Only this ${what}.` }))

const readDay = (written: string): number | undefined => {
  const ms = written.length === 10 ? readMoment(written) : undefined
  return ms === undefined ? undefined : dayOf(ms)
}
const day = (description: string) => Type.Optional(timeText(readDay, `${description}, as YYYY-MM-DD (UTC).`))

export const Selection = Type.Object({
  brand: Type.Optional(brandNumber('Only this brand.')),
  channel: Type.Optional(Type.Enum([...channels], { description: 'Only this channel.' })),
  activity: id('activity_id'),
  action: id('action_id'),
  action_group: id('action_group_id'),
  since: day('The first day on which the messages were enqueued'),
  until: day('The last day on which the messages were enqueued'),
})
export type Selection = Static<typeof Selection>

export interface ConversionRoutes {
  /** The names of the lanes of messages. */
  readonly lanes: readonly string[]
  readonly databaseOf: (brand: string) => Database
}

/** @throws HttpError 403 if the key may not see the brand */
export function select(
  { lanes, databaseOf }: ConversionRoutes,
  { brand, channel, since, until }: Selection,
  key: AccessKey,
): SelectedRange {
  if (brand !== undefined && !isBrandVisible(key, brand))
    throw new HttpError(
      403,
      `the key ${key.name} may not see brand ${brand}: add it to its brands in the configuration`,
    )
  const selected = lanes.filter(
    (lane) =>
      isLaneVisible(key, lane) &&
      (brand === undefined || brandOf(lane) === brand) &&
      (channel === undefined || channelOf(lane) === channel),
  )
  return {
    lanes: selected.map((name) => ({ name, database: databaseOf(brandOf(name)) })),
    since: readDay(since ?? '') ?? 0,
    until: readDay(until ?? '') ?? dayOf(clock.now()) + 1,
  }
}

/** The members that select messages of a lane. */
export function filterOf({ activity, action, action_group }: Selection): ConversionFilter {
  return {
    ...(activity !== undefined && { activity }),
    ...(action !== undefined && { action }),
    ...(action_group !== undefined && { action_group }),
  }
}
