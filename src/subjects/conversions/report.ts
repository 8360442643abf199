// Adds up the conversions: how many messages of an activity, an action or an action group were sent, delivered, displayed, clicked
// and failed.

import { idOf, noId, type OutcomeCount, readOutcomeCounts } from '../../base/queue/outcome-counts.ts'
import { compareIds } from '../../base/runtime/compare.ts'
import type { Database } from '../../base/store/database.ts'
import { type ConversionCount, readConversionCounts } from './counted.ts'

export type Grouping = 'activity' | 'action' | 'action_group'

export interface ConversionFilter {
  readonly activity?: string
  readonly action?: string
  readonly action_group?: string
}

export interface Conversions {
  readonly lane: string
  /** null: the messages have none, or the groups combine several. */
  readonly activity: string | null
  readonly action: string | null
  readonly action_group: string | null
  readonly sent: number
  readonly delivered: number
  readonly displayed: number
  readonly clicked: number
  readonly failed: number
}

type Group = { -readonly [Name in keyof Conversions]: Conversions[Name] }

/** The groups of a lane, sorted by their ids. */
export async function readConversions(
  database: Database,
  lane: string,
  { since, until }: { readonly since: number; readonly until: number },
  by: Grouping,
  filter: ConversionFilter,
): Promise<readonly Conversions[]> {
  const [outcomes, counts] = await Promise.all([
    readOutcomeCounts(database, lane, since, until),
    readConversionCounts(database, lane, since, until),
  ])
  return addUp(lane, outcomes, counts, by, filter)
}

/** @param counts each message is in one of them, in the highest stage that it reached */
export function addUp(
  lane: string,
  outcomes: readonly OutcomeCount[],
  counts: readonly ConversionCount[],
  by: Grouping,
  filter: ConversionFilter,
): readonly Conversions[] {
  const groupOfAction = actionGroups(outcomes)
  const groups = new Map<string, Group>()

  function groupOf(activity: string, action: string): Group | undefined {
    const actionGroup = groupOfAction.get(`${activity} ${action}`) ?? noId
    const ids = { activity, action, action_group: actionGroup }
    for (const [name, value] of Object.entries(filter)) if (ids[name as keyof typeof ids] !== value) return undefined
    // An action has one activity and one action group.
    const shown = {
      activity: by === 'action_group' ? noId : activity,
      action: by === 'action' ? action : noId,
      action_group: by === 'activity' ? noId : actionGroup,
    }
    const key = Object.values(shown).join(' ')
    const group = groups.get(key) ?? {
      lane,
      activity: idOf(shown.activity),
      action: idOf(shown.action),
      action_group: idOf(shown.action_group),
      sent: 0,
      delivered: 0,
      displayed: 0,
      clicked: 0,
      failed: 0,
    }
    groups.set(key, group)
    return group
  }

  for (const { activity, action, successful, failed } of outcomes) {
    const group = groupOf(activity, action)
    if (group === undefined) continue
    group.sent += successful
    group.failed += failed
  }
  for (const { activity, action, stage, messages } of counts) {
    const group = groupOf(activity, action)
    if (group === undefined) continue
    if (stage === 'failed') {
      group.failed += messages
      continue
    }
    if (stage >= 1) group.delivered += messages
    if (stage >= 2) group.displayed += messages
    if (stage >= 3) group.clicked += messages
  }
  return [...groups.values()].sort(
    (a, b) =>
      compareIds(a.activity, b.activity) ||
      compareIds(a.action_group, b.action_group) ||
      compareIds(a.action, b.action),
  )
}

/** The action group of each activity and action: 'ACTIVITY ACTION'. */
export const actionGroups = (outcomes: readonly OutcomeCount[]): ReadonlyMap<string, string> =>
  new Map(outcomes.map(({ activity, action, action_group: group }) => [`${activity} ${action}`, group]))
