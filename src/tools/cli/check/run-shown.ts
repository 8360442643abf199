// The options and the output that the checks of operators and platforms share.

import { styleText } from 'node:util'
import { type Command, Option } from 'commander'
import { type RuleSet, ruleSets } from '../../checker/check.ts'
import { CouldNotRun } from '../../checker/preflight.ts'
import type { Report } from '../../checker/report-schema.ts'
import { compareReports } from '../../checker/reports/compare.ts'
import { textReport } from '../../checker/reports/text.ts'
import type { Prepared } from '../../checker/run.ts'
import type { Outcome, Result } from '../../checker/run-steps.ts'
import { CliError, exit } from '../exit.ts'
import { toJson } from '../output.ts'
import type { createProgress } from '../progress.ts'
import { collect, commaSeparated, count, firstId } from './option-kinds.ts'
import { checkReportFiles, readReport, writeReports } from './write-reports.ts'

export interface RunOptions {
  readonly rules?: RuleSet
  readonly only?: readonly string[]
  readonly maxMessages: number
  readonly firstId?: bigint
  readonly report: readonly string[]
  readonly compare?: string
  readonly interface: string
  readonly strict?: true
  readonly json?: true
}

/** @param mostMessages the default of --max-messages */
export function addRunOptions(command: Command, mostMessages: number): Command {
  return command
    .addOption(new Option('--rules <rules>', 'the rules to check; default: bellwire').choices(ruleSets))
    .option('--only <list>', 'only these checks or groups, separated by commas: batch,repeat', commaSeparated)
    .option('--max-messages <number>', 'do not run if more messages could be sent', count, mostMessages)
    .option('--first-id <number>', 'the first activity.id; default: from the time', firstId)
    .option('--report <file>', 'write a report: .html, .json, .xml (JUnit) or .txt; may be repeated', collect, [])
    .option('--compare <file>', 'compare with an earlier JSON report')
    .addOption(new Option('--interface <version>', 'the version of the interface').choices(['1']).default('1'))
    .option('--strict', 'exit with code 2 if a required check was skipped')
    .option('--json', 'print the report as one JSON object')
}

/** Checks the files of the reports before the run, so that no result is lost. */
export async function readEarlier({
  report,
  compare,
}: Pick<RunOptions, 'report' | 'compare'>): Promise<Report | undefined> {
  await checkReportFiles(report)
  return compare === undefined ? undefined : readReport(compare)
}

export function explain(error: unknown): never {
  if (error instanceof CouldNotRun) throw new CliError(exit.usage, `could not run: ${error.message}\n  ${error.remedy}`)
  throw error
}

/** @throws CliError if no check is chosen */
export function demandChecks({ total }: Pick<Prepared, 'total'>, { only }: Pick<RunOptions, 'only'>): void {
  if (total === 0) throw new CliError(exit.usage, `--only ${only?.join()} names no check: docs/checks.md lists them`)
}

/** Ctrl-C ends the run after the current step; the report has the results so far. */
export async function runShown(prepared: Prepared, progress: ReturnType<typeof createProgress>): Promise<Outcome> {
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

/** Writes and prints the report. @returns the exit code */
export async function publish(report: Report, options: RunOptions, earlier: Report | undefined): Promise<number> {
  const comparison = earlier && compareReports(earlier, report)
  console.log(options.json ? toJson(report) : textReport(report, comparison))
  await writeReports(options.report, report, comparison)
  return exitCodeOf(report, options.strict)
}

function exitCodeOf({ conclusion, counts }: Report, strict: boolean | undefined): number {
  if (conclusion === 'failed') return exit.failed
  return conclusion === 'incomplete' || (strict && counts.must.skipped > 0) ? exit.usage : exit.ok
}
