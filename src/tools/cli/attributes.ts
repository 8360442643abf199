import { Command, Option } from 'commander'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import { importFile } from './attributes/import-file.ts'
import type { Client } from './client.ts'
import { CliError, exit, exitWith } from './exit.ts'
import { inputFile } from './input-file.ts'
import { brandNumber } from './numbers.ts'
import { print } from './output.ts'
import { createProgress } from './progress.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { number, refusedLines } from './text-table.ts'

interface ImportOptions extends Addressed {
  readonly file: string
  readonly brand: string
  readonly format?: 'ndjson' | 'csv'
  readonly asOf?: string
  readonly reason?: string
}

export function command(): Command {
  return new Command()
    .addCommand(importCommand())
    .addHelpText('after', '\nExamples:\n  bellwire attributes import --brand 1 --file users.csv\n')
}

function importCommand(): Command {
  return withAddress(new Command('import'), 'platform', ['attributes'], '2min')
    .description('import users and their attributes')
    .requiredOption('-f, --file <file>', 'CSV with a first line of names, or NDJSON; - reads standard input')
    .addOption(new Option('--brand <number>', 'the brand of the users').argParser(brandNumber).makeOptionMandatory())
    .addOption(new Option('--format <format>', 'default: by the extension of the file').choices(['ndjson', 'csv']))
    .option('--as-of <time>', 'the time of the export, for lines without updated_at')
    .option('--reason <text>', 'why; required to end blocked or excluded, with the scope lift')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', help)
    .action(exitWith(importAttributes))
}

const help = `
Columns: user_id, any of the nine reconciliation fields with true or false, and updated_at, the time of the last change. Other columns
are ignored. It is safe to import a file again: unchanged values keep their time, and values older than the known ones are ignored. A line that ends
blocked or excluded is refused without --reason, or without a key of the scope lift.

Exit codes: 0 all lines imported, 1 some lines refused, 2 wrong usage, 3 the platform cannot be reached.

Examples:
  bellwire attributes import --brand 1 --file users.csv
  zcat users.ndjson.gz | bellwire attributes import --brand 1 --format ndjson --file - --as-of 2026-11-21T00:00:00Z
`

async function importAttributes(options: ImportOptions): Promise<number> {
  const { file } = options
  const format = options.format ?? formatOf(file)
  const { read, bytes } = await inputFile(file)
  const progress = createProgress(process.stderr)
  const runImport = (client: Client<'platform'>) =>
    importFile({
      stream: read(),
      format,
      to: { params: { brand: options.brand }, query: { as_of: options.asOf, reason: options.reason } },
      client,
      onProgress: (done, users) => progress.show('importing', done, bytes, phraseCount(users, 'user')),
    })
  const summary = await withSide('platform', options, ['attributes'], runImport, {
    progress,
    retryHint: 'It is safe to import the same file again later',
    interrupted: 'interrupted; import the same file again to continue',
  })
  const { users, changed, refused_count, refused } = summary
  print(options, summary, () =>
    [
      `${file}: ${phraseCount(users, 'user')}, ${number(changed)} changed`,
      ...refusedLines(refused_count, refused),
    ].join('\n'),
  )
  return refused_count > 0 ? exit.failed : exit.ok
}

function formatOf(file: string): 'ndjson' | 'csv' {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  if (/\.csv$/i.test(file)) return 'csv'
  throw new CliError(exit.usage, `unknown format of ${file}: give --format ndjson or --format csv`)
}
