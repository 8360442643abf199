// A client of the platform's /admin: cancels waiting messages by filter, after a preview.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { phraseCount } from '../runtime/phrase-count.ts'
import type { Client } from './client.ts'
import { confirm } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { type Targeted, targetOf, withTarget } from './lanes/target.ts'
import { moment } from './moment.ts'
import { print } from './output.ts'
import { withAnswer, withSide } from './running-side.ts'

interface CancelOptions extends Targeted {
  readonly activity?: string
  readonly action?: string
  readonly user?: string
  readonly from?: string
  readonly until?: string
  readonly all?: true
  readonly reason?: string
  readonly preview?: true
  readonly yes?: true
}

export function cancelCommand(): Command {
  return withAnswer(withTarget(new Command()), 'platform', 'manage')
    .option('--activity <id>', 'only the messages of this activity_id')
    .option('--action <id>', 'only the messages of this action_id')
    .option('--user <id>', 'only the messages to this user')
    .addOption(new Option('--from <time>', 'enqueued at this time or later; or within this time: 2h').argParser(moment))
    .addOption(new Option('--until <time>', 'enqueued before this time; or longer ago: 15min').argParser(moment))
    .option('--all', 'all waiting messages; required without another filter')
    .option('--reason <text>', 'why, for the next person; required unless --preview is given')
    .option('--preview', 'only count the messages')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', help)
    .action(async (lane: string | undefined, options: CancelOptions) => {
      const { preview, reason } = options
      if (!preview && reason === undefined)
        throw new CliError(exit.usage, 'add --reason TEXT, or --preview to only count')
      const filter = filterOf(lane, options)
      const work = async (client: Client<'platform'>, signal: AbortSignal): Promise<void> => {
        const count = await countMessages(client, filter)
        if (reason === undefined || preview)
          return print(options, { count }, () => `${phraseCount(count, 'message')} would be cancelled.`)
        if (count > 0 && !options.yes) await confirm(`Cancel ${phraseCount(count, 'message')}?`)
        const cancelled = await cancel(client, { ...filter, reason, id: randomUUID() }, signal)
        print(options, { cancelled }, () => `${phraseCount(cancelled, 'message')} cancelled: see Failed Actions.`)
      }
      await withSide('platform', options, ['manage'], work, {
        interrupted: 'interrupted; bellwire lanes shows the state of the lanes',
      })
    })
}

const help = `
Messages in running calls are cancelled only if they must be sent again. Messages that are enqueued later are not cancelled. Cancelled
messages are in Failed Actions with the reason "cancelled", and can be replayed.

Examples:
  bellwire cancel 1/push --activity 7 --preview
  bellwire cancel 1/push --activity 7 --reason "wrong text"
  bellwire cancel --brand 1 --user 1001 --reason "left" --yes
  bellwire cancel 1/push --until 2026-01-31T10:00:00Z --reason "outdated" --yes
`

function filterOf(lane: string | undefined, options: CancelOptions) {
  const { activity, action, user, from, until, all } = options
  const filter = { activity, action, user, from, until }
  if (!all && Object.values(filter).every((value) => value === undefined))
    throw new CliError(
      exit.usage,
      'no message is selected: add --activity, --action, --user, --from or --until, or --all',
    )
  return { ...targetOf(lane, options), ...filter, ...(all && { all }) }
}

async function countMessages(client: Client<'platform'>, filter: ReturnType<typeof filterOf>): Promise<number> {
  let count = 0
  for (let after: string | undefined; ; ) {
    const page = await client.call('POST /admin/lanes/cancel/preview', { body: { ...filter, after } })
    count += page.count
    if (page.next === undefined) return count
    after = page.next
  }
}

const pollMs = 300
/** After this time the command ends; the platform continues. */
const mostWaitMs = 600_000

async function cancel(
  client: Client<'platform'>,
  body: ReturnType<typeof filterOf> & { readonly id: string; readonly reason: string },
  signal: AbortSignal,
): Promise<number> {
  const { id } = await client.call('POST /admin/lanes/cancel', { body })
  for (const end = Date.now() + mostWaitMs; ; ) {
    const { cancellations } = await client.call('GET /admin/lanes/cancellations', { query: { id } })
    const cancelled = cancellations.reduce((sum, each) => sum + each.cancelled, 0)
    if (cancellations.every(({ done_at: doneAt }) => doneAt !== undefined)) return cancelled
    if (Date.now() > end)
      throw new CliError(
        exit.failed,
        `${phraseCount(cancelled, 'message')} cancelled so far; the platform continues: GET /admin/lanes/cancellations shows it`,
      )
    await sleep(pollMs, undefined, { signal })
  }
}
