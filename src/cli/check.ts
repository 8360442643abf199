import { styleText } from 'node:util'
import { Command, Option } from 'commander'
import { type RuleSet, ruleSets } from '../checker/check.ts'
import type { Facts } from '../checker/facts.ts'
import { operatorChecks } from '../checker/operator/checks.ts'
import { CouldNotRun } from '../checker/preflight.ts'
import { createReport } from '../checker/report.ts'
import type { Report } from '../checker/report-schema.ts'
import { compareReports } from '../checker/reports/compare.ts'
import { textReport } from '../checker/reports/text.ts'
import { type Prepared, prepareRun, type Result } from '../checker/run.ts'
import { type Feature, features } from '../checker/target.ts'
import { reconciliationFields } from '../contract/records.ts'
import { askPreparation } from './check/ask-preparation.ts'
import { type FactOptions, factsFrom, missingPreparations } from './check/facts.ts'
import { batchMax, collect, commaSeparated, count, digits, firstId, oneOfEach } from './check/option-kinds.ts'
import { type Preparation, readPreparation } from './check/preparation.ts'
import { ask, restartByCommand, restartByPerson } from './check/restart.ts'
import { withProfile } from './check/with-profile.ts'
import { checkReportFiles, readReport, writeReports } from './check/write-reports.ts'
import { CliError, exit } from './exit.ts'
import { createProgress } from './progress.ts'
import { readKey } from './running-side.ts'
import { time } from './time.ts'
import { version } from './version.ts'

interface CheckOptions extends FactOptions {
  readonly url?: string
  readonly key?: string
  readonly keyFile?: string
  readonly file?: string
  readonly profile?: string
  readonly features?: readonly Feature[]
  readonly rules?: RuleSet
  readonly only?: readonly string[]
  readonly restartCommand?: string
  readonly askRestart?: true
  readonly maxMessages: number
  readonly firstId?: bigint
  readonly report: readonly string[]
  readonly compare?: string
  readonly interface: string
  readonly dryRun?: true
  readonly strict?: true
  readonly yes?: true
  readonly json?: true
}

export function checkCommand(): Command {
  return new Command()
    .addCommand(operatorCommand())
    .addHelpText('after', '\nExamples:\n  bellwire check operator --url https://operator.example --user 1001\n')
}

function operatorCommand(): Command {
  return new Command('operator')
    .description('play the platform towards an operator, and report every rule that it violates')
    .addOption(new Option('--url <url>', 'the base URL of the operator, without /channels').env('BELLWIRE_URL'))
    .addOption(
      new Option(
        '--key <key>',
        'the API key that the operator issued. ps shows it to all users of this machine: prefer --key-file or the variable',
      ).env('BELLWIRE_KEY'),
    )
    .option('--key-file <file>', 'read the key from this file')
    .option('--profile <file>', 'read address, endpoints, batch maximum and fields from an integration profile')
    .option('-f, --file <file>', 'read what is prepared from this file (YAML or JSON); options override it')
    .option('--brand <number>', 'the brand_id of all messages; default: 1', digits)
    .option('--user <id>', 'a user who can receive messages on all channels')
    .option('--blocked-user <id>', 'a user who must not receive messages')
    .option('--user-without-device <id>', 'a user whom no push can reach')
    .option(
      '--fields <list>',
      'the fields that the operator can list, separated by commas',
      oneOfEach(reconciliationFields),
    )
    .option('--batch-max <number>', 'the batch maximum that the operator announced; default: 100 messages', batchMax)
    .option('--features <list>', `the endpoints that must be offered: ${features.join(',')}`, oneOfEach(features))
    .addOption(new Option('--rules <rules>', 'the rules to check; default: bellwire').choices(ruleSets))
    .option('--only <list>', 'only these checks or groups: batch,repeat.single', commaSeparated)
    .addOption(new Option('--timeout <time>', 'the longest wait for an answer; default: 30s').argParser(time))
    .option('--restart-command <command>', 'a shell command that restarts the operator')
    .option('--ask-restart', 'ask the person at the terminal to restart the operator')
    .option('--max-messages <number>', 'do not run if more messages could be sent', count, 5_000)
    .option('--first-id <number>', 'the first activity.id; default: from the time', firstId)
    .option('--report <file>', 'write a report: .html, .json, .xml (JUnit) or .txt; may be repeated', collect, [])
    .option('--compare <file>', 'compare with an earlier JSON report')
    .addOption(new Option('--interface <version>', 'the version of the interface').choices(['1']).default('1'))
    .option('--dry-run', 'print the plan, and send no message')
    .option('--strict', 'exit with code 2 if a required check was skipped')
    .option('-y, --yes', 'send the messages without asking')
    .option('--json', 'print the report as one JSON object')
    .addHelpText('after', help)
    .action(async (options: CheckOptions) => {
      process.exitCode = await checkOperator(options)
    })
}

const help = `
Sends messages to the named users only, after it has said how many. All of them have bellwire-check in their trigger_hash.
docs/testing-your-own.md leads from nothing to a green report; docs/checks.md lists all checks.

Exit codes: 0 all required checks passed, 1 a required check failed, 2 could not run, or a required check could not be judged.

Examples:
  BELLWIRE_KEY=… bellwire check operator --url https://operator.example --user 1001 --blocked-user 1002
  bellwire check operator --file check.yaml --yes --report report.html --report report.xml
  bellwire check operator --file check.yaml --only batch,absence --compare before.json
`

async function checkOperator(options: CheckOptions): Promise<number> {
  checkReportFiles(options.report)
  const earlier = options.compare === undefined ? undefined : await readReport(options.compare)
  const written = options.file === undefined ? {} : await readPreparation(options.file)
  const key = await keyOf(options, written)
  const profile = options.profile ?? written.profile
  const file = profile === undefined ? written : await withProfile(profile, key, written, options.brand)
  const progress = createProgress(process.stderr)
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true && !options.yes
  const answers = isTerminal ? await askPreparation(options, file) : {}
  const command = options.restartCommand ?? file.restart_command
  const restart =
    command !== undefined ? restartByCommand(command) : options.askRestart && restartByPerson(progress.end)
  const facts = factsFrom({ ...answers, ...options, ...(restart && { restart }) }, file)
  const url = addressOf(options, file)
  const rules = options.rules ?? file.rules ?? 'bellwire'
  const declared = options.features ?? file.features
  const prepared = await prepareRun({
    url,
    key,
    checks: operatorChecks.flatMap(({ checks }) => checks),
    facts,
    rules,
    mostMessages: options.maxMessages,
    ...(options.only && { only: options.only }),
    ...(declared && declared.length > 0 && { features: declared }),
    ...(options.firstId !== undefined && { firstId: options.firstId }),
  }).catch(explain)
  try {
    if (prepared.total === 0)
      throw new CliError(exit.usage, `--only ${options.only?.join()} names no check: docs/checks.md lists them`)
    process.stderr.write(`${phrasePlan(prepared, facts, url)}\n`)
    if (options.dryRun) return exit.ok
    await confirm(options, isTerminal)
  } catch (error) {
    prepared.close()
    throw error
  } finally {
    if (options.dryRun) prepared.close()
  }
  const outcome = await runShown(prepared, progress)
  const report = createReport({
    url,
    groups: operatorChecks,
    rules,
    only: options.only,
    facts,
    outcome,
    mark: prepared.mark,
    offered: [...prepared.endpoints.keys()],
    version: await version(),
    interfaceVersion: options.interface,
    agreed: (file.agreed ?? {}) as Readonly<Record<string, string>>,
  })
  const comparison = earlier && compareReports(earlier, report)
  await writeReports(options.report, report, comparison)
  console.log(options.json ? JSON.stringify(report) : textReport(report, comparison))
  return exitCodeOf(report, options.strict)
}

async function keyOf({ key, keyFile }: CheckOptions, file: Preparation): Promise<string> {
  const from = keyFile ?? (key === undefined ? file.key_file : undefined)
  const found = from === undefined ? key : await readKey(from)
  if (found !== undefined) return found
  throw new CliError(exit.usage, 'no API key: give BELLWIRE_KEY or --key-file, with the key that the operator issued')
}

function addressOf(options: CheckOptions, file: Preparation): string {
  const url = options.url ?? file.url
  if (url === undefined) throw new CliError(exit.usage, 'no operator: give --url, or url in the file')
  if (/^https?:/.test(url) && URL.canParse(url)) return url
  throw new CliError(exit.usage, `--url is not an http or https address: ${url}`)
}

function explain(error: unknown): never {
  if (error instanceof CouldNotRun) throw new CliError(exit.usage, `could not run: ${error.message}\n  ${error.remedy}`)
  throw error
}

function phrasePlan({ messages, total, notOffered }: Prepared, facts: Facts, url: string): string {
  const { normal, blocked, withoutDevice } = facts.users
  const users = [
    normal,
    ...(blocked ? [`${blocked} (blocked)`] : []),
    ...(withoutDevice ? [`${withoutDevice} (without device)`] : []),
  ]
  const missing = missingPreparations(facts)
  return [
    `${url}: ${total} checks, counted for each endpoint, channel and field.`,
    `Sends at most ${messages} messages, only to ${users.length === 1 ? 'the user' : 'the users'} ${users.join(', ')}, brand ${facts.brand}.`,
    ...(notOffered.length > 0 ? [`Not offered, and not checked: ${notOffered.join(', ')}.`] : []),
    ...(missing.length > 0
      ? ['Not prepared, so some checks are skipped:', ...missing.map((line) => `  - ${line}`)]
      : []),
  ].join('\n')
}

async function confirm({ yes }: CheckOptions, isTerminal: boolean): Promise<void> {
  if (yes) return
  if (!isTerminal) throw new CliError(exit.usage, 'add --yes to send the messages, or --dry-run to see the plan')
  const answer = await ask('Send them? [y/N] ')
  if (!/^y(es)?$/i.test(answer)) throw new CliError(exit.usage, 'nothing was sent')
}

/** Ctrl-C ends the run after the current step; the report has what was judged. */
async function runShown(prepared: Prepared, progress: ReturnType<typeof createProgress>) {
  const controller = new AbortController()
  const interrupt = (): void => controller.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  let failed = 0
  try {
    return await prepared.run({
      signal: controller.signal,
      onResult: (result, done) => {
        if (result.status === 'failed') {
          failed++
          progress.print(phraseFailure(result))
        }
        progress.show('checks', done, prepared.total, `${result.check.id}${failed > 0 ? `, ${failed} failed` : ''}`)
      },
    })
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    progress.end()
  }
}

function phraseFailure({ check, target, seen = '' }: Result): string {
  const mark = check.level === 'must' ? styleText('red', '✗') : styleText('yellow', '!')
  return `${mark} ${check.id} (${target.name}): ${seen.replaceAll(/\p{Cc}/gu, ' ')}`
}

function exitCodeOf({ conclusion, counts }: Report, strict: boolean | undefined): number {
  if (conclusion === 'failed') return exit.failed
  return conclusion === 'incomplete' || (strict && counts.must.skipped > 0) ? exit.usage : exit.ok
}
