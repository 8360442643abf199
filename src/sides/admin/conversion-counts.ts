// The routes that count messages by their delivery statuses: GET /admin/conversions, as JSON and as CSV.

import { type Static, Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { columnsOf } from '../../base/http/csv.ts'
import { nullable, text, textOf, whole } from '../../contract/documents/described.ts'
import { type Conversions, readConversions } from '../../subjects/conversions/report.ts'
import { type ConversionRoutes, filterOf, select } from './conversion-selection.ts'
import { ConversionCounts } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendCsv } from './send-file.ts'

type Query = Static<typeof ConversionCounts>

const Group = Type.Object({
  lane: Type.String(),
  activity: nullable(text('activity_id')),
  action: nullable(text('action_id')),
  action_group: nullable(text('action_group_id')),
  sent: whole('Messages that the operator accepted'),
  delivered: whole('Messages reported as delivered, displayed or clicked'),
  displayed: whole('Messages reported as displayed, opened, dismissed, archived or clicked'),
  clicked: whole('Messages reported as clicked'),
  failed: whole('Messages that the operator refused, and messages reported as failed or expired and never delivered'),
})

export function conversionCountRoutes(routes: ConversionRoutes) {
  async function read(query: Query, key: AccessKey): Promise<readonly Conversions[]> {
    const { by = 'activity' } = query
    const range = select(routes, query, key)
    const groups = await Promise.all(
      range.lanes.map(({ name, database }) => readConversions(database, name, range, by, filterOf(query))),
    )
    return groups.flat()
  }

  return {
    count: adminRoute({
      says: 'Counts the messages that were sent, delivered, displayed, clicked and failed, by activity, action or action group.',
      query: ConversionCounts,
      gives: Type.Object({ groups: Type.Array(Group) }),
      async handler({ query }, key) {
        return { groups: await read(query, key) }
      },
    }),
    exportCounts: adminRoute({
      says: 'Returns the same counts as a file.',
      query: ConversionCounts,
      files: textOf('text/csv', 'A header line, then one group per line'),
      async handler({ query }, key, reply) {
        return sendCsv(reply, 'conversions', columns, [await read(query, key)])
      },
    }),
  }
}

const columns = columnsOf([
  'lane',
  'activity',
  'action_group',
  'action',
  'sent',
  'delivered',
  'displayed',
  'clicked',
  'failed',
])
