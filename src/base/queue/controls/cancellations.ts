// The table `cancellations`: requests to cancel what waits in a lane. One row for each request and lane. The owner of the lane
// cancels the matching items itself (cancel-sweep.ts), so no cancellation races with a call.

import { refuseFailed } from '../../../contract/refusals.ts'
import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import { present } from '../../runtime/present.ts'
import type { Database, Op } from '../../store/database.ts'
import { forgetOld } from '../../store/forget-old.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { readMessageParts, readUserId } from '../item-keys.ts'
import type { BufferedItem } from '../lane/buffered-item.ts'
import { failedItem } from '../lane/classify.ts'
import type { CallResult } from '../lane/settle-writer.ts'
import { controlTopic } from '../wake-topics.ts'
import type { Cancellation, NewCancellation, WaitingSelection } from './waiting-selection.ts'

/** Whether the selection matches this item. */
export function isSelected(
  { activity, action, user, enqueuedAfter, enqueuedBefore }: WaitingSelection,
  { key, enqueuedAt }: Pick<BufferedItem, 'key' | 'enqueuedAt'>,
): boolean {
  if (enqueuedAfter !== undefined && enqueuedAt < enqueuedAfter) return false
  if (enqueuedBefore !== undefined && enqueuedAt >= enqueuedBefore) return false
  if (user !== undefined && readUserId(key) !== user) return false
  if (activity === undefined && action === undefined) return true
  const parts = readMessageParts(key)
  if (!parts) return false
  return (
    (activity === undefined || parts.activityId === activity) && (action === undefined || parts.actionId === action)
  )
}

/** The first of these cancellations that cancels the item. */
export const findCancellation = (
  cancellations: readonly Cancellation[],
  item: Pick<BufferedItem, 'seq' | 'key' | 'enqueuedAt'>,
): Cancellation | undefined => cancellations.find((each) => item.seq <= each.lastSeq && isSelected(each, item))

const insertCancellations = statement('insert_cancellations', {
  id: 'text',
  lane: 'text',
  activity: 'text',
  action: 'text',
  user_id: 'text',
  enqueued_after: 'bigint',
  enqueued_before: 'bigint',
  cancelled_by: 'text',
  reason: 'text',
  at: 'bigint',
})`
  insert into cancellations (id, lane, activity, action, user_id, enqueued_after, enqueued_before, last_seq, cancelled_by,
    reason, at, cancelled)
  select r.id, r.lane, r.activity, r.action, r.user_id, r.enqueued_after, r.enqueued_before,
    (select coalesce(max(i.seq), 0) from items i), r.cancelled_by, r.reason, r.at, 0
  from ${rows} r where true on conflict (id, lane) do nothing`

/** Stores cancellations and wakes the owners of their lanes. */
export async function cancelWaiting(
  database: Database,
  cancellations: readonly NewCancellation[],
  also: readonly Op[] = [],
): Promise<void> {
  const now = clock.now()
  await database.commit([
    op(
      insertCancellations,
      cancellations,
      ({ id, lane, activity, action, user, enqueuedAfter, enqueuedBefore, by, reason }) => [
        id,
        lane,
        activity ?? null,
        action ?? null,
        user ?? null,
        enqueuedAfter ?? null,
        enqueuedBefore ?? null,
        by,
        reason,
        now,
      ],
    ),
    ...cancellations.map(({ lane }) => database.wake(controlTopic(lane))),
    ...also,
  ])
}

/** Absent members are null. */
type CancellationRow = { readonly [Name in keyof Cancellation]-?: Cancellation[Name] | null }

const columns = `c.id, c.lane, c.activity, c.action, c.user_id as "user", c.enqueued_after as "enqueuedAfter",
  c.enqueued_before as "enqueuedBefore", c.last_seq as "lastSeq", c.cancelled_by as "by", c.reason, c.at, c.cancelled,
  c.done_at as "doneAt"`

const selectOpen = statement<CancellationRow>('open_cancellations', { lane: 'text' })`
  select ${columns} from ${rows} r join cancellations c on c.lane = r.lane and c.done_at is null order by c.at, c.id`

const selectLatest = statement<CancellationRow>('latest_cancellations', { lane: 'text', max_rows: 'bigint' })`
  select ${columns} from ${rows} r join cancellations c on c.lane = r.lane
  order by c.at desc, c.id desc limit (select max(r.max_rows) from ${rows} r)`

/** The cancellations on which the owner of the lane still works, the oldest first. */
export const readOpenCancellations = async (database: Database, lane: string): Promise<readonly Cancellation[]> =>
  (await database.read(op(selectOpen, [[lane]]))).map((row) => present(row) as Cancellation)

/** The cancellations of these lanes, the newest first. */
export const listCancellations = async (
  database: Database,
  lanes: readonly string[],
  limit: number,
): Promise<readonly Cancellation[]> =>
  (await database.readMerged(op(selectLatest, lanes, (lane) => [lane, limit]))).map(
    (row) => present(row) as Cancellation,
  )

const addCancelled = statement('count_cancelled', { id: 'text', lane: 'text', items: 'bigint' })`
  update cancellations set cancelled = cancellations.cancelled + s.items
  from (select r.id, r.lane, sum(r.items) as items from ${rows} r group by r.id, r.lane) s
  where cancellations.id = s.id and cancellations.lane = s.lane`

/** What is committed for items that are cancelled. */
export function cancelledResult({ id, lane, by, reason }: Cancellation, items: readonly BufferedItem[]): CallResult {
  emit('items.cancelled', { lane, items: items.length, by })
  const outcome = refuseFailed('cancelled', { error: `cancelled by ${by}: ${reason}` })
  return {
    final: items.map((item) => failedItem(item, outcome)),
    postponed: [],
    writes: [op(addCancelled, [[id, lane, items.length]])],
  }
}

const setDone = statement('end_cancellation', { id: 'text', lane: 'text', at: 'bigint' })`
  update cancellations set done_at = r.at from ${rows} r where cancellations.id = r.id and cancellations.lane = r.lane`

export async function endCancellation(database: Database, { id, lane }: Cancellation): Promise<void> {
  await database.commit([op(setDone, [[id, lane, clock.now()]])])
}

/** Forgets the cancellations that are done. */
export const forgetCancellations = forgetOld({ table: 'cancellations', key: 'id, lane', age: 'done_at', unit: 'ms' })
