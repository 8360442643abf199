import { Command, Option } from 'commander'
import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { localUrl } from '../../fake/control.ts'
import type { PlatformMessage, PlatformRequest } from '../../fake/platform-request.ts'
import { CliError, exit } from '../exit.ts'
import { waitForSignal } from '../interruptible.ts'
import { brandNumber, wholeNumber } from '../numbers.ts'
import { toJson } from '../output.ts'
import { demandKey } from '../running-side.ts'
import { time } from '../time.ts'
import { explain, port, shownTimeOfDay } from './common.ts'

interface Options {
  readonly url: string
  readonly key: string
  readonly host: string
  readonly port: number
  readonly linkKey: string
  readonly brand: string
  readonly mode: 'single' | 'batch'
  readonly batch: number
  readonly span: number
  readonly timeout: number
  readonly push?: string
  readonly site?: string
  readonly amqp?: string
  readonly queue?: string
  readonly kafka?: string
  readonly topic?: string
  readonly json?: true
}

/** A platform that sends by hand and deviates on request, for the development of an operator. */
export function fakePlatformCommand(): Command {
  return new Command('platform')
    .description('run a platform in memory that sends to your operator by hand, and shows the answers')
    .addOption(
      new Option('--url <url>', 'the base URL of the operator, without /channels')
        .env('BELLWIRE_URL')
        .default('http://127.0.0.1:4800'),
    )
    .addOption(
      new Option('--key <key>', 'the API key that the operator issued')
        .env('BELLWIRE_KEY')
        .default('example-operator-key-1'),
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 chooses a free one', port, 4900)
    .option('--link-key <key>', 'the API key for device links and /admin', 'example-platform-key-1')
    .option('--brand <number>', 'the brand_id of all messages', brandNumber, '1')
    .addOption(new Option('--mode <mode>', 'one message per request, or batches').choices(modes).default('batch'))
    .option('--batch <number>', 'the most messages in a batch', wholeNumber(1, 100_000), 500)
    .option('--span <time>', 'an incomplete batch is sent after this time; default: 200ms', time, 200)
    .option('--timeout <time>', 'the longest wait for an answer; default: 30s', time, 30_000)
    .option('--push <file>', 'send this file as pushes: one activity request record in each line')
    .option('--site <file>', 'send this file as on-site notifications')
    .option('--amqp <url>', 'receive device links from a queue of this broker (AMQP 0-9-1)')
    .option('--queue <name>', 'the queue; default: device-links')
    .option('--kafka <address>', 'receive device links from a topic of this broker (host:port)')
    .option('--topic <name>', 'the topic; default: device-links')
    .option('--json', 'print one JSON object per request')
    .addHelpText('after', help)
    .action(run)
}

const modes = ['single', 'batch']

async function run(options: Options): Promise<void> {
  const { url, key, linkKey, brand, mode, batch, span, timeout, push, site, amqp, kafka, json } = options
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new CliError(exit.usage, `--url is not an http or https address: ${url}`)
  const { startFakePlatform } = await import('../../fake/fake-platform.ts')
  const { queue = 'device-links', topic = 'device-links', host, port: at } = options
  const fake = await startFakePlatform({
    host,
    port: at,
    operator: { url, key: demandKey(key) },
    key: linkKey,
    brand,
    mode,
    batchMax: batch,
    spanMs: span,
    timeoutMs: timeout,
    ...(amqp !== undefined && { amqp: { url: amqp, queue } }),
    ...(kafka !== undefined && { kafka: { brokers: [kafka], topic } }),
    onRequest: (request) => console.log(json ? toJson(request) : shownRequest(request)),
  }).catch(explain)
  const stopped = waitForSignal()
  if (json) console.log(toJson({ event: 'running', url: fake.url, link_key: linkKey, operator: url, brand }))
  else console.log(introduction(fake.url, options))
  try {
    for (const [channel, file] of [
      ['push', push],
      ['site', site],
    ] as const)
      if (file !== undefined) console.log(JSON.stringify({ file, ...(await fake.sendFile(channel, file)) }))
    await stopped
  } catch (error) {
    throw new CliError(exit.usage, (error as Error).message)
  } finally {
    await fake.close()
  }
}

function introduction(fake: string, { url, linkKey, brand, mode }: Options): string {
  const json = "-H 'content-type: application/json'"
  return `A fake platform is running, in memory.

  operator      ${url}, ${mode === 'batch' ? 'batches' : 'single messages'}, brand ${brand}
  platform_url  ${fake}
  X-Api-Key     ${linkKey}

Send a push, and cut the connection before the next answer:

  curl ${localUrl(fake)}/fake/push ${json} -d '{"user": "1001", "title": "Hello"}'
  curl ${localUrl(fake)}/fake/behaviours ${json} -d '{"cut": "after", "times": 1}'

Requests:
`
}

/**
 * @example
 * '12:01:02.123  → push/batch     3 messages   200  1 successful, 2 failed'
 * '    2  user 1002  failed: the user is blocked'
 */
function shownRequest(request: PlatformRequest): string {
  const { at, direction, endpoint, messages, status, lost, warnings = [], behaviour } = request
  const isSent = direction === 'sent'
  const counted = phraseCount(messages.length, 'message')
  const columns = [
    shownTimeOfDay(at),
    `${isSent ? '→' : '←'} ${endpoint}`.padEnd(17),
    (isSent ? (endpoint === 'reconciliation' ? '' : counted) : usersIn(messages)).padEnd(14),
    String(status ?? (isSent || !endpoint.includes(' ') ? 'no answer' : '')).padEnd(9),
    [lost, outcomesIn(messages), behaviour && JSON.stringify(behaviour)].filter(Boolean).join('  '),
  ]
  const problems = messages.filter(({ error }) => error !== undefined)
  return [
    columns.join('  ').trimEnd(),
    ...problems.slice(0, mostProblems).map(shownProblem),
    ...(problems.length > mostProblems ? [`    and ${problems.length - mostProblems} more`] : []),
    ...(status !== undefined && status !== 200 && problems.length === 0 ? [`    ${request.answer}`] : []),
    ...warnings.map((warning) => `    ${warning}`),
  ].join('\n')
}

const mostProblems = 5

const usersIn = (messages: readonly PlatformMessage[]): string =>
  messages.length === 0 ? 'unreadable' : messages.map(({ user }) => `user ${user}`).join(', ')

const shownProblem = ({ id, user, outcome, error }: PlatformMessage): string =>
  `    ${[id, `user ${user}`, `${outcome}: ${error}`].filter(Boolean).join('  ')}`

/** @example '1 successful, 2 failed' */
function outcomesIn(messages: readonly PlatformMessage[]): string {
  const counts = Map.groupBy(
    messages.filter(({ outcome }) => outcome !== undefined),
    ({ outcome }) => outcome,
  )
  return [...counts].map(([outcome, of]) => `${of.length} ${outcome}`).join(', ')
}

const help = `
The fake platform follows the interface, repeats fatal messages and lost requests, and shows each request with its answer.

  POST /fake/push, /fake/site   {"user": "1001", "title": "…", "count"?: 20}, an array of these, or complete records
  POST /fake/reconciliation     {"field": "blocked"} requests a list, and says whether a platform accepts it
  POST /fake/behaviours         {"endpoint"?, "user"?, "every"?, "times"?, and one of:
                                 to the operator:  "repeat": "after" | "at_once" | "key": "none" | "other"
                                                   "write_ms": 5000 | "cut": "before" | "after"
                                 device links:     "answer": {"status": 503} | "delay_ms": 5000 | "hang": true
                                                   "cut": "before" | "after"}
  GET /fake/behaviours          lists them; DELETE removes all, DELETE /fake/behaviours/ID removes one
  GET /fake/requests            ?after=10 lists the requests
  /admin                        Failed Actions, devices and lanes, with the key: bellwire failed --url … --key …

"endpoint" is push/single, push/batch, site/single, site/batch, reconciliation, device/link or device/unlink.

Examples:
  bellwire fake platform --url http://127.0.0.1:8080 --key my-key
  bellwire fake platform --mode single --push records.ndjson
  bellwire fake platform --amqp amqp://localhost --queue device-links
`
