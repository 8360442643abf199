// A client of /admin/conversions of the platform: the messages that were sent, delivered, displayed and clicked.

import { Command, Option } from 'commander'
import type { Conversion } from '../conversions/listed.ts'
import type { Conversions } from '../conversions/report.ts'
import type { Client } from './client.ts'
import { number } from './failed/groups.ts'
import { type Column, textTable } from './failed/text-table.ts'
import { createTextWriter, toJson } from './output.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { wholeNumber } from './whole-number.ts'

interface SelectOptions extends Addressed {
  readonly brand?: string
  readonly channel?: string
  readonly activity?: string
  readonly action?: string
  readonly group?: string
  readonly since?: string
  readonly until?: string
  readonly json?: true
  readonly csv?: true
}

export function statusCommand(): Command {
  return new Command()
    .addCommand(countCommand(), { isDefault: true })
    .addCommand(listCommand())
    .addHelpText('after', help)
}

const help = `
Shows the messages as their operator reported them. docs/status.md defines delivered, displayed and clicked.

Examples:
  bellwire status
  bellwire status --by action --activity 7 --since 2026-01-01
  bellwire status --csv > conversions.csv
  bellwire status list --activity 7 --stage clicked
  bellwire status list --since 2026-01-01 --csv > messages.csv
`

/** A command with the options that select messages. */
function withSelection(name: string): Command {
  const key = 'a key with the scope read; default: the first such key of platform.keys'
  return withAddress(new Command(name), 'platform', key, '10s')
    .option('--brand <number>', 'only this brand')
    .addOption(new Option('--channel <name>', 'only this channel').choices(['push', 'site']))
    .option('--activity <id>', 'only this activity_id')
    .option('--action <id>', 'only this action_id')
    .option('--group <id>', 'only this action_group_id')
    .option('--since <day>', 'messages that were enqueued on this day or later: 2026-01-31')
    .option('--until <day>', 'messages that were enqueued on this day or earlier')
    .option('--json', 'print the answer as one JSON object')
    .option('--csv', 'print the answer as CSV')
}

interface CountOptions extends SelectOptions {
  readonly by?: string
}

function countCommand(): Command {
  return withSelection('count')
    .description('count the messages of each activity (the default)')
    .addOption(new Option('--by <name>', 'the group of a line').choices(['activity', 'action', 'action_group']))
    .action((options: CountOptions) =>
      withPlatform(options, async (client) => {
        const query = queryOf(options, { by: options.by })
        if (options.csv) return print(client, `/admin/conversions.csv${query}`)
        const answer = await client.get(`/admin/conversions${query}`)
        const { groups } = answer as { groups: readonly Conversions[] }
        if (options.json) console.log(toJson(answer))
        else console.log(groups.length === 0 ? 'No message matches.' : phraseConversions(groups))
      }),
    )
}

interface ListOptions extends SelectOptions {
  readonly stage?: string
  readonly limit: number
  readonly after?: string
}

function listCommand(): Command {
  return withSelection('list')
    .description('list the messages that have a delivery status; JSON and CSV include the meta')
    .addOption(
      new Option('--stage <stage>', 'only messages that reached this stage').choices([
        'delivered',
        'displayed',
        'clicked',
        'failed',
      ]),
    )
    .addOption(
      new Option('--limit <count>', 'the most messages; CSV has no limit')
        .argParser(wholeNumber(1, 10_000))
        .default(20),
    )
    .option('--after <cursor>', 'the cursor of the previous list')
    .action((options: ListOptions) =>
      withPlatform(options, async (client) => {
        const { stage } = options
        if (options.csv) return print(client, `/admin/conversions/messages.csv${queryOf(options, { stage })}`)
        const { conversions, next } = await readList(client, options)
        if (options.json) console.log(toJson({ conversions, ...(next !== undefined && { next }) }))
        else console.log(conversions.length === 0 ? 'No message matches.' : phraseList(conversions))
        if (!options.json && next !== undefined) console.log(`There may be more: add --after '${next}'`)
      }),
    )
}

interface Listed {
  readonly conversions: readonly Conversion[]
  readonly next?: string
}

/** Reads until the limit is reached: the platform may answer a short page before the end. */
async function readList(client: Client, options: ListOptions): Promise<Listed> {
  const conversions: Conversion[] = []
  for (let { after } = options; ; ) {
    const limit = String(Math.min(mostOfPage, options.limit - conversions.length))
    const query = queryOf(options, { stage: options.stage, limit, after })
    const page = (await client.get(`/admin/conversions/messages${query}`)) as Listed
    conversions.push(...page.conversions)
    after = page.next
    if (after === undefined) return { conversions }
    if (conversions.length >= options.limit) return { conversions, next: after }
  }
}

const mostOfPage = 1_000

const print = (client: Client, path: string): Promise<void> => client.download(path, createTextWriter())

function withPlatform(options: Addressed, use: (client: Client) => Promise<void>): Promise<void> {
  const session = {
    scopes: ['read' as const],
    notify: console.error,
    interrupted: 'interrupted; it is safe to repeat the command',
  }
  return withSide('platform', options, session, use)
}

function queryOf(
  { brand, channel, activity, action, group, since, until }: SelectOptions,
  more: Readonly<Record<string, string | undefined>>,
): string {
  const all = { brand, channel, activity, action, action_group: group, since, until, ...more }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length > 0 ? `?${new URLSearchParams(given)}` : ''
}

const counts = ['sent', 'delivered', 'displayed', 'clicked', 'failed'] as const
const columns: readonly Column[] = [
  { title: 'LANE', most: 40 },
  { title: 'ACTIVITY', most: 20 },
  { title: 'ACTION GROUP', most: 20 },
  { title: 'ACTION', most: 20 },
  ...counts.map((name) => ({ title: name.toUpperCase(), align: 'right' as const })),
]

/** A table with one line for each group. */
function phraseConversions(groups: readonly Conversions[]): string {
  const rows = groups.map((group) => [
    group.lane,
    group.activity ?? '–',
    group.action_group ?? '–',
    group.action ?? '–',
    ...counts.map((name) => number(group[name])),
  ])
  const totals = counts.map((name) => number(groups.reduce((sum, group) => sum + group[name], 0)))
  return textTable(columns, [...rows, ['Total', '', '', '', ...totals]])
}

/** A table with one line for each message: its identifier, its stage, and the time of its last status. */
function phraseList(conversions: readonly Conversion[]): string {
  const titles = ['LANE', 'IDENTIFIER', 'ACTIVITY', 'ACTION GROUP', 'ACTION', 'STAGE', 'LAST STATUS']
  return textTable(
    titles.map((title) => ({ title, most: 40 })),
    conversions.map(({ lane, ref, activity, action_group: group, action, stage, statuses }) => {
      const last = statuses.at(-1)
      const shown = last ? `${last.status} ${last.at}` : '–'
      return [lane, ref, activity ?? '–', group ?? '–', action ?? '–', stage, shown]
    }),
  )
}
