// The statuses of messages, as /admin shows them.

import { type Static, Type } from 'typebox'
import { type LaneRef, laneRefKey } from '../../base/queue/find-refs.ts'
import type { Database } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { type MessageStatus, messageStatuses, statusSummary } from '../../contract/status.ts'
import { rfc3339 } from '../../contract/timestamp.ts'
import { type ReportedStatus, selectReported } from './tables.ts'

export const ShownStatus = Type.Object({
  status: Type.Enum([...messageStatuses]),
  at: Type.String({ description: 'Its first time, RFC 3339' }),
  ref: Type.String({ description: 'push_id or site_notification_id' }),
  meta: Type.Optional(Type.String({ description: 'The meta of the message, as JSON text' })),
})

/** A message, with all its identifiers. */
export interface Identified {
  readonly lane: string
  readonly refs: readonly string[]
}

/** The statuses of a message, with their summary. */
export interface ShownStatuses {
  readonly status?: MessageStatus
  readonly statuses?: readonly Static<typeof ShownStatus>[]
}

/**
 * Reads the statuses of these messages.
 *
 * @returns for each message its statuses in the order of their times, and the summary of its last identifier that has any; empty
 * if none was reported
 */
export async function readStatuses(
  databaseOf: (lane: string) => Database,
  messages: readonly Identified[],
  { withMeta }: { readonly withMeta: boolean },
): Promise<readonly ShownStatuses[]> {
  const refs = messages.flatMap(({ lane, refs: own }) => own.map((ref): LaneRef => ({ lane, ref })))
  const byDatabase = Map.groupBy(new Map(refs.map((each) => [laneRefKey(each), each])).values(), ({ lane }) =>
    databaseOf(lane),
  )
  const rows = await Promise.all(
    [...byDatabase].map(([database, own]) => database.read(op(selectReported, own, ({ lane, ref }) => [lane, ref]))),
  )
  const byRef = Map.groupBy(rows.flat(), laneRefKey)
  return messages.map(({ lane, refs: own }) => {
    const reported = own.map((ref) => byRef.get(laneRefKey({ lane, ref })) ?? []).filter(({ length }) => length > 0)
    const last = reported.at(-1)
    if (last === undefined) return {}
    // The meta is that of the message (row 25). Our own delivery stores it once, with the first status.
    const metaOf = new Map(reported.flat().flatMap(({ ref, meta }) => (meta === null ? [] : [[ref, meta] as const])))
    const status = statusSummary(Object.fromEntries(last.map((each) => [each.status, each.at])))
    return {
      ...(status && { status }),
      statuses: reported
        .flat()
        .sort(byTime)
        .map(({ status: each, at, ref, meta: own }) => {
          const meta = own ?? metaOf.get(ref)
          return { status: each, at: rfc3339(at), ref, ...(withMeta && meta !== undefined && { meta }) }
        }),
    }
  })
}

const byTime = (a: ReportedStatus, b: ReportedStatus): number =>
  a.at === b.at ? messageStatuses.indexOf(a.status) - messageStatuses.indexOf(b.status) : a.at < b.at ? -1 : 1
