// A client of /admin/failed of the platform, for the person who works through Failed Actions.

import { Command, Option } from 'commander'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { DecisionNote, ReplayRate } from '../../sides/admin/requests.ts'
import type { Client } from './client.ts'
import { downloadTo } from './download-to.ts'
import { type Action, type DecideOptions, decide } from './failed/decide.ts'
import { type FilterOptions, queryOf, withFilter, withGroupFilter } from './failed/filter.ts'
import { phraseGroups } from './failed/groups.ts'
import { type FailedList, phraseItem, phraseItems } from './failed/items.ts'
import { withMembers } from './members.ts'
import { wholeNumber } from './numbers.ts'
import { print, toJson } from './output.ts'
import { pages } from './pages.ts'
import { createProgress } from './progress.ts'
import { type Addressed, callSide, sideOfLanes, withAddress, withAnswer, withSide } from './running-side.ts'
import { number } from './text-table.ts'

export function command(): Command {
  return new Command()
    .addCommand(summaryCommand(), { isDefault: true })
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(decideCommand('replay', 'send items again; a replayed item that fails again is pending again'))
    .addCommand(decideCommand('dismiss', 'close items without sending them again'))
    .addCommand(exportCommand())
    .addHelpText('after', help)
}

const help = `
Failed Actions are the messages that the operator refused permanently. docs/lanes.md shows how to work through them.

Examples:
  bellwire failed
  bellwire failed list --activity 7 --reason rejected --from 2h
  bellwire failed show 17
  bellwire failed replay --activity 7 --reason rejected --preview
  bellwire failed replay --activity 7 --reason rejected --per-second 50
  bellwire failed dismiss --reason suppressed --yes
  bellwire failed export --from 2026-01-31 --out failed.csv
`

function summaryCommand(): Command {
  return withGroupFilter(withAnswer(new Command('summary'), 'platform', 'counts'))
    .description('count by lane, activity, action and reason (the default)')
    .action(async (options: FilterOptions) => {
      const request = { query: queryOf(options) }
      const answer = await callSide(await sideOfLanes(options), options, 'counts', 'GET /admin/failed/summary', request)
      print(options, answer, ({ groups }) => (groups.length === 0 ? 'No Failed Actions.' : phraseGroups(groups)))
      const { omitted } = answer
      if (!options.json && omitted > 0) console.log(`${number(omitted)} more groups: use --lane or --activity`)
    })
}

interface ListOptions extends FilterOptions {
  readonly limit: number
  readonly after?: number
}

function listCommand(): Command {
  return withFilter(withAddress(new Command('list'), 'platform', ['read']))
    .description('list items')
    .addOption(new Option('--limit <count>', 'the most items').argParser(wholeNumber(1, 1_000)).default(20))
    .addOption(new Option('--after <seq>', 'the SEQ of the last item of the previous list').argParser(wholeNumber(0)))
    .option('--json', 'print the items as one JSON array')
    .action(async (options: ListOptions) => {
      const { items, next } = await withSide(await sideOfLanes(options), options, ['read'], (client) =>
        list(client, options),
      )
      print(options, items, () => (items.length === 0 ? 'No item matches.' : phraseItems(items)))
      if (!options.json && next !== undefined) console.log(`There are more: add --after ${next}`)
    })
}

/** Reads until the limit is reached: the platform may answer a short page before the end. */
async function list(client: Client<'platform'>, options: ListOptions): Promise<FailedList> {
  const items: FailedList['items'] = []
  const read = (after?: number) =>
    client.call('GET /admin/failed', { query: { ...queryOf(options), limit: options.limit - items.length, after } })
  for await (const page of pages(read, options.after)) {
    items.push(...page.items)
    if (page.next !== undefined && items.length >= options.limit) return { items, next: page.next }
  }
  return { items }
}

function showCommand(): Command {
  return withAddress(new Command('show'), 'platform', ['read'])
    .description('show one item with all its attempts')
    .argument('<seq>', 'the number of the message, from the list', wholeNumber(0))
    .option('--json', 'print the item as one JSON object')
    .action(async (seq: number, options: Addressed) => {
      const item = await callSide(await sideOfLanes(options), options, 'read', 'GET /admin/failed/:seq', {
        params: { seq },
      })
      print(options, item, phraseItem)
    })
}

function decideCommand(action: Action, description: string): Command {
  const command = withFilter(withAddress(new Command(action), 'platform', ['decide']))
    .description(description)
    .option('--all', 'all pending items; required if there is no filter')
    .option('--preview', 'only count the items')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print the counts as one JSON object; needs --yes or --preview')
  withMembers(command, DecisionNote, { note: '--note <text>' })
  if (action === 'replay') withMembers(command, ReplayRate, { per_second: '--per-second <count>' })
  return command.action(async (options: DecideOptions) => {
    const progress = createProgress(process.stderr)
    const work = (client: Client<'platform'>) => decide(client, action, options, progress)
    const { changed, ...counted } = await withSide(await sideOfLanes(options), options, ['decide'], work, { progress })
    if (options.json) console.log(toJson({ ...counted, ...(changed !== undefined && { changed }) }))
    else if (changed !== undefined) console.log(phraseChange(action, changed, counted.matching))
  })
}

function phraseChange(action: Action, changed: number, matching: number): string {
  const done = `${action === 'replay' ? 'Replayed' : 'Dismissed'} ${phraseCount(changed, 'item')}.`
  return changed < matching ? `${done} Someone else decided about the others meanwhile.` : done
}

function exportCommand(): Command {
  return withFilter(withAddress(new Command('export'), 'platform', ['read']))
    .description('write items as CSV, without the texts of the messages')
    .option('-o, --out <file>', 'the file; default: standard output')
    .action(async ({ out, ...options }: FilterOptions & { readonly out?: string }) => {
      await withSide(await sideOfLanes(options), options, ['read'], (client) =>
        downloadTo(out, (write) => client.download('GET /admin/failed.csv', { query: queryOf(options) }, write)),
      )
    })
}
