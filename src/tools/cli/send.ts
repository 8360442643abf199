import { Command, Option } from 'commander'
import { exit, exitWith } from './exit.ts'
import { inputFile } from './input-file.ts'
import { print } from './output.ts'
import { createProgress } from './progress.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { sendFile } from './send/send-file.ts'
import { allSuccessful, phraseSummary } from './send/summary.ts'
import { timeOption } from './time.ts'

interface SendOptions extends Addressed {
  readonly file: string
  readonly channel: 'push' | 'site'
  readonly out?: string
  readonly timeout: number
  readonly wait: boolean
}

export function command(): Command {
  return withAddress(new Command(), 'platform', ['enqueue', 'counts'], '2min')
    .requiredOption('-f, --file <file>', 'activity request records, one per line (NDJSON); - reads standard input')
    .addOption(new Option('--channel <channel>', 'the channel').choices(['push', 'site']).default('push'))
    .option('--out <file>', 'write line, id, outcome and identifier of each record to this file, as NDJSON')
    .addOption(timeOption('--timeout <time>', 'the longest wait for the outcomes', '1h'))
    .option('--no-wait', 'exit when all records are in the queue, without waiting for their outcomes')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', help)
    .action(exitWith(send))
}

const help = `
It is safe to send a file again: records that the platform has already accepted are skipped and keep their outcome.

Exit codes: 0 all successful (with --no-wait: all in the queue), 1 not all, 2 wrong usage, 3 the platform cannot be reached.

Examples:
  bellwire send --file activities.ndjson --channel push
  BELLWIRE_KEY=… bellwire send --file activities.ndjson --url https://platform.example --out results.ndjson
  zcat activities.ndjson.gz | bellwire send --file - --json
`

async function send(options: SendOptions): Promise<number> {
  const input = await inputFile(options.file)
  const progress = createProgress(process.stderr)
  const summary = await withSide(
    'platform',
    options,
    ['enqueue', 'counts'],
    (client, signal) => sendFile({ ...options, ...input, timeoutMs: options.timeout, client, signal, progress }),
    {
      progress,
      interrupted: 'interrupted; send the same file again to continue: accepted records are skipped',
    },
  )
  print(options, summary, phraseSummary)
  const succeeded = options.wait ? allSuccessful(summary) : summary.refused === 0
  return succeeded ? exit.ok : exit.failed
}
