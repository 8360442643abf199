// Sends one message through both sides, and shows its life: the first try of an installation, and a canary.

import { Command, Option } from 'commander'
import { CliError, exit } from './exit.ts'
import type { SideOptions } from './explain/sides.ts'
import { explain, withOtherSide } from './explain.ts'
import { createProgress } from './progress.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { sendFile } from './send/send-file.ts'
import { allSuccessful, type Summary } from './send/summary.ts'
import { time } from './time.ts'

interface PushOptions extends SideOptions {
  readonly user: string
  readonly brand?: string
  readonly channel: 'push' | 'site'
  readonly title: string
  readonly body?: string
  readonly timeout: number
}

export function command(): Command {
  const command = withAddress(new Command(), 'platform', ['enqueue', 'counts', 'read'])
    .requiredOption('--user <id>', 'the user_id of the recipient')
    .option('--brand <number>', 'the brand of the user; default: the only brand of the platform')
    .addOption(new Option('--channel <channel>', 'the channel').choices(['push', 'site']).default('push'))
    .option('--title <text>', 'the title', 'Hello')
    .option('--body <text>', 'the text')
    .addOption(
      new Option('--timeout <time>', 'the longest wait for the outcome').argParser(time).default(60_000, '1min'),
    )
  return withOtherSide(command)
    .option('--json', 'print the life of the message as one JSON object')
    .addHelpText('after', help)
    .action(async (options: PushOptions) => {
      process.exitCode = await push(options)
    })
}

const help = `
The message has a new activity.id and no campaign. After its outcome, the command shows its life like \`bellwire explain\`.

Exit codes: 0 successful, 1 refused, failed or still waiting, 2 wrong usage, 3 a side was not reached.

Examples:
  bellwire push --user 1001 --title "Hello"
  bellwire push --user 1001 --brand 2 --channel site --title "Hello" --body "Your bonus is here."
`

async function push(options: PushOptions): Promise<number> {
  const id = newId()
  const summary = await sendOne(options, id)
  refuse(summary)
  const explained = await explain(id, { ...options, by: 'id', limit: 1 })
  return allSuccessful(summary) ? explained : exit.failed
}

export type OneMessage = Addressed & Pick<PushOptions, 'user' | 'brand' | 'channel' | 'title' | 'body' | 'timeout'>

/** Enqueues one message at the platform, and waits for its outcome. */
export async function sendOne(options: OneMessage, id: string): Promise<Summary> {
  const { channel, timeout } = options
  return withSide('platform', options, ['enqueue', 'counts', 'read'], async (client, signal) => {
    const brand = options.brand ?? onlyBrand((await client.call('GET /admin/lanes')).lanes, channel)
    const line = Buffer.from(`${recordOf(options, brand, id)}\n`)
    const progress = createProgress(process.stderr)
    const read = async function* (): AsyncGenerator<Buffer> {
      yield line
    }
    const file = { file: 'the message', read, bytes: line.length }
    return sendFile({ ...file, channel, wait: true, timeoutMs: timeout, client, signal, progress })
  })
}

/** Later than all ids of the sender that were made before: microseconds. */
export const newId = (): string => String(BigInt(Date.now()) * 1000n + (process.hrtime.bigint() % 1000n))

type Content = Pick<PushOptions, 'user' | 'title' | 'body'>

/** brand_id is written without quotes, with all its digits. */
export function recordOf({ user, title, body }: Content, brand: string, id: string): string {
  const content = JSON.stringify({ title, body }).slice(1, -1)
  return `{"activity":{"id":${id},"brand_id":${brand},"user_id":${JSON.stringify(user)}},${content}}`
}

function onlyBrand(lanes: readonly { readonly name: string }[], channel: string): string {
  const brands = lanes.map(({ name }) => name.split('/')).flatMap(([brand = '', of]) => (of === channel ? [brand] : []))
  const [only] = brands
  if (only !== undefined && brands.length === 1) return only
  const known =
    brands.length === 0 ? `the platform has no lane of the channel ${channel}` : `brands: ${brands.join(', ')}`
  throw new CliError(exit.usage, `--brand is missing: ${known}`)
}

function refuse({ refused_lines: [refused] }: Summary): void {
  if (refused) throw new CliError(exit.failed, `the platform refused the message: ${refused.error}`)
}
