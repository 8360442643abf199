// How many messages of each action were successful and failed, by the day on which they were enqueued. The counts are written with
// the outcomes: one row for each action in a batch, so a report never scans `items`.
//
// A message that failed, was replayed and then was delivered counts in both.

import { readSingle } from '../../contract/read-activity.ts'
import type { Database, Migration, Op } from '../store/database.ts'
import { dayOf, forgetOld } from '../store/forget-old.ts'
import { op, rows, statement } from '../store/statement.ts'
import { readMessageParts } from './item-keys.ts'
import type { Item } from './queue.ts'

export const outcomeCountMigration: Migration = {
  name: 'outcome-counts/1',
  statements: ({ engine, key }) => [
    `create table outcome_counts (
       lane ${key} not null, day bigint not null, activity ${key} not null, action ${key} not null, action_group ${key} not null,
       successful bigint not null, failed bigint not null,
       primary key (lane, day, activity, action))${engine === 'sqlite' ? ' without rowid' : ' with (fillfactor = 50)'}`,
  ],
  brandTables: [{ table: 'outcome_counts', lane: 'lane' }],
}

/** Stands for an id that the message does not have. Ids are numbers. */
export const noId = '-'
export const idOf = (text: string): string | null => (text === noId ? null : text)

// Before `settle`: a commit that is repeated because its result was lost finds its first run, and counts nothing twice.
const addCounts = statement('count_outcomes', {
  lane: 'text',
  day: 'bigint',
  activity: 'text',
  action: 'text',
  action_group: 'text',
  successful: 'bigint',
  failed: 'bigint',
  first: 'bigint',
})`
  insert into outcome_counts (lane, day, activity, action, action_group, successful, failed)
  select r.lane, r.day, r.activity, r.action, max(r.action_group), sum(r.successful), sum(r.failed) from ${rows} r
  where not exists (select 1 from settled s where s.lane = r.lane and s.first = r.first)
  group by r.lane, r.day, r.activity, r.action order by r.lane, r.day, r.activity, r.action
  on conflict (lane, day, activity, action) do update set successful = outcome_counts.successful + excluded.successful,
    failed = outcome_counts.failed + excluded.failed,
    action_group = case when excluded.action_group = '${noId}' then outcome_counts.action_group else excluded.action_group end`

/** `failed` is there if the item failed. */
interface Final {
  readonly item: Item
  readonly failed?: object
}

/** The operation that counts these items. Items that are no messages, such as device links, are not counted. */
export function outcomeCountsOp(lane: string, final: readonly Final[]): Op {
  const first = final.reduce((least, { item }) => Math.min(least, item.seq), Number.MAX_SAFE_INTEGER)
  const counts = new Map<string, { item: Item; activity: string; action: string; successful: number; failed: number }>()
  for (const { item, failed } of final) {
    const parts = readMessageParts(item.key)
    if (parts === undefined) continue
    const { activityId: activity, actionId: action } = parts
    const key = `${dayOf(item.enqueuedAt)} ${activity} ${action}`
    const count = counts.get(key) ?? {
      item,
      activity: activity ?? noId,
      action: action ?? noId,
      successful: 0,
      failed: 0,
    }
    count[failed ? 'failed' : 'successful']++
    counts.set(key, count)
  }
  return op(addCounts, [...counts.values()], ({ item, activity, action, successful, failed }) => [
    lane,
    dayOf(item.enqueuedAt),
    activity,
    action,
    actionGroupOf(item, `${lane} ${activity} ${action}`),
    successful,
    failed,
    first,
  ])
}

const groups = new Map<string, string>()
const mostGroups = 10_000

/** The action group is a label of the action, so the first message of an action is enough. */
function actionGroupOf({ text }: Item, action: string): string {
  const known = groups.get(action)
  if (known !== undefined) return known
  // A cancelled item was read without its text.
  if (text === '') return noId
  const read = readSingle(text)
  const group = ('invalid' in read ? null : read.actionGroupId) ?? noId
  if (groups.size >= mostGroups) groups.clear()
  groups.set(action, group)
  return group
}

export interface OutcomeCount {
  readonly activity: string
  readonly action: string
  readonly action_group: string
  readonly successful: number
  readonly failed: number
}

const selectCounts = statement<OutcomeCount>({
  name: 'select_outcome_counts',
  columns: { lane: 'text', since: 'bigint', until: 'bigint' },
  text: (rows) => `
    select c.activity, c.action, max(c.action_group) as action_group, sum(c.successful) as successful, sum(c.failed) as failed
    from ${rows} r join outcome_counts c on c.lane = r.lane and c.day between r.since and r.until
    group by c.activity, c.action`,
})

/** The counts of a lane for messages that were enqueued on these days, both included. */
export function readOutcomeCounts(
  database: Database,
  lane: string,
  since: number,
  until: number,
): Promise<readonly OutcomeCount[]> {
  return database.read(op(selectCounts, [[lane, since, until]]))
}

export const forgetOutcomeCounts = forgetOld({
  table: 'outcome_counts',
  key: 'lane, day, activity, action',
  age: 'day',
  unit: 'day',
})
