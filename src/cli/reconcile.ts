import { Command, InvalidArgumentError, Option } from 'commander'
import { reconciliationFields } from '../contract/records.ts'
import type { ShownRun } from '../platform/reconcile/shown-run.ts'
import { type Client, rest } from './client.ts'
import { CliError, exit } from './exit.ts'
import { createProgress, type Progress } from './progress.ts'
import { phraseReport, type Report, type Sampled } from './reconcile/report.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { time } from './time.ts'

interface ReconcileOptions extends Addressed {
  readonly brand: string
  readonly field: string
  readonly anySize?: boolean
  readonly sample: number
  readonly timeout: number
  readonly json?: true
}

export function reconcileCommand(): Command {
  return withAddress(
    new Command(),
    'platform',
    'a key with the scopes read and manage; default: the first such key of the configuration',
  )
    .requiredOption('--brand <number>', 'the brand')
    .addOption(new Option('--field <field>', 'the field of §2.5').choices(reconciliationFields).makeOptionMandatory())
    .option('--any-size', 'believe the list even if it shrank or grew beyond the limits')
    .addOption(new Option('--sample <count>', 'how many users to show').argParser(count).default(10))
    .addOption(new Option('--timeout <time>', 'how long to wait').argParser(time).default(3_600_000, '1h'))
    .option('--json', 'end with the report as one JSON object')
    .addHelpText('after', help)
    .action(async (options: ReconcileOptions) => {
      process.exitCode = await reconcile(options)
    })
}

const help = `
The running platform does it: it asks the operator of the brand (platform.reconciliation), and compares the answer with its CRM. Nothing
is changed. docs/reconciling.md says what the findings mean, and how they are corrected.

Exit codes: 0 no discrepancies, 1 discrepancies, 2 the answer was refused, or wrong usage, 3 the platform cannot be reached.

Examples:
  bellwire reconcile --brand 1 --field blocked
  BELLWIRE_KEY=… bellwire reconcile --brand 1 --field consent_push_notification --url https://platform.example --json
`

async function reconcile(options: ReconcileOptions): Promise<number> {
  const progress = createProgress(process.stderr)
  try {
    const report = await withSide(
      'platform',
      options,
      {
        scopes: ['read', 'manage'],
        notice: progress.say,
        later: 'The run goes on without us: GET /admin/reconciliations lists it',
        interrupted: 'interrupted; the run goes on: GET /admin/reconciliations lists it',
      },
      (client, signal) => runAndReport(options, client, progress, signal),
    )
    progress.end()
    console.log(options.json ? JSON.stringify(report) : phraseReport(report))
    return exitCodeOf(report.run)
  } finally {
    progress.end()
  }
}

async function runAndReport(
  { brand, field, anySize = false, sample, timeout }: ReconcileOptions,
  client: Client,
  progress: Progress,
  signal: AbortSignal,
): Promise<Report> {
  const until = Date.now() + timeout
  const body = JSON.stringify({ brand, field, any_size: anySize })
  const asked = (await client.post('/admin/reconciliations', body)).answer as ShownRun & { fresh: boolean }
  if (!asked.fresh) progress.say('a run of this field is under way already: waiting for that one')
  const path = `/admin/reconciliations/${asked.run}`
  let run = asked as ShownRun
  while (run.ended_at === null) {
    if (Date.now() > until)
      throw new CliError(exit.failed, `run ${run.run} is still ${run.state}: it goes on, and GET ${path} shows it`)
    await rest(pollMs, signal)
    run = (await client.get(path)) as ShownRun
    progress.show(run.state, run.ids, undefined, noteOf(run))
  }
  const { discrepancies } = (await client.get(`${path}/discrepancies?limit=${sample}`)) as {
    discrepancies: readonly Sampled[]
  }
  return { run, sample: discrepancies }
}

const pollMs = 200

function noteOf({ ids, ids_per_second: pace, memory_bytes: memory }: ShownRun): string {
  const parts = [`${ids.toLocaleString('en')} ids`]
  if (pace !== null) parts.push(`${pace.toLocaleString('en')} ids/s`)
  if (memory > 0) parts.push(`${Math.round(memory / 2 ** 20)} MB`)
  return parts.join(', ')
}

function exitCodeOf({ state, discrepancies }: ShownRun): number {
  if (state !== 'done' || !discrepancies) return exit.usage
  return discrepancies.operator_only + discrepancies.crm_only > 0 ? exit.failed : exit.ok
}

function count(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 10_000)
    throw new InvalidArgumentError('Write a whole number from 1 to 10000.')
  return value
}
