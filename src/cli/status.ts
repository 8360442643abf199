// A client of /admin/conversions of the platform: the messages that were sent, delivered, displayed and clicked.

import { Command, Option } from 'commander'
import type { AnswerOf, RequestOf } from './calls.ts'
import type { Client } from './client.ts'
import { number } from './failed/groups.ts'
import { type Column, textTable } from './failed/text-table.ts'
import { createTextWriter, print } from './output.ts'
import { type Addressed, withAnswer, withSide } from './running-side.ts'
import { wholeNumber } from './whole-number.ts'

interface SelectOptions extends Addressed {
  readonly brand?: string
  readonly channel?: 'push' | 'site'
  readonly activity?: string
  readonly action?: string
  readonly group?: string
  readonly since?: string
  readonly until?: string
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
  return withAnswer(new Command(name), 'platform', 'read')
    .option('--brand <number>', 'only this brand')
    .addOption(new Option('--channel <name>', 'only this channel').choices(['push', 'site']))
    .option('--activity <id>', 'only this activity_id')
    .option('--action <id>', 'only this action_id')
    .option('--group <id>', 'only this action_group_id')
    .option('--since <day>', 'messages that were enqueued on this day or later: 2026-01-31')
    .option('--until <day>', 'messages that were enqueued on this day or earlier')
    .option('--csv', 'print the answer as CSV')
}

interface CountOptions extends SelectOptions {
  readonly by?: CountQuery['by']
}

function countCommand(): Command {
  return withSelection('count')
    .description('count the messages of each activity (the default)')
    .addOption(new Option('--by <name>', 'the group of a line').choices(['activity', 'action', 'action_group']))
    .action((options: CountOptions) =>
      withSide('platform', options, ['read'], async (client) => {
        const query = { ...queryOf(options), by: options.by }
        if (options.csv) return client.download('GET /admin/conversions.csv', { query }, createTextWriter())
        const answer = await client.call('GET /admin/conversions', { query })
        print(options, answer, ({ groups }) => (groups.length === 0 ? noMessage : phraseConversions(groups)))
      }),
    )
}

interface ListOptions extends SelectOptions {
  readonly stage?: ListQuery['stage']
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
      withSide('platform', options, ['read'], async (client) => {
        const query = { ...queryOf(options), stage: options.stage }
        if (options.csv) return client.download('GET /admin/conversions/messages.csv', { query }, createTextWriter())
        const answer = await readList(client, query, options)
        const { next } = answer
        print(options, answer, ({ conversions }) => (conversions.length === 0 ? noMessage : phraseList(conversions)))
        if (!options.json && next !== undefined) console.log(`There may be more: add --after '${next}'`)
      }),
    )
}

type CountQuery = NonNullable<RequestOf<'platform', 'GET /admin/conversions'>['query']>
type ListQuery = NonNullable<RequestOf<'platform', 'GET /admin/conversions/messages'>['query']>
type Listed = AnswerOf<'platform', 'GET /admin/conversions/messages'>
type Groups = AnswerOf<'platform', 'GET /admin/conversions'>['groups']

/** Reads until the limit is reached: the platform may answer a short page before the end. */
async function readList(client: Client<'platform'>, query: ListQuery, options: ListOptions): Promise<Listed> {
  const conversions: Listed['conversions'] = []
  for (let { after } = options; ; ) {
    const limit = Math.min(mostOfPage, options.limit - conversions.length)
    const page = await client.call('GET /admin/conversions/messages', { query: { ...query, limit, after } })
    conversions.push(...page.conversions)
    after = page.next
    if (after === undefined) return { conversions }
    if (conversions.length >= options.limit) return { conversions, next: after }
  }
}

const mostOfPage = 1_000
const noMessage = 'No message matches.'

function queryOf({ brand, channel, activity, action, group, since, until }: SelectOptions) {
  return { brand, channel, activity, action, action_group: group, since, until }
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
function phraseConversions(groups: Groups): string {
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
function phraseList(conversions: Listed['conversions']): string {
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
