import { Command, Option } from 'commander'
import { version } from '../../../base/runtime/version.ts'
import type { Facts } from '../../checker/facts.ts'
import type { Planned } from '../../checker/plan.ts'
import { platformChecks } from '../../checker/platform/checks.ts'
import { limitRecords, openPlatformRun, planPlatformRun } from '../../checker/platform/prepare.ts'
import { createReport } from '../../checker/report.ts'
import type { Prepared } from '../../checker/run.ts'
import type { Feature } from '../../checker/target.ts'
import { ask } from '../confirm.ts'
import { CliError, exit, exitWith } from '../exit.ts'
import { createProgress } from '../progress.ts'
import { enqueuer } from './enqueue-records.ts'
import { phraseMissing } from './facts.ts'
import { platformPreparationTable } from './platform-preparation.ts'
import { combine, exampleKey, factsOf, type GivenOptions } from './platform-settings.ts'
import { addRunOptions, demandChecks, explain, publish, type RunOptions, readEarlier, runShown } from './run-shown.ts'
import { sendFeatures } from './send-features.ts'
import { withSettings } from './with-settings.ts'

interface CheckPlatformOptions extends GivenOptions, Omit<RunOptions, 'rules'> {
  readonly askRestart?: true
  readonly dryRun?: true
}

export function checkPlatformCommand(): Command {
  const command = new Command('platform')
    .description('play an operator towards a platform, and report every rule that it violates')
    .option('-f, --file <file>', 'read the settings from this file (YAML or JSON); options override it')
    .addOption(
      new Option('--key <key>', `the API key that the platform is configured with; default: ${exampleKey}`).env(
        'BELLWIRE_KEY',
      ),
    )
    .option('--ask-restart', 'ask the person at the terminal to restart the platform')
    .option('--dry-run', 'print the plan, and have nothing enqueued')
  return addRunOptions(withSettings(command, platformPreparationTable, placeholders), mostRecords)
    .addHelpText('after', help)
    .action(exitWith(checkPlatform))
}

const placeholders = {
  host: '<address>',
  port: '<number>',
  key_file: '<file>',
  enqueue_command: '<command>',
  failed_command: '<command>',
  reconcile_command: '<command>',
  restart_command: '<command>',
  platform_url: '<url>',
  link_key_file: '<file>',
  devices_command: '<command>',
  status_secret_file: '<file>',
  folder: '<folder>',
  brand: '<number>',
  user: '<id>',
  other_user: '<id>',
  features: '<list>',
  batch_max: '<number>',
  batch_span: '<time>',
  platform_timeout: '<time>',
  patience: '<time>',
  quiet: '<time>',
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
  const { enqueueCommand, rules, features, host, port: at, brand } = settings
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
      version: version(),
      interfaceVersion: options.interface,
      agreed: (settings.agreed ?? {}) as Readonly<Record<string, string>>,
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
  return [
    `The platform ${sends} to ${used.join(', ')}: ${total} checks, counted for each endpoint, with at most ${messages} records.`,
    ...(notOffered.length > 0 ? [`Not used, and not checked: ${notOffered.join(', ')}.`] : []),
    ...phraseMissing(facts, checks),
  ].join('\n')
}
