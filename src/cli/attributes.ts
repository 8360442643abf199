import { createReadStream } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { brand } from '../config/kinds.ts'
import { importFile } from './attributes/import-file.ts'
import type { Client } from './client.ts'
import { CliError, exit } from './exit.ts'
import { createProgress } from './progress.ts'
import { type Addressed, withAddress, withSide } from './running-side.ts'
import { sizeOf } from './size-of.ts'

interface ImportOptions extends Addressed {
  readonly file: string
  readonly brand: string
  readonly format?: 'ndjson' | 'csv'
  readonly asOf?: string
  readonly json?: true
}

export function attributesCommand(): Command {
  return new Command()
    .addCommand(importCommand())
    .addHelpText('after', '\nExamples:\n  bellwire attributes import --brand 1 --file users.csv\n')
}

function importCommand(): Command {
  return withAddress(
    new Command('import'),
    'platform',
    'a key with the scope manage; default: the first such key of the configuration',
  )
    .description('import users and their attributes')
    .requiredOption('-f, --file <file>', 'CSV with a first line of names, or NDJSON; - reads standard input')
    .addOption(new Option('--brand <number>', 'whose users they are').argParser(brandNumber).makeOptionMandatory())
    .addOption(new Option('--format <format>', 'default: by the name of the file').choices(['ndjson', 'csv']))
    .option('--as-of <time>', 'when the export was made: lines without updated_at count as changed then')
    .option('--json', 'end with the summary as one JSON object')
    .addHelpText('after', help)
    .action(async (options: ImportOptions) => {
      process.exitCode = await importAttributes(options)
    })
}

const help = `
Columns: user_id, any of the nine fields of §2.5 with true or false, and updated_at, the time of the last change. Others are left aside.
Importing a file again is safe: what is known keeps its time, what is older than what is known is not taken.

Exit codes: 0 all lines were read, 1 some were not, 2 wrong usage, 3 the platform cannot be reached.

Examples:
  bellwire attributes import --brand 1 --file users.csv
  zcat users.ndjson.gz | bellwire attributes import --brand 1 --format ndjson --file - --as-of 2026-11-21T00:00:00Z
`

async function importAttributes(options: ImportOptions): Promise<number> {
  const { file } = options
  const format = options.format ?? formatOf(file)
  const bytes = file === '-' ? undefined : await sizeOf(file)
  const progress = createProgress(process.stderr)
  const query = options.asOf === undefined ? '' : `?as_of=${encodeURIComponent(options.asOf)}`
  const importing = (client: Client) =>
    importFile({
      stream: file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 }),
      format,
      path: `/admin/attributes/${options.brand}${query}`,
      client,
      read: (read, users) => progress.show('importing', read, bytes, `${users.toLocaleString('en')} users`),
    })
  try {
    const summary = await withSide(
      'platform',
      options,
      {
        scopes: ['manage'],
        notice: progress.say,
        later: 'Importing the same file again later is safe',
        interrupted: 'interrupted; import the same file again to go on',
      },
      importing,
    )
    progress.end()
    const { users, changed, refused_count, refused } = summary
    console.log(
      options.json
        ? JSON.stringify(summary)
        : [
            `${file}: ${users.toLocaleString('en')} users, ${changed.toLocaleString('en')} changed`,
            ...(refused_count > 0 ? [`  refused ${refused_count.toLocaleString('en')}`] : []),
            ...refused.slice(0, 10).map(({ line, error }) => `      line ${line}: ${error}`),
          ].join('\n'),
    )
    return refused_count > 0 ? exit.failed : exit.ok
  } finally {
    progress.end()
  }
}

function formatOf(file: string): 'ndjson' | 'csv' {
  if (/\.(ndjson|jsonl)$/i.test(file)) return 'ndjson'
  if (/\.csv$/i.test(file)) return 'csv'
  throw new CliError(exit.usage, `what is in ${file}? Say it with --format ndjson or --format csv`)
}

function brandNumber(text: string): string {
  const value = brand({ help: '' }).parse(text, '')
  if (value === undefined) throw new InvalidArgumentError('Write the number of the brand.')
  return value
}
