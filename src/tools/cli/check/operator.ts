import { Command, Option } from 'commander'
import { version } from '../../../base/runtime/version.ts'
import type { Facts } from '../../checker/facts.ts'
import { operatorChecks } from '../../checker/operator/checks.ts'
import { createReport } from '../../checker/report.ts'
import { type Prepared, prepareRun } from '../../checker/run.ts'
import { features } from '../../checker/target.ts'
import { agrees } from '../confirm.ts'
import { CliError, exit, exitWith } from '../exit.ts'
import { createProgress } from '../progress.ts'
import { demandKey, readKey } from '../running-side.ts'
import { askPreparation } from './ask-preparation.ts'
import { type FactOptions, factsFrom, phraseMissing } from './facts.ts'
import { type Preparation, preparationTable, readPreparation } from './preparation.ts'
import { addRunOptions, demandChecks, explain, publish, type RunOptions, readEarlier, runShown } from './run-shown.ts'
import { restartByCommand, restartByPerson } from './shell.ts'
import { withProfile } from './with-profile.ts'
import { withSettings } from './with-settings.ts'

interface CheckOptions extends FactOptions, RunOptions {
  readonly key?: string
  readonly file?: string
  readonly askRestart?: true
  readonly dryRun?: true
  readonly yes?: true
}

export function checkOperatorCommand(): Command {
  const command = new Command('operator')
    .description('play the platform towards an operator, and report every rule that it violates')
    .addOption(new Option('--url <url>', 'the base URL of the operator, without /channels').env('BELLWIRE_URL'))
    .addOption(
      new Option(
        '--key <key>',
        'the API key that the operator issued. ps shows it to all users of this machine: prefer --key-file or the variable',
      ).env('BELLWIRE_KEY'),
    )
    .option('-f, --file <file>', 'read the prepared facts from this file (YAML or JSON); options override it')
    .option('--user <id>', 'a user who can receive messages on all channels')
    .option('--blocked-user <id>', 'a user who must not receive messages')
    .option('--user-without-device <id>', 'a user whom no push can reach')
    .option('--ask-restart', 'ask the person at the terminal to restart the operator')
    .option('--dry-run', 'print the plan, and send no message')
    .option('-y, --yes', 'send the messages without asking')
  return addRunOptions(withSettings(command, preparationTable, placeholders), 5_000)
    .addHelpText('after', help)
    .action(exitWith(checkOperator))
}

const placeholders = {
  key_file: '<file>',
  profile: '<file>',
  brand: '<number>',
  fields: '<list>',
  batch_max: '<number>',
  features: '<list>',
  timeout: '<time>',
  restart_command: '<command>',
}

const help = `
Sends messages to the named users only, after it has said how many. All of them have bellwire-check in their trigger_hash.
docs/test-operator.md leads from nothing to a green report; docs/checks.md lists all checks.

Exit codes: 0 all required checks passed, 1 a required check failed, 2 could not run, or a required check could not be judged.

Examples:
  BELLWIRE_KEY=… bellwire check operator --url https://operator.example --user 1001 --blocked-user 1002
  bellwire check operator --file check.yaml --yes --report report.html --report report.xml
  bellwire check operator --file check.yaml --only batch,absence --compare before.json
`

const checks = operatorChecks.flatMap(({ checks: of }) => of)

async function checkOperator(options: CheckOptions): Promise<number> {
  const earlier = await readEarlier(options)
  const written = await readPreparation(options.file)
  const key = await keyOf(options, written)
  const profile = options.profile ?? written.profile
  const file = profile === undefined ? written : await withProfile(profile, key, written, options.brand)
  const progress = createProgress(process.stderr)
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true && !options.yes
  const answers = isTerminal ? await askPreparation(options, file) : {}
  const settings = { ...file, ...answers, ...options }
  const { rules, features: declared, agreed, restartCommand: command } = settings
  const restart =
    command !== undefined ? restartByCommand(command) : options.askRestart && restartByPerson('operator', progress.end)
  const facts = factsFrom(settings, restart || undefined)
  const url = addressOf(settings)
  const prepared = await prepareRun({
    url,
    key,
    checks,
    facts,
    rules,
    mostMessages: options.maxMessages,
    ...(options.only && { only: options.only }),
    ...(declared && declared.length > 0 && { features: declared }),
    ...(options.firstId !== undefined && { firstId: options.firstId }),
  }).catch(explain)
  try {
    demandChecks(prepared, options)
    process.stderr.write(`${phrasePlan(prepared, facts, url)}\n`)
    if (options.dryRun) return exit.ok
    await confirm(options, isTerminal)
  } catch (error) {
    prepared.close()
    throw error
  } finally {
    if (options.dryRun) prepared.close()
  }
  const report = createReport({
    subject: 'operator',
    url,
    groups: operatorChecks,
    rules,
    only: options.only,
    facts,
    outcome: await runShown(prepared, progress),
    mark: prepared.mark,
    offered: [...prepared.endpoints.keys()],
    notOffered: features.filter((feature) => !prepared.endpoints.has(feature)),
    version: version(),
    interfaceVersion: options.interface,
    agreed: (agreed ?? {}) as Readonly<Record<string, string>>,
  })
  return publish(report, options, earlier)
}

async function keyOf({ key, keyFile }: CheckOptions, file: Preparation): Promise<string> {
  const from = keyFile ?? (key === undefined ? file.keyFile : undefined)
  const found = demandKey(from === undefined ? key : await readKey(from))
  if (found !== undefined) return found
  throw new CliError(exit.usage, 'no API key: give BELLWIRE_KEY or --key-file, with the key that the operator issued')
}

function addressOf({ url }: Pick<Preparation, 'url'>): string {
  if (url === undefined) throw new CliError(exit.usage, 'no operator: give --url, or url in the file')
  if (/^https?:/.test(url) && URL.canParse(url)) return url
  throw new CliError(exit.usage, `--url is not an http or https address: ${url}`)
}

function phrasePlan({ messages, total, notOffered }: Prepared, facts: Facts, url: string): string {
  const { normal, blocked, withoutDevice } = facts.users
  const users = [
    normal,
    ...(blocked ? [`${blocked} (blocked)`] : []),
    ...(withoutDevice ? [`${withoutDevice} (without device)`] : []),
  ]
  return [
    `${url}: ${total} checks, counted for each endpoint, channel and field.`,
    `Sends at most ${messages} messages, only to ${users.length === 1 ? 'the user' : 'the users'} ${users.join(', ')}, brand ${facts.brand}.`,
    ...(notOffered.length > 0 ? [`Not offered, and not checked: ${notOffered.join(', ')}.`] : []),
    ...phraseMissing(facts, checks),
  ].join('\n')
}

async function confirm({ yes }: CheckOptions, isTerminal: boolean): Promise<void> {
  if (yes) return
  if (!isTerminal) throw new CliError(exit.usage, 'add --yes to send the messages, or --dry-run to see the plan')
  if (!(await agrees('Send them?'))) throw new CliError(exit.usage, 'nothing was sent')
}
