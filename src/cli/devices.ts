import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { phraseCount } from '../runtime/phrase-count.ts'
import { importFile, phraseImport } from './devices/import.ts'
import { shortPatience, withOperator, withOperatorClient } from './devices/operator-client.ts'
import { CliError, exit } from './exit.ts'
import { toJson } from './output.ts'
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
  return withOperator(new Command('import').description('link all tokens of a file'), 'devices')
    .requiredOption(
      '-f, --file <file>',
      'NDJSON with link records, or CSV with one token per row; - reads standard input',
    )
    .option('--brand <number>', 'the brand of records without one')
    .option('--provider <provider>', 'the provider of records without one: firebase, apns, webpush or your own')
    .addOption(
      new Option('--format <format>', 'default: by the extension of the file, else ndjson').choices(['csv', 'ndjson']),
    )
    .option('--as-of <time>', 'the timestamp of records without one; default: when the file was changed')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', importHelp)
    .action(async (options: ImportOptions) => {
      process.exitCode = await runImport(options)
    })
}

const importHelp = `
CSV needs the columns user_id and token, and provider or kind (fcm_token, fcm_fid, apns, webpush, http:NAME). The columns channel, app,
environment, timestamp, brand and origin are optional. A line of NDJSON is an object with the same fields, or {"user_id", "tokens": […]}.

It is safe to import a file again. Each link has the time from the file, so a later logout or a later link to another user still counts.

Exit codes: 0 all lines imported, 1 some lines refused, 2 wrong usage, 3 the operator cannot be reached.

Examples:
  bellwire devices import --file tokens.csv --brand 1 --provider firebase
  BELLWIRE_KEY=… bellwire devices import --file tokens.ndjson --brand 1 --url https://push.example
  zcat tokens.csv.gz | bellwire devices import --file - --format csv --brand 1 --as-of 2026-01-31T03:00:00Z
`

async function runImport(options: ImportOptions): Promise<number> {
  const { file, brand, provider, json } = options
  const stdin = file === '-'
  const info = stdin ? undefined : await statFile(file)
  const timestamp = options.asOf ?? info?.changed
  if (timestamp === undefined)
    throw new CliError(exit.usage, 'standard input has no time: give --as-of, the same one in each import of the data')
  const format = options.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
  const progress = createProgress(process.stderr)
  const summary = await withOperatorClient(options, 'devices', progress.print, (client) =>
    importFile({
      file,
      read: () => (stdin ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 })),
      bytes: info?.bytes,
      format,
      defaults: { brand, provider, timestamp, origin: 'import' },
      client,
      progress,
    }),
  ).finally(() => progress.end())
  console.log(json ? toJson(summary) : phraseImport(summary))
  return summary.refused === 0 ? exit.ok : exit.failed
}

async function statFile(file: string): Promise<{ bytes: number | undefined; changed: string }> {
  try {
    await (await open(file)).close()
    const stats = await stat(file)
    if (stats.isDirectory()) throw new Error('it is a folder')
    return { bytes: stats.isFile() ? stats.size : undefined, changed: stats.mtime.toISOString() }
  } catch (error) {
    throw new CliError(exit.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}

function listCommand(): Command {
  return withOperator(new Command('list').description('list the devices of a user'), 'read', shortPatience)
    .requiredOption('--brand <number>', 'the brand')
    .requiredOption('--user <user_id>', 'the user')
    .option('--json', 'print the answer as one JSON object')
    .action(async (options: Addressed & { brand: string; user: string; json?: true }) => {
      const query = new URLSearchParams({ brand: options.brand, user_id: options.user })
      const answer = await withOperatorClient(options, 'read', log, (client) => client.get(`/admin/devices?${query}`))
      const { devices } = answer as { devices: Record<string, string>[] }
      if (options.json) console.log(toJson(answer))
      else if (devices.length === 0) console.log('no devices')
      for (const device of options.json ? [] : devices)
        console.log(
          [device.linked_at, device.kind, device.token, device.app, device.environment, `from ${device.origin || '?'}`]
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
    .option('--user <user_id>', 'only devices of this user')
    .option('--why <reason>', 'only devices removed for exactly this reason')
    .option('--since <time>', 'only devices removed since this time, such as 2026-01-31T10:00:00Z')
    .option('--until <time>', 'only devices removed until this time')
}

function filterOf({ brand, user, why, since, until }: FilterOptions): Record<string, string> {
  const filter = { brand, user_id: user, why, since, until }
  return Object.fromEntries(Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

interface Removed {
  readonly removed: readonly Record<string, string | boolean>[]
  readonly next: string | null
}

function removedCommand(): Command {
  return withFilter(
    withOperator(
      new Command('removed').description('list the dead devices that were removed in the last 30 days'),
      'read',
      shortPatience,
    ),
  )
    .option('--json', 'print one JSON object per line')
    .action(async (options: FilterOptions) => {
      await withOperatorClient(options, 'read', log, async (client) => {
        for (let after: string | null = ''; after !== null; ) {
          const query = new URLSearchParams({ ...filterOf(options), limit: '1000', ...(after !== '' && { after }) })
          const { removed, next } = (await client.get(`/admin/devices/removed?${query}`)) as Removed
          for (const device of removed) {
            const state = device.restorable
              ? 'can be restored'
              : device.restored_at
                ? `restored ${device.restored_at}`
                : 'is in use again'
            const line = [device.removed_at, device.user_id, device.kind, device.why, state].filter(Boolean).join('  ')
            console.log(options.json ? toJson(device) : line)
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
    .option('--all', 'restore all removed devices of the brand, without a filter')
    .option('--json', 'print the answer as one JSON object')
    .addHelpText(
      'after',
      '\nA device is linked again unless its user has logged out since, or the device is linked to a user now.\n\nExample:\n  bellwire devices restore --brand 1 --why "fcm 403 SENDER_ID_MISMATCH" --since 2026-01-31T10:00:00Z\n',
    )
    .action(async (options: FilterOptions) => {
      const { brand, ...filter } = filterOf(options)
      if ((Object.keys(filter).length === 0) !== (options.all === true))
        throw new CliError(
          exit.usage,
          'select devices with --user, --why, --since or --until, or all devices with --all',
        )
      const body = JSON.stringify({ brand, ...filter, ...(options.all && { all: true }) })
      const { answer } = await withOperatorClient(options, 'manage', log, (client) =>
        client.post('/admin/devices/restore', body),
      )
      const { restored } = answer as { restored: number }
      console.log(options.json ? toJson(answer) : `Linked ${phraseCount(restored, 'device')} again`)
    })
}

const log = (text: string): void => console.error(text)
