// Formats Failed Actions by lane, activity, action and reason.

import type { AnswerOf } from '../../../sides/admin/calls.ts'
import { countTable } from '../text-table.ts'

export type Group = AnswerOf<'platform', 'GET /admin/failed/summary'>['groups'][number]

const counted = ['pending', 'dismissed', 'replayed'] as const

const columns = [
  { title: 'LANE', most: 40 },
  { title: 'ACTIVITY', most: 20 },
  { title: 'ACTION', most: 20 },
  { title: 'REASON', most: 40 },
]

/** A table with one line for each group. A value that is the same as in the line above is left out. */
export function phraseGroups(groups: readonly Group[]): string {
  let above: readonly string[] = []
  const rows = groups.map((group) => {
    const names = [group.lane, group.activity ?? '–', group.action ?? '–', group.reason]
    const shared = names.findIndex((name, i) => name !== above[i])
    above = names
    return { names: names.map((name, i) => (i < shared ? '' : name)), counts: group }
  })
  return countTable(columns, counted, rows)
}

/** Adds up the groups of several answers. */
export function mergeGroups(groups: readonly Group[]): readonly Group[] {
  const merged = new Map<string, Group>()
  for (const group of groups) {
    const key = JSON.stringify([group.lane, group.activity, group.action, group.reason])
    const sums = { ...group }
    for (const state of counted) sums[state] += merged.get(key)?.[state] ?? 0
    merged.set(key, sums)
  }
  return [...merged.values()]
}
