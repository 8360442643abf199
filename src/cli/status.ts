// A client of /admin/conversions of the platform: how many messages were sent, delivered, displayed and clicked.

import { Command, Option } from 'commander'
import type { Conversions } from '../conversions/report.ts'
import { number } from './failed/groups.ts'
import { type Column, textTable } from './failed/text-table.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'

const filters = ['by', 'brand', 'channel', 'activity', 'action', 'group', 'since', 'until'] as const
type StatusOptions = Addressed & { readonly [Name in (typeof filters)[number]]?: string } & {
  readonly json?: true
  readonly csv?: true
}

export function statusCommand(): Command {
  const key = 'a key with the scope read; default: the first such key of platform.keys'
  return withAddress(new Command(), 'platform', key, '10s')
    .addOption(new Option('--by <name>', 'the group of a line').choices(['activity', 'action', 'action_group']))
    .option('--brand <number>', 'only this brand')
    .addOption(new Option('--channel <name>', 'only this channel').choices(['push', 'site']))
    .option('--activity <id>', 'only this activity_id')
    .option('--action <id>', 'only this action_id')
    .option('--group <id>', 'only this action_group_id')
    .option('--since <day>', 'messages that were enqueued on this day or later: 2026-01-31')
    .option('--until <day>', 'messages that were enqueued on this day or earlier')
    .option('--json', 'print the answer as one JSON object')
    .option('--csv', 'print the answer as CSV')
    .addHelpText('after', help)
    .action(showStatus)
}

const help = `
Counts the messages of each activity as their operator reported them. docs/conversions.md defines delivered, displayed and clicked.

Examples:
  bellwire status
  bellwire status --by action --activity 7 --since 2026-01-01
  bellwire status --csv > conversions.csv
`

async function showStatus(options: StatusOptions): Promise<void> {
  const session = {
    scopes: ['read' as const],
    notify: console.error,
    interrupted: 'interrupted; it is safe to repeat the command',
  }
  await withSide('platform', options, session, async (client) => {
    const query = queryOf(options)
    if (options.csv)
      return client.download(`/admin/conversions.csv${query}`, async (chunk) => void process.stdout.write(chunk))
    const answer = await client.get(`/admin/conversions${query}`)
    const { groups } = answer as { groups: readonly Conversions[] }
    if (options.json) console.log(JSON.stringify(answer))
    else console.log(groups.length === 0 ? 'No message matches.' : phraseConversions(groups))
  })
}

function queryOf(options: StatusOptions): string {
  const given = filters.flatMap((name): [string, string][] => {
    const value = options[name]
    return value === undefined ? [] : [[name === 'group' ? 'action_group' : name, value]]
  })
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
