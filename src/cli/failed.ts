// A client of /admin/failed of the platform, for the person who works through Failed Actions.

import { Command, Option } from 'commander'
import type { Scope } from '../http/access.ts'
import { phraseCount } from '../runtime/phrase-count.ts'
import type { Client } from './client.ts'
import { downloadTo } from './download-to.ts'
import { type Action, type DecideOptions, decide } from './failed/decide.ts'
import { type FilterOptions, queryOf, withFilter, withGroupFilter } from './failed/filter.ts'
import { type Group, number, phraseGroups } from './failed/groups.ts'
import { type Item, type ItemDetails, phraseItem, phraseItems } from './failed/items.ts'
import { toJson } from './output.ts'
import { createProgress } from './progress.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { wholeNumber } from './whole-number.ts'

export function failedCommand(): Command {
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

interface SummaryOptions extends Addressed, FilterOptions {
  readonly json?: true
}

function summaryCommand(): Command {
  return withGroupFilter(withPlatform('summary', 'read'))
    .description('count by lane, activity, action and reason (the default)')
    .option('--json', 'print the answer as one JSON object')
    .action(async (options: SummaryOptions) => {
      const path = `/admin/failed/summary${queryOf(options)}`
      const answer = await withPlatformClient(options, 'read', console.error, (client) => client.get(path))
      const { groups, omitted } = answer as { groups: readonly Group[]; omitted: number }
      if (options.json) console.log(toJson(answer))
      else if (groups.length === 0) console.log('No Failed Actions.')
      else console.log(phraseGroups(groups))
      if (!options.json && omitted > 0) console.log(`${number(omitted)} more groups: use --lane or --activity`)
    })
}

interface ListOptions extends Addressed, FilterOptions {
  readonly limit: number
  readonly after?: number
  readonly json?: true
}

function listCommand(): Command {
  return withFilter(withPlatform('list', 'read'))
    .description('list items')
    .addOption(new Option('--limit <count>', 'the most items').argParser(wholeNumber(1, 1_000)).default(20))
    .addOption(new Option('--after <seq>', 'the SEQ of the last item of the previous list').argParser(wholeNumber(0)))
    .option('--json', 'print the items as one JSON array')
    .action(async (options: ListOptions) => {
      const { items, next } = await withPlatformClient(options, 'read', console.error, (client) =>
        list(client, options),
      )
      if (options.json) console.log(toJson(items))
      else if (items.length === 0) console.log('No item matches.')
      else console.log(phraseItems(items))
      if (!options.json && next !== undefined) console.log(`There are more: add --after ${next}`)
    })
}

/** Reads until the limit is reached: the platform may answer a short page before the end. */
async function list(client: Client, options: ListOptions): Promise<{ items: readonly Item[]; next?: number }> {
  const items: Item[] = []
  for (let { after } = options; ; ) {
    const limit = options.limit - items.length
    const page = (await client.get(`/admin/failed${queryOf(options, { limit, after })}`)) as {
      items: readonly Item[]
      next?: number
    }
    items.push(...page.items)
    after = page.next
    if (after === undefined) return { items }
    if (items.length >= options.limit) return { items, next: after }
  }
}

function showCommand(): Command {
  return withPlatform('show', 'read')
    .description('show one item with all its attempts')
    .argument('<seq>', 'the number of the message, from the list', wholeNumber(0))
    .option('--json', 'print the item as one JSON object')
    .action(async (seq: number, options: Addressed & { readonly json?: true }) => {
      const path = `/admin/failed/${seq}`
      const item = (await withPlatformClient(options, 'read', console.error, (client) =>
        client.get(path),
      )) as ItemDetails
      console.log(options.json ? toJson(item) : phraseItem(item))
    })
}

function decideCommand(action: Action, description: string): Command {
  const command = withFilter(withPlatform(action, 'manage'))
    .description(description)
    .option('--all', 'all pending items; required if there is no filter')
    .option('--preview', 'only count the items')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print the counts as one JSON object; needs --yes or --preview')
  if (action === 'replay')
    command.addOption(
      new Option('--per-second <count>', 'the most messages per second; default: the rate of the lane').argParser(
        wholeNumber(1, 1_000_000),
      ),
    )
  return command.action(async (options: Addressed & DecideOptions) => {
    const progress = createProgress(process.stderr)
    const { changed, ...counted } = await withPlatformClient(options, 'manage', progress.print, (client) =>
      decide(client, action, options, progress),
    ).finally(progress.end)
    if (options.json) console.log(toJson({ ...counted, ...(changed !== undefined && { changed }) }))
    else if (changed !== undefined) console.log(phraseChange(action, changed, counted.matching))
  })
}

function phraseChange(action: Action, changed: number, matching: number): string {
  const done = `${action === 'replay' ? 'Replayed' : 'Dismissed'} ${phraseCount(changed, 'item')}.`
  return changed < matching ? `${done} Someone else decided about the others meanwhile.` : done
}

function exportCommand(): Command {
  return withFilter(withPlatform('export', 'read'))
    .description('write items as CSV, without the texts of the messages')
    .option('-o, --out <file>', 'the file; default: standard output')
    .action(async ({ out, ...options }: Addressed & FilterOptions & { readonly out?: string }) => {
      const path = `/admin/failed.csv${queryOf(options)}`
      await withPlatformClient(options, 'read', console.error, (client) => downloadTo(out, client, path))
    })
}

const withPlatform = (name: string, scope: Scope): Command =>
  withAddress(
    new Command(name),
    'platform',
    `a key with the scope ${scope}; default: the first such key of platform.keys`,
    '10s',
  )

function withPlatformClient<T>(
  options: Addressed,
  scope: Scope,
  notify: (text: string) => void,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const session = { scopes: [scope], notify, interrupted: 'interrupted; it is safe to repeat the command' }
  return withSide('platform', options, session, work)
}
