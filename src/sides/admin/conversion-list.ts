// The routes that list messages with their statuses: GET /admin/conversions/messages, as JSON and as CSV.

import { type Static, Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { type Columns, columnsOf } from '../../base/http/csv.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { closedObject, limitOf, nullable, text, textOf } from '../../contract/documents/described.ts'
import type { MessageStatus } from '../../contract/status.ts'
import {
  type Conversion,
  type ListFilter,
  type Position,
  readConversionList,
  type SelectedRange,
} from '../../subjects/conversions/listed.ts'
import { ShownStatus } from '../../subjects/conversions/shown-statuses.ts'
import { reachedStages } from '../../subjects/conversions/stage.ts'
import { type ConversionRoutes, filterOf, select } from './conversion-selection.ts'
import { ConversionList } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendCsv } from './send-file.ts'

type ListQuery = Static<typeof ConversionList>

const mostListed = 1_000
/** A filter that matches few conversions must not make one request read all of them. */
const mostPagesRead = 20

const Listed = Type.Object({
  lane: Type.String(),
  ref: text('push_id or site_notification_id'),
  activity: nullable(text('activity_id')),
  action: nullable(text('action_id')),
  action_group: nullable(text('action_group_id')),
  stage: Type.Enum(['accepted', ...reachedStages], { description: 'The highest stage' }),
  statuses: Type.Array(ShownStatus),
})

export function conversionListRoutes(routes: ConversionRoutes) {
  async function list(
    query: ListQuery,
    key: AccessKey,
    limit: number,
    cursor: string | undefined,
  ): Promise<{ conversions: readonly Conversion[]; next?: string }> {
    const conversions: Conversion[] = []
    let pages = 0
    for await (const page of readConversionList(select(routes, query, key), listFilter(query), readCursor(cursor))) {
      const space = limit - conversions.length
      conversions.push(...page.conversions.slice(0, space))
      const last = conversions.at(-1)
      if (page.conversions.length >= space && last)
        return { conversions, next: writeCursor({ ...page.position, ref: last.ref }) }
      if (++pages === mostPagesRead) return { conversions, next: writeCursor(page.position) }
    }
    return { conversions }
  }

  return {
    list: adminRoute({
      says: 'Lists the messages that have a delivery status, with each status and its meta.',
      query: closedObject({
        ...ConversionList.properties,
        limit: Type.Optional(limitOf(mostListed)),
        after: Type.Optional(text('The cursor `next` of the previous answer.')),
      }),
      gives: Type.Object({
        conversions: Type.Array(Listed),
        next: Type.Optional(
          text('The cursor of the next page; absent on the last page. A page before it may be short, or empty.'),
        ),
      }),
      refuses: { 400: 'The cursor cannot be read.' },
      handler({ query: { limit = 100, after, ...query } }, key) {
        return list(query, key, limit, after)
      },
    }),
    exportList: adminRoute({
      says: 'Returns the same messages as a file.',
      query: ConversionList,
      files: textOf('text/csv', 'A header line, then one message per line'),
      async handler({ query }, key, reply) {
        const pages = readConversions(select(routes, query, key), listFilter(query))
        return sendCsv(reply, 'converted-messages', columns, pages)
      },
    }),
  }
}

const listFilter = ({ stage, ...selection }: ListQuery): ListFilter => ({
  ...filterOf(selection),
  ...(stage !== undefined && { stage }),
})

const writeCursor = ({ day, lane, ref }: Position): string => `${day} ${lane} ${ref}`

function readCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const [, day, lane, ref] = /^(\d{1,7}) (\S+) (.+)$/s.exec(cursor) ?? []
  if (day === undefined || lane === undefined || ref === undefined)
    throw new HttpError(400, 'the cursor cannot be read: give the `next` of the previous answer')
  return { day: Number(day), lane, ref }
}

const timeOf =
  (name: MessageStatus) =>
  ({ statuses }: Conversion): string | null =>
    statuses.find(({ status }) => status === name)?.at ?? null

/** The first time of some statuses, and the meta of the last status. */
const columns: Columns<Conversion> = {
  ...columnsOf(['lane', 'ref', 'activity', 'action_group', 'action', 'stage']),
  delivered_at: timeOf('delivered'),
  displayed_at: timeOf('displayed'),
  clicked_at: timeOf('clicked'),
  failed_at: timeOf('failed'),
  meta: ({ statuses }) => statuses.findLast(({ meta }) => meta !== undefined)?.meta ?? null,
}

async function* readConversions(range: SelectedRange, filter: ListFilter): AsyncGenerator<readonly Conversion[]> {
  for await (const { conversions } of readConversionList(range, filter)) yield conversions
}
