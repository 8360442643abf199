import { Command, Option } from 'commander'
import type { Static } from 'typebox'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { RemovedDevices } from '../../sides/admin/requests.ts'
import type { Client } from './client.ts'
import { importFile, phraseImport } from './devices/import.ts'
import { CliError, exit, exitWith } from './exit.ts'
import { inputFile } from './input-file.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { pages } from './pages.ts'
import { createProgress } from './progress.ts'
import { type Addressed, callSide, withAddress, withAnswer, withSide } from './running-side.ts'

export function command(): Command {
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
    .action(exitWith(runImport))
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
  const input = await inputFile(file)
  const timestamp = options.asOf ?? input.changed
  if (timestamp === undefined)
    throw new CliError(exit.usage, 'standard input has no time: give --as-of, the same one in each import of the data')
  const format = options.format ?? (/\.csv$/i.test(file) ? 'csv' : 'ndjson')
  const progress = createProgress(process.stderr)
  const defaults = { brand, provider, timestamp, origin: 'import' }
  const importAll = (client: Client<'operator'>) => importFile({ file, ...input, format, defaults, client, progress })
  const summary = await withSide('operator', options, ['devices'], importAll, { progress })
  print(options, summary, phraseImport)
  return summary.refused === 0 ? exit.ok : exit.failed
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

type FilterOptions = Addressed & Static<typeof RemovedDevices> & { readonly brand: string; readonly all?: true }

const flags = { user_id: '--user <user_id>', why: '--why <reason>', since: '--since <time>', until: '--until <time>' }

const withFilter = (command: Command): Command =>
  withMembers(command.requiredOption('--brand <number>', 'the brand'), RemovedDevices, flags)

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
        const query = { brand: options.brand, ...membersOf(options, flags), limit: 1_000 }
        const read = (after?: string) => client.call('GET /admin/devices/removed', { query: { ...query, after } })
        for await (const { removed } of pages(read)) for (const device of removed) print(options, device, phraseRemoved)
      })
    })
}

type Removed = AnswerOf<'operator', 'GET /admin/devices/removed'>['removed'][number]

function phraseRemoved(device: Removed): string {
  const { restorable, restored_at: restoredAt, removed_at, user_id, kind, why } = device
  const state = restorable ? 'can be restored' : restoredAt ? `restored ${restoredAt}` : 'is in use again'
  return [removed_at, user_id, kind, why, state].filter(Boolean).join('  ')
}

function restoreCommand(): Command {
  return withFilter(withAnswer(new Command('restore').description('link removed devices again'), 'operator', 'decide'))
    .option('--all', 'restore all removed devices of the brand, without a filter')
    .addHelpText(
      'after',
      '\nA device is linked again unless its user has logged out since, or the device is linked to a user now.\n\nExample:\n  bellwire devices restore --brand 1 --why "fcm 403 SENDER_ID_MISMATCH" --since 2026-01-31T10:00:00Z\n',
    )
    .action(async (options: FilterOptions) => {
      const { brand, all } = options
      const filter = membersOf(options, flags)
      if ((Object.keys(filter).length === 0) !== (all === true))
        throw new CliError(
          exit.usage,
          'select devices with --user, --why, --since or --until, or all devices with --all',
        )
      const body = { brand, ...filter, all }
      const answer = await callSide('operator', options, 'decide', 'POST /admin/devices/restore', { body })
      print(options, answer, ({ restored }) => `Linked ${phraseCount(restored, 'device')} again`)
    })
}
