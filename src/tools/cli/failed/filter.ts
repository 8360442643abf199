// The options that select failed items, and the filter that they make for /admin/failed.

import type { Command } from 'commander'
import type { Static } from 'typebox'
import { FailedGroups, FailedQuery } from '../../../sides/admin/requests.ts'
import { membersOf, withMembers } from '../members.ts'
import type { Addressed } from '../running-side.ts'

export type FilterOptions = Addressed & Static<typeof FailedQuery>

const groupFlags = {
  lane: '--lane <lane>',
  activity: '--activity <id>',
  action: '--action <id>',
  reason: '--reason <reason>',
  state: '--state <state>',
}
const flags = {
  ...groupFlags,
  user: '--user <id>',
  from: '--from <time>',
  until: '--until <time>',
  error: '--error <text>',
  seqs: '--seq <numbers>',
}

/** Adds the options by which Failed Actions are counted. */
export const withGroupFilter = (command: Command): Command => withMembers(command, FailedGroups, groupFlags)

/** Adds all filter options. */
export const withFilter = (command: Command): Command => withMembers(command, FailedQuery, flags)

export const queryOf = (options: FilterOptions): Static<typeof FailedQuery> => membersOf(options, flags)
