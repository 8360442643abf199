// The routes of the conversions: GET /admin/conversions, as JSON and as CSV.

import { type Static, Type } from 'typebox'
import { brandNumber, closed, nullable, textOf, timeText, whole } from '../contract/documents/described.ts'
import { channels } from '../contract/endpoints.ts'
import type { AccessKey } from '../http/access.ts'
import { type AdminRoute, adminRoute } from '../http/admin-access.ts'
import { csvLine } from '../http/csv.ts'
import { HttpError } from '../http/http-error.ts'
import { isLaneVisible } from '../queue/lane-visibility.ts'
import { dayOf } from '../queue/outcome-counts.ts'
import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import { brandOf, channelOf } from './parked.ts'
import { type Conversions, groupings, readConversions } from './report.ts'

const id = (what: string) => Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$', description: `Only this ${what}.` }))

const readDay = (text: string): number | undefined => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : dayOf(ms)
}
const day = (description: string) => Type.Optional(timeText(readDay, `${description}, as YYYY-MM-DD (UTC).`))

const Query = Type.Object(
  {
    by: Type.Optional(
      Type.Enum([...groupings], {
        description: 'The identifier that a group has in common. Default: activity.',
        default: 'activity',
      }),
    ),
    brand: Type.Optional(brandNumber('Only this brand.')),
    channel: Type.Optional(Type.Enum([...channels], { description: 'Only this channel.' })),
    activity: id('activity_id'),
    action: id('action_id'),
    action_group: id('action_group_id'),
    since: day('The first day on which the messages were enqueued'),
    until: day('The last day on which the messages were enqueued'),
  },
  closed,
)
type Query = Static<typeof Query>

const Group = Type.Object({
  lane: Type.String(),
  activity: nullable(Type.String({ description: 'activity_id' })),
  action: nullable(Type.String({ description: 'action_id' })),
  action_group: nullable(Type.String({ description: 'action_group_id' })),
  sent: whole('Messages that the operator accepted'),
  delivered: whole('Messages reported as delivered, displayed or clicked'),
  displayed: whole('Messages reported as displayed, opened, dismissed, archived or clicked'),
  clicked: whole('Messages reported as clicked'),
  failed: whole('Messages that the operator refused, and messages reported as failed or expired and never delivered'),
})

export interface ConversionRoutes {
  /** The names of the lanes of messages. */
  readonly lanes: readonly string[]
  readonly databaseOf: (brand: string) => Database
}

export function conversionRoutes({ lanes, databaseOf }: ConversionRoutes): readonly AdminRoute[] {
  async function read(query: Query, key: AccessKey): Promise<readonly Conversions[]> {
    const { by = 'activity', brand, channel, since, until, ...filter } = query
    if (brand !== undefined && key.brands?.includes(brand) === false)
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
    const days = { since: readDay(since ?? '') ?? 0, until: readDay(until ?? '') ?? dayOf(clock.now()) + 1 }
    const groups = await Promise.all(
      selected.map((lane) => readConversions(databaseOf(brandOf(lane)), lane, days, by, filter)),
    )
    return groups.flat()
  }

  return [
    adminRoute({
      method: 'GET',
      url: '/admin/conversions',
      scope: 'read',
      says: 'Counts the messages that were sent, delivered, displayed, clicked and failed, by activity, action or action group.',
      query: Query,
      gives: Type.Object({ groups: Type.Array(Group) }),
      async handler({ query }, key) {
        return { groups: await read(query, key) }
      },
    }),
    adminRoute({
      method: 'GET',
      url: '/admin/conversions.csv',
      scope: 'read',
      says: 'Returns the same counts as a file.',
      query: Query,
      files: textOf('text/csv', 'A header line, then one group per line'),
      async handler({ query }, key, reply) {
        const groups = await read(query, key)
        return reply
          .header('content-type', 'text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="conversions.csv"')
          .send(writeConversionsCsv(groups))
      },
    }),
  ]
}

const columns = [
  'lane',
  'activity',
  'action_group',
  'action',
  'sent',
  'delivered',
  'displayed',
  'clicked',
  'failed',
] as const satisfies readonly (keyof Conversions)[]

function writeConversionsCsv(groups: readonly Conversions[]): string {
  return [csvLine([...columns]), ...groups.map((group) => csvLine(columns.map((name) => group[name])))].join('')
}
