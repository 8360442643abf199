// Replays or dismisses failed items: counts them first, asks, and works in steps.

import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import type { RequestOf } from '../../../sides/admin/calls.ts'
import type { Client } from '../client.ts'
import { confirm } from '../confirm.ts'
import { CliError, exit } from '../exit.ts'
import { pages } from '../pages.ts'
import type { Progress } from '../progress.ts'
import { number } from '../text-table.ts'
import { type FilterOptions, queryOf } from './filter.ts'
import { type Group, mergeGroups, phraseGroups } from './groups.ts'

export type DecideOptions = FilterOptions & {
  readonly all?: true
  readonly preview?: true
  readonly yes?: true
  readonly per_second?: number
  readonly note?: string
}

export type Action = 'replay' | 'dismiss'
type Body = RequestOf<'platform', 'POST /admin/failed/replay'>['body']

/** What was counted and changed, as `--json` prints it. */
export interface Decided {
  readonly matching: number
  readonly groups: readonly Group[]
  /** Absent for a preview. */
  readonly changed?: number
}

/** Counts the matching items, asks for confirmation, and decides about them. */
export async function decide(
  client: Client<'platform'>,
  action: Action,
  options: DecideOptions,
  progress: Progress,
): Promise<Decided> {
  const { seqs, ...others } = queryOf(options)
  const filter = { ...others, ...(seqs !== undefined && { seqs: seqs.split(',').map(Number) }) }
  if ((options.all === true) === Object.keys(filter).length > 0)
    throw new CliError(exit.usage, 'give either a filter, such as --activity or --seq, or --all for all pending items')
  const selection = options.all ? { all: true as const } : filter
  const counted = await preview(client, action, selection, progress)
  progress.end()
  if (!options.json) console.log(counted.matching === 0 ? 'No item matches.' : phraseGroups(counted.groups))
  if (options.preview || counted.matching === 0) return counted
  if (!options.yes)
    await confirm(`${action === 'replay' ? 'Replay' : 'Dismiss'} ${phraseCount(counted.matching, 'item')}?`)
  const body = { ...selection, per_second: options.per_second, note: options.note }
  let changed = 0
  for await (const { count } of answersOf(client, action, body)) {
    changed += count
    progress.show(action === 'replay' ? 'replaying' : 'dismissing', changed, counted.matching, number(changed))
  }
  return { ...counted, changed }
}

async function preview(
  client: Client<'platform'>,
  action: Action,
  selection: Body,
  progress: Progress,
): Promise<Decided> {
  let matching = 0
  let groups: readonly Group[] = []
  for await (const answer of answersOf(client, action, { ...selection, preview: true })) {
    matching += answer.count
    groups = mergeGroups([...groups, ...(answer.groups ?? [])])
    progress.show('counting', matching, undefined, number(matching))
  }
  return { matching, groups }
}

/** Sends the request until nothing is left. Each answer says where to continue. */
const answersOf = (client: Client<'platform'>, action: Action, body: Body) =>
  pages((after?: string) => client.call(`POST /admin/failed/${action}`, { body: { ...body, after } }))
