import { Command, Option } from 'commander'
import type { Facts } from '../../checker/facts.ts'
import { platformChecks } from '../../checker/platform/checks.ts'
import { limitRecords, openPlatformRun, type Planned, planPlatformRun } from '../../checker/platform/prepare.ts'
import { createReport } from '../../checker/report.ts'
import type { Prepared } from '../../checker/run.ts'
import type { Feature } from '../../checker/target.ts'
import { ask } from '../confirm.ts'
import { CliError, exit } from '../exit.ts'
import { port } from '../fake/common.ts'
import { createProgress } from '../progress.ts'
import { time } from '../time.ts'
import { version } from '../version.ts'
import { enqueuer } from './enqueue-records.ts'
import { missingPreparations } from './facts.ts'
import { batchMax, digits, oneOfEach } from './option-kinds.ts'
import { combine, defaults, exampleKey, factsOf, type GivenOptions } from './platform-settings.ts'
import { addRunOptions, demandChecks, explain, publish, type RunOptions, readEarlier, runShown } from './run-shown.ts'
import { sendFeatures } from './send-features.ts'

interface CheckPlatformOptions extends GivenOptions, Omit<RunOptions, 'rules'> {
  readonly askRestart?: true
  readonly dryRun?: true
}

export function checkPlatformCommand(): Command {
  const command = new Command('platform')
    .description('play an operator towards a platform, and report every rule that it violates')
    .option('-f, --file <file>', 'read the settings from this file (YAML or JSON); options override it')
    .option('--host <address>', `the address at which the platform reaches this command; default: ${defaults.host}`)
    .option('--port <number>', `the port; 0 chooses a free one; default: ${defaults.port}`, port)
    .addOption(
      new Option('--key <key>', `the API key that the platform is configured with; default: ${exampleKey}`).env(
        'BELLWIRE_KEY',
      ),
    )
    .option('--key-file <file>', 'read the key from this file')
    .option('--enqueue-command <command>', 'a shell command that makes the platform send $FILE on $CHANNEL')
    .option('--failed-command <command>', 'a shell command that prints Failed Actions: any text with the ids')
    .option(
      '--reconcile-command <command>',
      'a shell command that makes the platform request the list of $FIELD; it ends with 0 if the platform used the list',
    )
    .option('--restart-command <command>', 'a shell command that restarts the platform')
    .option('--ask-restart', 'ask the person at the terminal to restart the platform')
    .option('--platform-url <url>', 'the {platform_url} of the platform, for links of devices and statuses')
    .option('--link-key-file <file>', 'read the API key of links, which the platform issues, from this file')
    .option('--devices-command <command>', 'a shell command that prints the tokens of the devices of $USER_ID')
    .option('--status-secret-file <file>', 'read the secret that signs statuses, whsec_…, from this file')
    .option('--folder <folder>', 'where the files of records are written; default: a temporary folder')
    .option('--brand <number>', `the brand_id of all records; default: ${defaults.brand}`, digits)
    .option('--user <id>', `the user_id of all records; default: ${defaults.user}`)
    .option('--other-user <id>', 'another user, to whom a device is moved; default: the one of --user with -2')
    .option(
      '--features <list>',
      `the endpoints that the platform must use: ${sendFeatures.join(',')}`,
      oneOfEach(sendFeatures),
    )
    .option('--batch-max <number>', 'the number of messages in a batch that the platform is configured with', batchMax)
    .option('--batch-span <time>', 'the time span after which the platform sends an incomplete batch', time)
    .option('--platform-timeout <time>', 'the time after which the platform gives up on an answer', time)
    .option('--patience <time>', 'the longest wait for a request or a repetition; default: 60s', time)
    .option('--quiet <time>', 'the time to wait at the end of the run for a wrong repetition; default: 5s', time)
    .option('--dry-run', 'print the plan, and have nothing enqueued')
  return addRunOptions(command, mostRecords)
    .addHelpText('after', help)
    .action(async (options: CheckPlatformOptions) => {
      process.exitCode = await checkPlatform(options)
    })
}

const help = `
Point the platform to this command, as its operator. It writes files with one activity request record in each line, one for each step.
With --enqueue-command it has them sent by itself; otherwise it asks you to enqueue each file. All records have bellwire-check in their
trigger_hash. No message reaches a person. docs/test-platform.md has the whole way; docs/checks.md lists all checks.

Exit codes: 0 all required checks passed, 1 a required check failed, 2 could not run, or a required check could not be judged.

Examples:
  bellwire check platform --batch-max 500 --report report.html
  bellwire check platform --file check-platform.yaml --report report.xml
  bellwire check platform --enqueue-command 'my-platform import --channel "$CHANNEL" "$FILE"'
`

const checks = platformChecks.flatMap(({ checks: of }) => of)

async function checkPlatform(options: CheckPlatformOptions): Promise<number> {
  const earlier = await readEarlier(options)
  const { settings, key } = await combine(options)
  const { enqueueCommand, rules, features, host, port: at, brand, agreed } = settings
  const { only, firstId, maxMessages } = options
  const progress = createProgress(process.stderr)
  const facts = await factsOf(settings, options.askRestart === true, progress.end)
  const chosen = { checks, facts, rules, ...(only && { only }) }
  if (options.dryRun) {
    const sendsTo = features ?? assumedFeatures
    const planned = planPlatformRun(chosen, sendsTo)
    demandChecks(planned, options)
    try {
      limitRecords(planned.messages, maxMessages)
    } catch (error) {
      explain(error)
    }
    process.stderr.write(`${phrasePlan(sendsTo, planned, facts, features ? 'would send' : 'is assumed to send')}\n`)
    return exit.ok
  }
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  if (enqueueCommand === undefined && !isTerminal)
    throw new CliError(exit.usage, 'nobody can enqueue the records: give --enqueue-command, or run on a terminal')
  const opened = await openPlatformRun({
    ...chosen,
    host,
    port: at,
    key,
    mostMessages: maxMessages,
    ...(features && { features }),
    ...(firstId !== undefined && { firstId }),
    enqueue: enqueuer(settings, progress.end),
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new CliError(exit.usage, 'the port is in use: choose another with --port; --port 0 finds a free one')
    throw error
  })
  try {
    process.stderr.write(
      `The platform must send to ${opened.url}, brand ${brand}, with the API key ${key === exampleKey ? key : 'that you gave'}.\n`,
    )
    if (enqueueCommand === undefined) await ask('Configure it, and press Enter: ')
    const prepared = await opened.prepare().catch(explain)
    demandChecks(prepared, options)
    const used = sendFeatures.filter((feature) => prepared.endpoints.has(feature))
    process.stderr.write(`${phrasePlan(used, prepared, facts, 'sends')}\n`)
    const report = createReport({
      subject: 'platform',
      url: opened.url,
      groups: platformChecks,
      rules,
      only,
      facts,
      outcome: await runShown(prepared, progress),
      mark: prepared.mark,
      offered: used,
      notOffered: sendFeatures.filter((feature) => !prepared.endpoints.has(feature)),
      version: await version(),
      interfaceVersion: options.interface,
      agreed,
    })
    return await publish(report, options, earlier)
  } finally {
    await Promise.all([opened.close(), ...(facts.links ?? []).map((channel) => channel.close())])
  }
}

/** Enough for batches of 2,000 messages in both channels: the records reach no person. */
const mostRecords = 25_000

/** The endpoints of a plan without a platform: most platforms send in batches. */
const assumedFeatures: readonly Feature[] = ['push.batch', 'site.batch']

function phrasePlan(
  used: readonly Feature[],
  { total, messages, notOffered = [] }: Planned & Partial<Pick<Prepared, 'notOffered'>>,
  facts: Facts,
  sends: string,
): string {
  const missing = missingPreparations(facts, checks)
  return [
    `The platform ${sends} to ${used.join(', ')}: ${total} checks, counted for each endpoint, with at most ${messages} records.`,
    ...(notOffered.length > 0 ? [`Not used, and not checked: ${notOffered.join(', ')}.`] : []),
    ...(missing.length > 0
      ? ['Not prepared, so some checks are skipped:', ...missing.map((line) => `  - ${line}`)]
      : []),
  ].join('\n')
}
