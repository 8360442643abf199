// A client of /admin/conversions of the platform: the messages that were sent, delivered, displayed and clicked.

import { Command } from 'commander'
import type { Static } from 'typebox'
import type { Scope } from '../../base/http/access.ts'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { ConversionCounts, ConversionList } from '../../sides/admin/requests.ts'
import type { Client } from './client.ts'
import { membersOf, withMembers } from './members.ts'
import { wholeNumber } from './numbers.ts'
import { createTextWriter, print } from './output.ts'
import { pages } from './pages.ts'
import { type Addressed, withAnswer, withSide } from './running-side.ts'
import { countTable, textTable } from './text-table.ts'

const flags = {
  brand: '--brand <number>',
  channel: '--channel <name>',
  activity: '--activity <id>',
  action: '--action <id>',
  action_group: '--group <id>',
  since: '--since <day>',
  until: '--until <day>',
}
const countFlags = { ...flags, by: '--by <name>' }
const listFlags = { ...flags, stage: '--stage <stage>' }

export function command(): Command {
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
const withSelection = (name: string, scope: Scope): Command =>
  withAnswer(new Command(name), 'platform', scope).option('--csv', 'print the answer as CSV')

type CountOptions = Addressed & Static<typeof ConversionCounts> & { readonly csv?: true }

function countCommand(): Command {
  return withMembers(withSelection('count', 'counts'), ConversionCounts, countFlags)
    .description('count the messages of each activity (the default)')
    .action((options: CountOptions) =>
      withSide('platform', options, ['counts'], async (client) => {
        const query = membersOf(options, countFlags)
        if (options.csv) return client.download('GET /admin/conversions.csv', { query }, createTextWriter())
        const answer = await client.call('GET /admin/conversions', { query })
        print(options, answer, ({ groups }) => (groups.length === 0 ? noMessage : phraseConversions(groups)))
      }),
    )
}

type ListOptions = Addressed &
  Static<typeof ConversionList> & { readonly csv?: true; readonly limit: number; readonly after?: string }

function listCommand(): Command {
  return withMembers(withSelection('list', 'read'), ConversionList, listFlags)
    .description('list the messages that have a delivery status; JSON and CSV include the meta')
    .option('--limit <count>', 'the most messages; CSV has no limit', wholeNumber(1, 10_000), 20)
    .option('--after <cursor>', 'the cursor of the previous list')
    .action((options: ListOptions) =>
      withSide('platform', options, ['read'], async (client) => {
        const query = membersOf(options, listFlags)
        if (options.csv) return client.download('GET /admin/conversions/messages.csv', { query }, createTextWriter())
        const answer = await readList(client, query, options)
        const { next } = answer
        print(options, answer, ({ conversions }) => (conversions.length === 0 ? noMessage : phraseList(conversions)))
        if (!options.json && next !== undefined) console.log(`There may be more: add --after '${next}'`)
      }),
    )
}

type Listed = AnswerOf<'platform', 'GET /admin/conversions/messages'>
type Groups = AnswerOf<'platform', 'GET /admin/conversions'>['groups']

/** Reads until the limit is reached: the platform may answer a short page before the end. */
async function readList(
  client: Client<'platform'>,
  query: Static<typeof ConversionList>,
  options: ListOptions,
): Promise<Listed> {
  const conversions: Listed['conversions'] = []
  const read = (after?: string) => {
    const limit = Math.min(mostOfPage, options.limit - conversions.length)
    return client.call('GET /admin/conversions/messages', { query: { ...query, limit, after } })
  }
  for await (const page of pages(read, options.after)) {
    conversions.push(...page.conversions)
    if (page.next !== undefined && conversions.length >= options.limit) return { conversions, next: page.next }
  }
  return { conversions }
}

const mostOfPage = 1_000
const noMessage = 'No message matches.'

const counts = ['sent', 'delivered', 'displayed', 'clicked', 'failed'] as const
const columns = [
  { title: 'LANE', most: 40 },
  { title: 'ACTIVITY', most: 20 },
  { title: 'ACTION GROUP', most: 20 },
  { title: 'ACTION', most: 20 },
]

/** A table with one line for each group. */
const phraseConversions = (groups: Groups): string =>
  countTable(
    columns,
    counts,
    groups.map((group) => ({
      names: [group.lane, group.activity ?? '–', group.action_group ?? '–', group.action ?? '–'],
      counts: group,
    })),
  )

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
