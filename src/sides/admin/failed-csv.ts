import type { Columns } from '../../base/http/csv.ts'
import { readMessageParts } from '../../base/queue/item-keys.ts'
import type { FailedActions, FailedFilter, FailedItem } from '../../base/queue/queue.ts'

const pageItems = 500

/** The matching items page by page, in constant memory. */
export async function* readAllFailed(
  queue: FailedActions,
  filter: FailedFilter,
): AsyncGenerator<readonly FailedItem[]> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<FailedActions['listFailed']>> = await queue.listFailed(filter, {
      after,
      limit: pageItems,
    })
    yield page.items
    after = page.next
  }
}

/** Without the text of the message. */
export const failedColumns: Columns<FailedItem> = {
  seq: ({ seq }) => seq,
  lane: ({ lane }) => lane,
  id: ({ key }) => readMessageParts(key)?.id ?? null,
  activity: ({ activity }) => activity,
  action: ({ action }) => action,
  user: ({ user }) => user,
  at: ({ at }) => new Date(at).toISOString(),
  reason: ({ reason }) => reason,
  error: ({ error }) => error,
  rule: ({ rule }) => rule,
  answer: ({ answer }) => answer,
  attempts: ({ attempts }) => attempts,
  replays: ({ replays }) => replays,
  state: ({ state }) => state,
  decided_by: ({ decidedBy }) => decidedBy,
  decided_at: ({ decidedAt }) => (decidedAt === null ? null : new Date(decidedAt).toISOString()),
}
