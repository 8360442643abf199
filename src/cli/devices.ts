import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { phraseCount } from '../runtime/phrase-count.ts'
import type { AnswerOf, RequestOf } from './calls.ts'
import type { Client } from './client.ts'
import { importFile, phraseImport } from './devices/import.ts'
import { CliError, exit } from './exit.ts'
import { print } from './output.ts'
import { createProgress } from './progress.ts'
import { type Addressed, callSide, withAddress, withAnswer, withSide } from './running-side.ts'

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
}

function importCommand(): Command {
  return withAddress(new Command('import').description('link all tokens of a file'), 'operator', ['devices'], '2min')
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
  const { file, brand, provider } = options
  const stdin = file === '-'
  const info = stdin ? undefined : await statFile(file)
  const timestamp = options.asOf ?? info?.changed
  if (timestamp === undefined)
    throw new CliError(exit.usage, 'standard input has no time: give --as-of, the same one in each import of the data')
  const format = options.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
  const progress = createProgress(process.stderr)
  const importAll = (client: Client<'operator'>) =>
    importFile({
      file,
      read: () => (stdin ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 })),
      bytes: info?.bytes,
      format,
      defaults: { brand, provider, timestamp, origin: 'import' },
      client,
      progress,
    })
  const summary = await withSide('operator', options, ['devices'], importAll, { notify: progress.print }).finally(
    progress.end,
  )
  print(options, summary, phraseImport)
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
  return withAnswer(new Command('list').description('list the devices of a user'), 'operator', 'read')
    .requiredOption('--brand <number>', 'the brand')
    .requiredOption('--user <user_id>', 'the user')
    .action(async (options: Addressed & { readonly brand: string; readonly user: string }) => {
      const query = { brand: options.brand, user_id: options.user }
      const answer = await callSide('operator', options, 'read', 'GET /admin/devices', { query })
      print(options, answer, ({ devices }) => devices.map(phraseDevice).join('\n') || 'no devices')
    })
}

const phraseDevice = ({ linked_at, kind, token, app, environment, origin }: Device): string =>
  [linked_at, kind, token, app, environment, `from ${origin || '?'}`].filter(Boolean).join('  ')

type Device = AnswerOf<'operator', 'GET /admin/devices'>['devices'][number]

interface FilterOptions extends Addressed {
  readonly brand: string
  readonly user?: string
  readonly why?: string
  readonly since?: string
  readonly until?: string
  readonly all?: true
}

function withFilter(command: Command): Command {
  return command
    .requiredOption('--brand <number>', 'the brand')
    .option('--user <user_id>', 'only devices of this user')
    .option('--why <reason>', 'only devices removed for exactly this reason')
    .option('--since <time>', 'only devices removed since this time, such as 2026-01-31T10:00:00Z')
    .option('--until <time>', 'only devices removed until this time')
}

const filterOf = ({ brand, user, why, since, until }: FilterOptions) => ({ brand, user_id: user, why, since, until })

function removedCommand(): Command {
  return withFilter(
    withAddress(
      new Command('removed').description('list the dead devices that were removed in the last 30 days'),
      'operator',
      ['read'],
    ),
  )
    .option('--json', 'print one JSON object per line')
    .action(async (options: FilterOptions) => {
      await withSide('operator', options, ['read'], async (client) => {
        for (let after: string | null | undefined; after !== null; ) {
          const query: RequestOf<'operator', 'GET /admin/devices/removed'>['query'] = {
            ...filterOf(options),
            limit: 1_000,
            after,
          }
          const page: RemovedPage = await client.call('GET /admin/devices/removed', { query })
          for (const device of page.removed) print(options, device, phraseRemoved)
          after = page.next
        }
      })
    })
}

type RemovedPage = AnswerOf<'operator', 'GET /admin/devices/removed'>

function phraseRemoved(device: RemovedPage['removed'][number]): string {
  const { restorable, restored_at: restoredAt, removed_at, user_id, kind, why } = device
  const state = restorable ? 'can be restored' : restoredAt ? `restored ${restoredAt}` : 'is in use again'
  return [removed_at, user_id, kind, why, state].filter(Boolean).join('  ')
}

function restoreCommand(): Command {
  return withFilter(withAnswer(new Command('restore').description('link removed devices again'), 'operator', 'manage'))
    .option('--all', 'restore all removed devices of the brand, without a filter')
    .addHelpText(
      'after',
      '\nA device is linked again unless its user has logged out since, or the device is linked to a user now.\n\nExample:\n  bellwire devices restore --brand 1 --why "fcm 403 SENDER_ID_MISMATCH" --since 2026-01-31T10:00:00Z\n',
    )
    .action(async (options: FilterOptions) => {
      const { brand, ...filter } = filterOf(options)
      if (Object.values(filter).every((each) => each === undefined) !== (options.all === true))
        throw new CliError(
          exit.usage,
          'select devices with --user, --why, --since or --until, or all devices with --all',
        )
      const body = { brand, ...filter, all: options.all }
      const answer = await callSide('operator', options, 'manage', 'POST /admin/devices/restore', { body })
      print(options, answer, ({ restored }) => `Linked ${phraseCount(restored, 'device')} again`)
    })
}
