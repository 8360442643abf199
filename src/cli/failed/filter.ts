// The options that select failed items, and the filter that they make for /admin/failed.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { moment } from '../moment.ts'

export interface FilterOptions {
  readonly lane?: string
  readonly activity?: string
  readonly action?: string
  readonly reason?: string
  readonly state?: 'pending' | 'dismissed' | 'replayed'
  readonly user?: string
  readonly from?: string
  readonly until?: string
  readonly error?: string
  readonly seq?: readonly number[]
}

/** Adds the options by which Failed Actions are counted. */
export function withGroupFilter(command: Command): Command {
  return command
    .option('--lane <lane>', 'the lane, such as 1/push; required if the key is bound to brands')
    .option('--activity <id>', 'the activity_id')
    .option('--action <id>', 'the action_id')
    .option('--reason <reason>', 'the reason, such as rejected')
    .addOption(new Option('--state <state>', 'the state').choices(['pending', 'dismissed', 'replayed']))
}

/** Adds all filter options. */
export function withFilter(command: Command): Command {
  return withGroupFilter(command)
    .option('--user <id>', 'the user_id')
    .addOption(new Option('--from <time>', 'failed at this time or later; or within this time: 2h').argParser(moment))
    .addOption(new Option('--until <time>', 'failed before this time; or longer ago: 15min').argParser(moment))
    .option('--error <text>', 'a part of the error, with the same case')
    .addOption(new Option('--seq <numbers>', 'only these messages, such as 17,18').argParser(numbers))
}

/** The members of the filter, as /admin/failed reads them. */
export function filterOf({
  lane,
  activity,
  action,
  reason,
  state,
  user,
  from,
  until,
  error,
  seq: seqs,
}: FilterOptions) {
  return { lane, activity, action, reason, state, user, from, until, error, seqs }
}

/** The filter as a query. */
export function queryOf(options: FilterOptions) {
  const { seqs, ...filter } = filterOf(options)
  return { ...filter, seqs: seqs?.join() }
}

const maxNumbers = 10_000

function numbers(text: string): readonly number[] {
  const parts = text.split(',')
  if (!/^\d{1,15}(,\d{1,15})*$/.test(text)) throw new InvalidArgumentError('Give numbers from the list, such as 17,18.')
  if (parts.length > maxNumbers) throw new InvalidArgumentError(`Give at most ${maxNumbers} numbers, or use a filter.`)
  return parts.map(Number)
}
