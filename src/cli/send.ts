import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { duration } from '../config/kinds.ts'
import { loadConfig } from '../config/load.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'
import { createProgress } from './send/progress.ts'
import { sendFile } from './send/send-file.ts'
import { allSuccessful, phraseSummary } from './send/summary.ts'

interface SendOptions {
  readonly file: string
  readonly channel: 'push' | 'site'
  readonly config?: string
  readonly url?: string
  readonly key?: string
  readonly out?: string
  readonly timeout: number
  readonly patience: number
  readonly wait: boolean
  readonly json?: true
}

export function sendCommand(): Command {
  return withConfig(new Command())
    .requiredOption('-f, --file <file>', 'activity request records, one on each line (NDJSON); - reads standard input')
    .addOption(new Option('--channel <channel>', 'the channel').choices(['push', 'site']).default('push'))
    .addOption(
      new Option('--url <url>', 'the platform; default: where the configuration says that it listens').env(
        'BELLWIRE_URL',
      ),
    )
    .addOption(
      new Option(
        '--key <key>',
        'a key with the scopes enqueue and read; default: the first such key of the configuration',
      ).env('BELLWIRE_KEY'),
    )
    .option('--out <file>', 'write line, id, outcome and identifier of each record there, as NDJSON')
    .addOption(
      new Option('--timeout <time>', 'how long to wait for the outcomes').argParser(time).default(3_600_000, '1h'),
    )
    .addOption(
      new Option('--patience <time>', 'how long the platform may be away').argParser(time).default(120_000, '2min'),
    )
    .option('--no-wait', 'do not wait for the outcomes: end when every record is in the queue')
    .option('--json', 'end with the summary as one JSON object')
    .addHelpText('after', help)
    .action(async (options: SendOptions) => {
      process.exitCode = await send(options)
    })
}

const help = `
Sending a file again is safe: what the platform knows already is not sent twice, and has its first outcome.

Exit codes: 0 all successful (with --no-wait: all in the queue), 1 some are not, 2 wrong usage, 3 the platform cannot be reached.

Examples:
  bellwire send --file activities.ndjson --channel push
  BELLWIRE_KEY=… bellwire send --file activities.ndjson --url https://platform.example --out results.ndjson
  zcat activities.ndjson.gz | bellwire send --file - --json
`

async function send(options: SendOptions): Promise<number> {
  const { url, key } = await platformOf(options)
  const progress = createProgress(process.stderr)
  const ended = new AbortController()
  const interrupt = (): void => ended.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const summary = await sendFile({
      ...options,
      url,
      key,
      bytes: options.file === '-' ? undefined : await sizeOf(options.file),
      read: () => (options.file === '-' ? process.stdin : createReadStream(options.file, { highWaterMark: 1 << 20 })),
      patienceMs: options.patience,
      timeoutMs: options.timeout,
      signal: ended.signal,
      progress,
    })
    progress.end()
    console.log(options.json ? JSON.stringify(summary) : phraseSummary(summary))
    const well = options.wait ? allSuccessful(summary) : summary.refused === 0
    return well ? exit.ok : exit.failed
  } catch (error) {
    progress.end()
    if (!ended.signal.aborted) throw error
    throw new CliError(exit.failed, 'interrupted; send the same file again to go on: nothing is sent twice')
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** From the command line or, for what is not given there, from the configuration. */
async function platformOf({ url, key, config: file }: SendOptions): Promise<{ url: string; key: string }> {
  if (url !== undefined && !/^https?:/.test(url))
    throw new CliError(exit.usage, `--url is not an http or https address: ${url}`)
  if (url !== undefined && key !== undefined) return { url, key }
  const { platform } = await loadConfig(file)
  if (!platform)
    throw new CliError(exit.usage, 'which platform? Give --url and --key, or a configuration with a section platform')
  const found = platform.keys.find(({ scopes }) => scopes.includes('enqueue') && scopes.includes('read'))
  if (key === undefined && !found)
    throw new CliError(exit.usage, 'no key of platform.keys has both scopes enqueue and read: add one, or give --key')
  const host = platform.host === '0.0.0.0' ? '127.0.0.1' : platform.host === '::' ? '::1' : platform.host
  return {
    url: url ?? `http://${host.includes(':') ? `[${host}]` : host}:${platform.port}`,
    key: key ?? (found?.key as string),
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    await (await open(file)).close()
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    return found.isFile() ? found.size : undefined
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}

function time(text: string): number {
  const ms = duration({ says: '' }).parse(text, '')
  if (ms === undefined) throw new InvalidArgumentError('Write a time with its unit: 500ms, 20s, 5min or 1h.')
  return ms
}
