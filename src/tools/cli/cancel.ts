// A client of the platform's /admin: cancels waiting messages by filter, after a preview.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { Static } from 'typebox'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { WaitingSelection } from '../../sides/admin/requests.ts'
import type { Client } from './client.ts'
import { confirm } from './confirm.ts'
import { CliError, exit } from './exit.ts'
import { targetFlags, targetOf, withLane } from './lanes/target.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { pages } from './pages.ts'
import { type Addressed, sideOfLanes, withAnswer, withSide } from './running-side.ts'

const filterFlags = {
  activity: '--activity <id>',
  action: '--action <id>',
  user: '--user <id>',
  from: '--from <time>',
  until: '--until <time>',
  all: '--all',
}

type Selection = Static<typeof WaitingSelection>
type CancelOptions = Addressed & Selection & { readonly reason?: string; readonly preview?: true; readonly yes?: true }

export function command(): Command {
  return withMembers(withLane(withAnswer(new Command(), 'platform', 'decide')), WaitingSelection, {
    ...targetFlags,
    ...filterFlags,
  })
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
      await withSide(await sideOfLanes(options), options, ['decide'], work, {
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

function filterOf(lane: string | undefined, options: CancelOptions): Selection {
  const filter = membersOf(options, filterFlags)
  if (Object.keys(filter).length === 0)
    throw new CliError(
      exit.usage,
      'no message is selected: add --activity, --action, --user, --from or --until, or --all',
    )
  return { ...targetOf(lane, options), ...filter }
}

async function countMessages(client: Client<'platform'>, filter: Selection): Promise<number> {
  let count = 0
  for await (const page of pages((after?: string) =>
    client.call('POST /admin/lanes/cancel/preview', { body: { ...filter, after } }),
  ))
    count += page.count
  return count
}

const pollMs = 300
/** After this time the command ends; the platform continues. */
const mostWaitMs = 600_000

async function cancel(
  client: Client<'platform'>,
  body: Selection & { readonly id: string; readonly reason: string },
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
