import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import type { Facts } from '../../checker/facts.ts'
import { platformChecks } from '../../checker/platform/checks.ts'
import type { Enqueued } from '../../checker/platform/lane.ts'
import { openPlatformRun } from '../../checker/platform/prepare.ts'
import { createReport } from '../../checker/report.ts'
import type { Prepared } from '../../checker/run.ts'
import { type Feature, features } from '../../checker/target.ts'
import { CliError, exit } from '../exit.ts'
import { port } from '../fake/common.ts'
import { createProgress } from '../progress.ts'
import { readKey } from '../running-side.ts'
import { time } from '../time.ts'
import { version } from '../version.ts'
import { missingPreparations } from './facts.ts'
import { batchMax, digits, oneOfEach } from './option-kinds.ts'
import { addRunOptions, demandChecks, explain, publish, type RunOptions, readEarlier, runShown } from './run-shown.ts'
import { ask, runShell } from './shell.ts'

interface CheckPlatformOptions extends RunOptions {
  readonly host: string
  readonly port: number
  readonly key: string
  readonly keyFile?: string
  readonly enqueueCommand?: string
  readonly folder?: string
  readonly failedCommand?: string
  readonly reconcileCommand?: string
  readonly brand: string
  readonly user: string
  readonly features?: readonly Feature[]
  readonly batchMax?: number
  readonly platformTimeout?: number
  readonly patience: number
  readonly quiet: number
}

const sendFeatures = features.filter((feature) => feature !== 'reconciliation')

export function checkPlatformCommand(): Command {
  const command = new Command('platform')
    .description('play an operator towards a platform, and report every rule that it violates')
    .option('--host <address>', 'the address at which the platform reaches this command', '127.0.0.1')
    .option('--port <number>', 'the port; 0 chooses a free one', port, 4850)
    .addOption(
      new Option('--key <key>', 'the API key that the platform is configured with')
        .env('BELLWIRE_KEY')
        .default('example-operator-key-1'),
    )
    .option('--key-file <file>', 'read the key from this file')
    .option('--enqueue-command <command>', 'a shell command that makes the platform send $FILE on $CHANNEL')
    .option('--failed-command <command>', 'a shell command that prints Failed Actions: any text with the ids')
    .option(
      '--reconcile-command <command>',
      'a shell command that makes the platform request the list of $FIELD; it ends with 0 if the platform used the list',
    )
    .option('--folder <folder>', 'where the files of records are written; default: a temporary folder')
    .option('--brand <number>', 'the brand_id of all records', digits, '1')
    .option('--user <id>', 'the user_id of all records', 'bellwire-check')
    .option(
      '--features <list>',
      `the endpoints that the platform must use: ${sendFeatures.join(',')}`,
      oneOfEach(sendFeatures),
    )
    .option('--batch-max <number>', 'the number of messages in a batch that the platform is configured with', batchMax)
    .option('--platform-timeout <time>', 'the time after which the platform gives up on an answer', time)
    .option('--patience <time>', 'the longest wait for a request or a repetition; default: 60s', time, 60_000)
    .option('--quiet <time>', 'the time to wait for a wrong repetition; default: 5s', time, 5_000)
  return addRunOptions(command)
    .addHelpText('after', help)
    .action(async (options: CheckPlatformOptions) => {
      process.exitCode = await checkPlatform(options)
    })
}

const help = `
Point the platform to this command, as its operator. It writes files with one activity request record in each line, one for each step.
With --enqueue-command it has them sent by itself; otherwise it asks you to enqueue each file. All records have bellwire-check in their
trigger_hash. No message reaches a person. docs/testing-your-own.md has the whole way; docs/checks.md lists all checks.

Exit codes: 0 all required checks passed, 1 a required check failed, 2 could not run, or a required check could not be judged.

Examples:
  bellwire check platform --batch-max 500 --report report.html
  bellwire check platform --enqueue-command 'my-platform import --channel "$CHANNEL" "$FILE"'
`

const checks = platformChecks.flatMap(({ checks: of }) => of)

async function checkPlatform(options: CheckPlatformOptions): Promise<number> {
  const earlier = await readEarlier(options)
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  if (options.enqueueCommand === undefined && !isTerminal)
    throw new CliError(exit.usage, 'nobody can enqueue the records: give --enqueue-command, or run on a terminal')
  const { rules = 'bellwire', keyFile, host, port: at, maxMessages, only, firstId, features: declared } = options
  const key = keyFile === undefined ? options.key : await readKey(keyFile)
  const facts = factsFrom(options)
  const progress = createProgress(process.stderr)
  const opened = await openPlatformRun({
    host,
    port: at,
    key,
    checks,
    facts,
    rules,
    mostMessages: maxMessages,
    ...(only && { only }),
    ...(declared && { features: declared }),
    ...(firstId !== undefined && { firstId }),
    enqueue: await enqueuer(options, progress.end),
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new CliError(exit.usage, 'the port is in use: choose another with --port; --port 0 finds a free one')
    throw error
  })
  try {
    process.stderr.write(
      `The platform must send to ${opened.url}, brand ${options.brand}, with the API key ${shownKey(options)}.\n`,
    )
    if (options.enqueueCommand === undefined) await ask('Configure it, and press Enter: ')
    const prepared = await opened.prepare().catch(explain)
    demandChecks(prepared, options)
    process.stderr.write(`${phrasePlan(prepared, facts)}\n`)
    const report = createReport({
      subject: 'platform',
      url: opened.url,
      groups: platformChecks,
      rules,
      only,
      facts,
      outcome: await runShown(prepared, progress),
      mark: prepared.mark,
      offered: sendFeatures.filter((feature) => prepared.endpoints.has(feature)),
      notOffered: sendFeatures.filter((feature) => !prepared.endpoints.has(feature)),
      version: await version(),
      interfaceVersion: options.interface,
      agreed: {},
    })
    return await publish(report, options, earlier)
  } finally {
    await opened.close()
  }
}

/** The key of the examples is no secret. */
const shownKey = ({ key, keyFile }: CheckPlatformOptions): string =>
  keyFile === undefined && key.startsWith('example-') ? key : 'that you gave'

function factsFrom(options: CheckPlatformOptions): Facts {
  const { brand, user, batchMax: most, platformTimeout, patience, quiet, failedCommand, reconcileCommand } = options
  return {
    brand,
    users: { normal: user },
    known: {},
    content: { title: 'Bellwire check', body: 'A test message of bellwire check. Please ignore it.' },
    batchMax: most ?? defaultBatch,
    batchMaxAgreed: most !== undefined,
    ...(platformTimeout !== undefined && { platformTimeout }),
    ...(failedCommand !== undefined && { failedActions: () => runShell('failed', failedCommand) }),
    ...(reconcileCommand !== undefined && {
      reconcile: (field) =>
        runShell('reconcile', reconcileCommand, { FIELD: field }).then(
          () => true,
          () => false,
        ),
    }),
    pace: { timeout: 30_000, slow: 0, giveUp: 0, retryPause: 0, patience, quiet },
  }
}

const defaultBatch = 100

/** Writes the file of a step, and has it enqueued by the command, or by the person at the terminal. */
async function enqueuer(
  { enqueueCommand, folder }: CheckPlatformOptions,
  endProgress: () => void,
): Promise<(file: Enqueued) => Promise<void>> {
  const to = folder ?? (await mkdtemp(join(tmpdir(), 'bellwire-check-')))
  await mkdir(to, { recursive: true })
  let step = 0
  return async ({ channel, name, records }) => {
    const file = join(to, `${String(++step).padStart(2, '0')}-${name}.ndjson`)
    await writeFile(file, records.map(({ text }) => `${text}\n`).join(''))
    if (enqueueCommand !== undefined) {
      await runShell('enqueue', enqueueCommand, { FILE: file, CHANNEL: channel })
      return
    }
    endProgress()
    const words = channel === 'push' ? 'push notifications' : 'on-site notifications'
    await ask(`Enqueue the ${records.length} records of ${file} as ${words}, and press Enter: `)
  }
}

function phrasePlan({ endpoints, total, messages, notOffered }: Prepared, facts: Facts): string {
  const missing = missingPreparations(facts, checks)
  return [
    `The platform sends to ${sendFeatures.filter((feature) => endpoints.has(feature)).join(', ')}: ${total} checks, counted for each endpoint, with at most ${messages} records.`,
    ...(notOffered.length > 0 ? [`Not used, and not checked: ${notOffered.join(', ')}.`] : []),
    ...(missing.length > 0
      ? ['Not prepared, so some checks are skipped:', ...missing.map((line) => `  - ${line}`)]
      : []),
  ].join('\n')
}
