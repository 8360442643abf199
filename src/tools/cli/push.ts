// Sends one message through the configured sides, and shows its life: the first try of an installation.

import { Command, Option } from 'commander'
import { loadConfig } from '../../sides/config/load.ts'
import type { OperatorConfig } from '../../sides/config/table.ts'
import { CliError, exit, exitWith } from './exit.ts'
import type { SideOptions } from './explain/sides.ts'
import { explain, withOtherSide } from './explain.ts'
import { interruptible } from './interruptible.ts'
import { wholeNumber } from './numbers.ts'
import { newId, type OneMessage, sendToOperator, sendToPlatform } from './push/one-message.ts'
import { withAddress } from './running-side.ts'
import { allSuccessful } from './send/summary.ts'
import { time } from './time.ts'

interface PushOptions extends SideOptions, OneMessage {
  /** The port of the page at which a browser subscribes. */
  readonly subscribe?: number
}

export function command(): Command {
  const command = withAddress(new Command(), 'platform', ['enqueue', 'counts', 'read'])
    .requiredOption('--user <id>', 'the user_id of the recipient')
    .option('--brand <number>', 'the brand of the user; default: the only brand of the side')
    .addOption(new Option('--channel <channel>', 'the channel').choices(['push', 'site']).default('push'))
    .option('--title <text>', 'the title', 'Hello')
    .option('--body <text>', 'the text')
    .addOption(
      new Option('--timeout <time>', 'the longest wait for the outcome').argParser(time).default(60_000, '1min'),
    )
    .addOption(
      new Option('--subscribe [port]', 'first serve a page on this machine, at which a browser subscribes to Web Push')
        .argParser(wholeNumber(0, 65_535))
        .preset('7004'),
    )
  return withOtherSide(command)
    .option('--json', 'print the life of the message as one JSON object')
    .addHelpText('after', help)
    .action(exitWith(push))
}

const help = `
The message has a new activity.id and no campaign. After its outcome, the command shows its life like \`bellwire explain\`. If the
configuration has only an operator, the command calls the operator as a platform does.

--subscribe prints the address of a page. Open it in a browser of this machine; from another machine, first open a tunnel:
ssh -L 7004:127.0.0.1:7004 HOST. The page subscribes the browser and links it to the user. Then the message is sent.

Exit codes: 0 successful, 1 refused, failed or still waiting, 2 wrong usage, 3 a side was not reached.

Examples:
  bellwire push --user 1001 --title "Hello"
  bellwire push --user 1001 --subscribe
  bellwire push --user 1001 --brand 2 --channel site --title "Hello" --body "Your bonus is here."
`

async function push(options: PushOptions): Promise<number> {
  const { operator, platform } = options.url === undefined ? await loadConfig(options.config) : {}
  if (options.subscribe !== undefined) await subscribe(options, options.subscribe, operator)
  const id = newId()
  const isDelivered =
    operator && !platform ? await throughOperator(operator, options, id) : await throughPlatform(options, id)
  const explained = await explain(id, { ...options, by: 'id', limit: 1 })
  return isDelivered ? explained : exit.failed
}

async function subscribe(message: OneMessage, port: number, operator: OperatorConfig | undefined): Promise<void> {
  if (!operator) throw new CliError(exit.usage, '--subscribe needs a configuration with a section operator')
  const { subscribeBrowser } = await import('./push/subscribe-browser.ts')
  await interruptible('interrupted; no message was sent', (signal) =>
    subscribeBrowser(operator, { ...message, port, signal }),
  )
}

async function throughOperator(operator: OperatorConfig, message: OneMessage, id: string): Promise<true> {
  const error = await sendToOperator(operator, message, id)
  if (error === undefined) return true
  throw new CliError(exit.failed, `the operator did not deliver the message ${id}: ${error}`)
}

async function throughPlatform(options: PushOptions, id: string): Promise<boolean> {
  const summary = await sendToPlatform(options, id)
  const [refused] = summary.refused_lines
  if (refused) throw new CliError(exit.failed, `the platform refused the message: ${refused.error}`)
  return allSuccessful(summary)
}
