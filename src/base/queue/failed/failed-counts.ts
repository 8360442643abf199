// The numbers of failed items by lane, activity, action, reason and state, kept by triggers: a summary never scans `failed`.

import { compare, compareIds } from '../../runtime/compare.ts'
import { counters, forgetZeroCounts } from '../../store/counters.ts'
import type { Database, Migration } from '../../store/database.ts'
import { op, statement } from '../../store/statement.ts'
import { idOf } from '../outcome-counts.ts'
import type { FailedGroup, GroupFilter } from '../queue.ts'
import { type FailedState, failedStates } from './failed-state.ts'

// The name of a count: '0 rejected 7 9' is state, reason, activity and action. '-' stands for a missing id, which is a number.
export const failedCountMigration: Migration = counters({
  table: 'failed_counts',
  counted: 'failed',
  scope: 'lane',
  counts: [
    {
      name: (row) =>
        `(${row}.state || ' ' || ${row}.reason || ' ' || coalesce(${row}.activity, '-') || ' ' || coalesce(${row}.action, '-'))`,
      n: () => '1',
      of: ['state', 'reason'],
    },
  ],
})

const selectCounts = statement<{ lane: string; name: string; items: number }>('count_failed', {})`
  select c.scope as lane, c.name, sum(c.n) as items from failed_counts c group by c.scope, c.name having sum(c.n) > 0`

/** Counts the matching items of each group, sorted by lane, activity, action and reason. */
export async function readFailedGroups(database: Database, filter: GroupFilter): Promise<readonly FailedGroup[]> {
  const groups = createGroups()
  for (const { lane, name, items } of await database.readMerged(op(selectCounts, [[]]))) {
    const { state, ...group } = readName(name)
    if (isMatch({ lane, state, ...group }, filter)) groups.add({ lane, ...group }, state, items)
  }
  return groups.sorted()
}

type GroupKey = Pick<FailedGroup, 'lane' | 'activity' | 'action' | 'reason'>

/** Adds up items by group. */
export function createGroups() {
  const groups = new Map<string, GroupKey & Record<FailedState, number>>()
  return {
    add({ lane, activity, action, reason }: GroupKey, state: FailedState, items: number): void {
      const key = JSON.stringify([lane, activity, action, reason])
      const group = groups.get(key) ?? { lane, activity, action, reason, pending: 0, dismissed: 0, replayed: 0 }
      group[state] += items
      groups.set(key, group)
    },
    sorted: (): readonly FailedGroup[] =>
      [...groups.values()].sort(
        (a, b) =>
          compare(a.lane, b.lane) ||
          compareIds(a.activity, b.activity) ||
          compareIds(a.action, b.action) ||
          compare(a.reason, b.reason),
      ),
  }
}

function readName(name: string): Omit<GroupKey, 'lane'> & { readonly state: FailedState } {
  const [state, ...parts] = name.split(' ') as [string, ...string[]]
  const [activity, action] = parts.splice(-2) as [string, string]
  // A provider of your own may give a reason with spaces.
  return {
    state: failedStates[Number(state)] as FailedState,
    reason: parts.join(' '),
    activity: idOf(activity),
    action: idOf(action),
  }
}

function isMatch(group: GroupKey & { readonly state: FailedState }, filter: GroupFilter): boolean {
  return (['lane', 'activity', 'action', 'reason', 'state'] as const).every(
    (name) => filter[name] === undefined || filter[name] === group[name],
  )
}

/** Deletes the counts of groups that have no items any more. */
export const forgetEmptyGroups = (database: Database): Promise<void> => forgetZeroCounts(database, 'failed_counts')
