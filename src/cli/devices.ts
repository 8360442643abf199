import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { importFile, phraseImport } from './devices/import.ts'
import { shortPatience, withOperator, withOperatorClient } from './devices/operator-client.ts'
import { CliError, exit } from './exit.ts'
import { createProgress } from './progress.ts'
import type { Addressed } from './running-side.ts'

export function devicesCommand(): Command {
  return new Command()
    .addCommand(importCommand())
    .addCommand(listCommand())
    .addCommand(removedCommand())
    .addCommand(restoreCommand())
    .addHelpText(
      'after',
      `
Examples:
  bellwire devices import --file tokens.csv --brand 1 --provider firebase
  bellwire devices list --brand 1 --user 1001
  bellwire devices restore --brand 1 --why "fcm 403 SENDER_ID_MISMATCH"`,
    )
}

interface ImportOptions extends Addressed {
  readonly file: string
  readonly brand?: string
  readonly provider?: string
  readonly format?: 'csv' | 'ndjson'
  readonly asOf?: string
  readonly json?: true
}

function importCommand(): Command {
  return withOperator(new Command('import').description('link every token of a file'), 'devices')
    .requiredOption(
      '-f, --file <file>',
      'NDJSON of link records, or CSV with a row for each token; - reads standard input',
    )
    .option('--brand <number>', 'the brand of records without a brand')
    .option(
      '--provider <provider>',
      'the provider of those that do not name theirs: firebase, apns, webpush or your own',
    )
    .addOption(
      new Option('--format <format>', 'default: by the ending of the file, else ndjson').choices(['csv', 'ndjson']),
    )
    .option('--as-of <time>', 'when those records without a timestamp were true; default: when the file was changed')
    .option('--json', 'end with the summary as one JSON object')
    .addHelpText('after', importHelp)
    .action(async (options: ImportOptions) => {
      process.exitCode = await runImport(options)
    })
}

const importHelp = `
CSV has the columns user_id and token, and provider or kind (fcm_token, fcm_fid, apns, webpush, http:NAME); channel, app, environment,
timestamp, brand and origin may be there. A line of NDJSON is either the same as an object, or {"user_id", "tokens": […]}.

Importing a file again is safe: each link counts from the time that the file gives it, so that whoever logged out or moved since stays
as they are.

Exit codes: 0 all imported, 1 some lines were refused, 2 wrong usage, 3 the operator cannot be reached.

Examples:
  bellwire devices import --file tokens.csv --brand 1 --provider firebase
  BELLWIRE_KEY=… bellwire devices import --file tokens.ndjson --brand 1 --url https://push.example
  zcat tokens.csv.gz | bellwire devices import --file - --format csv --brand 1 --as-of 2026-01-31T03:00:00Z
`

async function runImport(options: ImportOptions): Promise<number> {
  const { file, brand, provider, json } = options
  const stdin = file === '-'
  const about = stdin ? undefined : await lookAt(file)
  const timestamp = options.asOf ?? about?.changed
  if (timestamp === undefined)
    throw new CliError(exit.usage, 'from when is what comes on standard input? Give --as-of, the same each time')
  const format = options.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
  const progress = createProgress(process.stderr)
  const summary = await withOperatorClient(options, 'devices', progress.say, (client) =>
    importFile({
      file,
      read: () => (stdin ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 })),
      bytes: about?.bytes,
      format,
      defaults: { brand, provider, timestamp, origin: 'import' },
      client,
      progress,
    }),
  ).finally(() => progress.end())
  console.log(json ? JSON.stringify(summary) : phraseImport(summary))
  return summary.refused === 0 ? exit.ok : exit.failed
}

async function lookAt(file: string): Promise<{ bytes: number | undefined; changed: string }> {
  try {
    await (await open(file)).close()
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    return { bytes: found.isFile() ? found.size : undefined, changed: found.mtime.toISOString() }
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}

function listCommand(): Command {
  return withOperator(new Command('list').description("a user's devices"), 'read', shortPatience)
    .requiredOption('--brand <number>', 'the brand')
    .requiredOption('--user <user_id>', 'the user')
    .option('--json', 'as the operator answers')
    .action(async (options: Addressed & { brand: string; user: string; json?: true }) => {
      const query = new URLSearchParams({ brand: options.brand, user_id: options.user })
      const answer = await withOperatorClient(options, 'read', say, (client) => client.get(`/admin/devices?${query}`))
      const { devices } = answer as { devices: Record<string, string>[] }
      if (options.json) console.log(JSON.stringify(answer))
      else if (devices.length === 0) console.log('no devices')
      for (const one of options.json ? [] : devices)
        console.log(
          [one.linked_at, one.kind, one.token, one.app, one.environment, `from ${one.origin || '?'}`]
            .filter(Boolean)
            .join('  '),
        )
    })
}

interface FilterOptions extends Addressed {
  readonly brand: string
  readonly user?: string
  readonly why?: string
  readonly since?: string
  readonly until?: string
  readonly all?: true
  readonly json?: true
}

function withFilter(command: Command): Command {
  return command
    .requiredOption('--brand <number>', 'the brand')
    .option('--user <user_id>', 'only of this user')
    .option('--why <reason>', 'only with this reason, word for word')
    .option('--since <time>', 'only removed since, such as 2026-01-31T10:00:00Z')
    .option('--until <time>', 'only removed until')
}

function filterOf({ brand, user, why, since, until }: FilterOptions): Record<string, string> {
  const given = { brand, user_id: user, why, since, until }
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

interface Removed {
  readonly removed: readonly Record<string, string | boolean>[]
  readonly next: string | null
}

function removedCommand(): Command {
  return withFilter(
    withOperator(
      new Command('removed').description('devices that providers proved dead, 30 days back'),
      'read',
      shortPatience,
    ),
  )
    .option('--json', 'one JSON object in a line')
    .action(async (options: FilterOptions) => {
      await withOperatorClient(options, 'read', say, async (client) => {
        for (let after: string | null = ''; after !== null; ) {
          const query = new URLSearchParams({ ...filterOf(options), limit: '1000', ...(after !== '' && { after }) })
          const { removed, next } = (await client.get(`/admin/devices/removed?${query}`)) as Removed
          for (const one of removed) {
            const state = one.restorable
              ? 'can be restored'
              : one.restored_at
                ? `restored ${one.restored_at}`
                : 'is in use again'
            const line = [one.removed_at, one.user_id, one.kind, one.why, state].filter(Boolean).join('  ')
            console.log(options.json ? JSON.stringify(one) : line)
          }
          after = next
        }
      })
    })
}

function restoreCommand(): Command {
  return withFilter(
    withOperator(new Command('restore').description('link removed devices again'), 'manage', shortPatience),
  )
    .option('--all', 'all removed devices of the brand, instead of a selection by the options above')
    .option('--json', 'as the operator answers')
    .addHelpText(
      'after',
      '\nA device is linked again unless its user logged out since, or it is linked to somebody by now.\n\nExample:\n  bellwire devices restore --brand 1 --why "fcm 403 SENDER_ID_MISMATCH" --since 2026-01-31T10:00:00Z\n',
    )
    .action(async (options: FilterOptions) => {
      const { brand, ...filter } = filterOf(options)
      if ((Object.keys(filter).length === 0) !== (options.all === true))
        throw new CliError(exit.usage, 'name the devices with --user, --why, --since or --until, or all with --all')
      const body = JSON.stringify({ brand, ...filter, ...(options.all && { all: true }) })
      const { answer } = await withOperatorClient(options, 'manage', say, (client) =>
        client.post('/admin/devices/restore', body),
      )
      const { restored } = answer as { restored: number }
      console.log(options.json ? JSON.stringify(answer) : `${restored.toLocaleString('en')} devices are linked again`)
    })
}

const say = (text: string): void => console.error(text)
