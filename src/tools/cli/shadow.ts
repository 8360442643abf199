import { Command, Option } from 'commander'
import { clock } from '../../base/runtime/clock.ts'
import { escapeControls } from '../../base/runtime/log-text.ts'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import { loadConfig } from '../../sides/config/load.ts'
import type { OperatorConfig } from '../../sides/config/table.ts'
import type { ShadowOptions } from '../shadow/start-shadow.ts'
import type { Difference, LeftOut, ShadowReport } from '../shadow/tally.ts'
import { createClient } from './client.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit, exitWith } from './exit.ts'
import { explain, port } from './fake/common.ts'
import { inputFile } from './input-file.ts'
import { waitForSignal } from './interruptible.ts'
import { noSection } from './no-section.ts'
import { print } from './output.ts'
import { createProgress } from './progress.ts'
import { time } from './time.ts'

interface Options extends Pick<ShadowOptions, 'operator' | 'host' | 'port'> {
  readonly config?: string
  readonly devices?: string
  readonly brand?: string
  readonly provider?: string
  readonly for?: number
  readonly json?: true
}

export function command(): Command {
  return withConfig(new Command())
    .requiredOption('--operator <url>', 'the base URL of the operator in production')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 chooses a free one', port, 8090)
    .option('--devices <file>', 'the devices of the users, as for `bellwire devices import`')
    .option('--brand <number>', 'the brand of the devices that name none')
    .option('--provider <name>', 'the provider of the devices that name none')
    .addOption(new Option('--for <time>', 'stop after this time; default: at Ctrl-C or SIGTERM').argParser(time))
    .option('--json', 'print the report as one JSON object')
    .addHelpText('after', help)
    .action(exitWith(shadow))
}

const help = `
The platform calls this address instead of the operator. Each request goes to the operator, and its answer goes back unchanged. Then
Bellwire answers a copy of the request with the configured operator, and both answers are compared by the interface.

Bellwire delivers nothing: push services accept each message and send none, the store is a temporary file, and devices and attributes
are only read. Identifiers, texts of errors and the order of items may differ. docs/from-own-api.md describes the change of an operator.

Exit codes: 0 no differences, 1 differences, or nothing was compared, 2 wrong usage.

Examples:
  bellwire shadow --operator http://127.0.0.1:8080 --config bellwire.yaml
  bellwire shadow --operator http://127.0.0.1:8080 --devices tokens.csv --brand 1 --provider firebase --for 10min
`

async function shadow(options: Options): Promise<number> {
  const { operator, host, port, config: file, for: forMs, devices } = options
  if (!URL.canParse(operator) || !/^https?:/.test(operator))
    throw new CliError(exit.usage, `--operator is not an http or https address: ${operator}`)
  const { operator: section } = await loadConfig(file)
  if (!section) throw noSection('operator', file)
  const [{ startShadow }, { hasDevices }, configured] = await Promise.all([
    import('../shadow/start-shadow.ts'),
    import('../shadow/harmless.ts'),
    operatorOptionsOf(section),
  ])
  const started = await startShadow({
    operator: operator.replace(/\/+$/, ''),
    host,
    port,
    options: configured,
    ...(devices !== undefined && { importDevices: (admin) => importDevices(devices, options, admin) }),
  }).catch((error: Error) => (error instanceof CliError ? Promise.reject(error) : explain(error)))
  const stopped = Promise.race([waitForSignal(), ...(forMs === undefined ? [] : [sleep(forMs)])])
  const unknown = configured.push && !hasDevices(configured.push, devices !== undefined)
  // An error of Bellwire must not end the way to the operator.
  process.on('uncaughtException', ({ message }) => console.error(`bellwire: ${message}; requests are still forwarded`))
  const introduced = introduction(started.url, operator, unknown === true)
  if (options.json) console.error(introduced)
  else console.log(introduced)
  await stopped
  const report = await started.stop()
  print(options, report, phraseShadow)
  return report.requests > 0 && report.differences.length === 0 ? exit.ok : exit.failed
}

/** Without the parts that reach other systems on their own. */
async function operatorOptionsOf(section: OperatorConfig) {
  const { operatorOptions } = await import('../../sides/config/compose/compose.ts')
  const { status, alerts, app, console, push, site, ...rest } = section
  const isOwn = push?.is !== 'devices'
  return operatorOptions({
    ...rest,
    publish: [],
    ...(push && { push: isOwn ? ({ is: 'recording' } as const) : push }),
    ...(site && { site: { is: 'inbox' } as const }),
  } as OperatorConfig)
}

async function importDevices(
  file: string,
  { brand, provider }: Options,
  admin: { readonly url: string; readonly key: string },
): Promise<void> {
  const { importFile, phraseImport } = await import('./devices/import.ts')
  const input = await inputFile(file)
  const { signal } = new AbortController()
  const notify = (text: string): void => console.error(text)
  const peer = { side: 'operator', key: 'its own' } as const
  const client = createClient<'operator'>({ ...admin, peer, patienceMs: 10_000, signal, notify })
  const defaults = {
    brand,
    provider,
    timestamp: input.changed ?? new Date(clock.now()).toISOString(),
    origin: 'import',
  }
  const format = /\.csv$/i.test(file) ? 'csv' : 'ndjson'
  const progress = createProgress(process.stderr)
  try {
    const summary = await importFile({ file, ...input, format, defaults, client, progress })
    progress.end()
    console.error(phraseImport(summary))
    if (summary.refused > 0) throw new CliError(exit.usage, `${file} has lines that cannot be imported`)
  } finally {
    await client.close()
  }
}

/** Does not keep the process alive. */

const introduction = (url: string, operator: string, devicesUnknown: boolean): string =>
  [
    `Shadow operation: let the platform call ${url} instead of ${operator}. Nothing is delivered by Bellwire.`,
    ...(devicesUnknown
      ? ['The devices are not known: each user has one. To compare users without devices, give --devices.']
      : []),
  ].join('\n')

export function phraseShadow({ requests, messages, differences, left_out: leftOut }: ShadowReport): string {
  const found = differences.length === 0 ? 'No differences' : phraseCount(differences.length, 'difference')
  return [
    `Compared ${phraseCount(requests, 'request')} with ${phraseCount(messages, 'message')}. ${found}.`,
    ...differences.map(phraseDifference),
    ...(leftOut.length > 0 ? ['\nNot compared:'] : []),
    ...leftOut.map(phraseLeftOut),
  ].join('\n')
}

function phraseDifference({ rule, section, row, title, endpoint, count, example }: Difference): string {
  const { at, id, operator, bellwire } = example
  return [
    `\n✗ ${rule} at ${endpoint}: ${count.toLocaleString('en')}×  (${section}${row === undefined ? '' : `, open point ${row}`})`,
    `    ${title}`,
    `    First at ${at}${id === undefined ? '' : `, activity.id ${escapeControls(id)}`}:`,
    `      operator  ${escapeControls(operator)}`,
    `      Bellwire  ${escapeControls(bellwire)}`,
  ].join('\n')
}

const phraseLeftOut = ({ reason, count, example }: LeftOut): string =>
  `  ${count.toLocaleString('en')}× ${reason}: ${escapeControls(example)}`
