import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { Static } from 'typebox'
import { ReconciliationBody } from '../../sides/admin/requests.ts'
import type { ShownRun } from '../../sides/admin/shown/run.ts'
import type { Client } from './client.ts'
import { CliError, exit, exitWith } from './exit.ts'
import { membersOf, withMembers } from './members.ts'
import { wholeNumber } from './numbers.ts'
import { print } from './output.ts'
import { createProgress, type Progress } from './progress.ts'
import { acknowledgeCommand, correctCommand, exportCommand } from './reconcile/follow-up.ts'
import { phraseReport, type Report } from './reconcile/report.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { number } from './text-table.ts'
import { time } from './time.ts'

type ReconcileOptions = Addressed &
  Static<typeof ReconciliationBody> & { readonly sample: number; readonly timeout: number }

const flags = { brand: '--brand <number>', field: '--field <field>', any_size: '--any-size' }

export function command(): Command {
  return new Command()
    .addCommand(runCommand(), { isDefault: true })
    .addCommand(exportCommand())
    .addCommand(correctCommand())
    .addCommand(acknowledgeCommand())
    .addHelpText('after', help)
}

function runCommand(): Command {
  const command = new Command('run').description('compare a list of the operator with the CRM (the default)')
  return withMembers(withAddress(command, 'platform', ['decide', 'counts', 'read'], '2min'), ReconciliationBody, flags)
    .addOption(
      new Option('--sample <count>', 'the number of users to print').argParser(wholeNumber(1, 10_000)).default(10),
    )
    .addOption(new Option('--timeout <time>', 'the longest wait').argParser(time).default(3_600_000, '1h'))
    .option('--json', 'print the report as one JSON object')
    .action(exitWith(reconcile))
}

const help = `
The running platform requests the list from the operator of the brand (platform.reconciliation) and compares it with its CRM. It changes
nothing. The report names the commands that export, correct and acknowledge its findings. docs/reconciliation.md explains them.

Exit codes: 0 no discrepancies, 1 discrepancies, 2 list refused or wrong usage, 3 the platform cannot be reached.

Examples:
  bellwire reconcile --brand 1 --field blocked
  BELLWIRE_KEY=… bellwire reconcile --brand 1 --field consent_push_notification --url https://platform.example --json
  bellwire reconcile correct 01a1ffa1-1335-7000-89b6-eaed9fc7a79c --preview
`

async function reconcile(options: ReconcileOptions): Promise<number> {
  const progress = createProgress(process.stderr)
  const report = await withSide(
    'platform',
    options,
    ['decide', 'counts', 'read'],
    (client, signal) => runAndReport(options, client, progress, signal),
    {
      progress,
      retryHint: 'The run continues on the platform: GET /admin/reconciliations lists it',
      interrupted: 'interrupted; the run continues on the platform: GET /admin/reconciliations lists it',
    },
  )
  print(options, report, phraseReport)
  return exitCodeOf(report.run)
}

async function runAndReport(
  options: ReconcileOptions,
  client: Client<'platform'>,
  progress: Progress,
  signal: AbortSignal,
): Promise<Report> {
  const deadline = Date.now() + options.timeout
  const body = membersOf(options, flags)
  const { fresh, ...started } = await client.call('POST /admin/reconciliations', { body })
  if (!fresh) progress.print('a run of this field is already in progress: waiting for it')
  const params = { run: started.run }
  let run: ShownRun = started
  while (run.ended_at === null) {
    if (Date.now() > deadline)
      throw new CliError(
        exit.failed,
        `run ${run.run} is still ${run.state} and continues: GET /admin/reconciliations/${run.run} shows it`,
      )
    await sleep(pollMs, undefined, { signal })
    run = await client.call('GET /admin/reconciliations/:run', { params })
    progress.show(run.state, run.ids, undefined, describePace(run))
  }
  const request = { params, query: { limit: options.sample } }
  const { discrepancies } = await client.call('GET /admin/reconciliations/:run/discrepancies', request)
  return { run, sample: discrepancies }
}

const pollMs = 200

function describePace({ ids, ids_per_second: pace, memory_bytes: memory }: ShownRun): string {
  const parts = [`${number(ids)} ids`]
  if (pace !== null) parts.push(`${number(pace)} ids/s`)
  if (memory > 0) parts.push(`${Math.round(memory / 2 ** 20)} MB`)
  return parts.join(', ')
}

function exitCodeOf({ state, discrepancies }: ShownRun): number {
  if (state !== 'done' || !discrepancies) return exit.usage
  return discrepancies.operator_only + discrepancies.crm_only > 0 ? exit.failed : exit.ok
}
