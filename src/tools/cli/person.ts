// A client of /admin/people of both sides: exports or erases everything that they hold about a user.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { sleep } from '../../base/runtime/sleep.ts'
import type { AnswerOf, SideName } from '../../sides/admin/calls.ts'
import { downloadTo } from './download-to.ts'
import { mergeErasures, parseErasureList, readErasureList } from './erasure-list.ts'
import { CliError, exit, refuseWith } from './exit.ts'
import { print } from './output.ts'
import { type Addressed, calledSides, withAddress, withSide } from './running-side.ts'

const scope = 'people'

export function command(): Command {
  return new Command()
    .addCommand(exportCommand())
    .addCommand(eraseCommand())
    .addCommand(listCommand())
    .addHelpText('after', help)
}

const help = `
Without --url, the commands call each side of the configuration. With --url, they call that operator or platform.

Examples:
  bellwire person export --brand 1 --user 1001 --out 1001.json
  bellwire person erase --brand 1 --user 1001
  bellwire person erase --brand 1 --user 1001 --list erasures.ndjson
  bellwire person erasures --out erasures.ndjson
`

interface PersonOptions extends Addressed {
  readonly brand: string
  readonly user: string
}

const withBrand = (command: Command): Command =>
  withAddress(command, 'server', [scope]).requiredOption('--brand <number>', 'the number of the brand')

function exportCommand(): Command {
  return withBrand(new Command('export'))
    .requiredOption('--user <user_id>', 'the id of the user')
    .description('write everything that is stored about a user as JSON')
    .option('--out <file>', 'write to this file instead of standard output')
    .action(async ({ brand, user, out, ...options }: PersonOptions & { readonly out?: string }) => {
      const sides = await calledSides(options)
      await downloadTo(out, async (write) => {
        let before = '[\n'
        for (const side of sides) {
          await write(Buffer.from(before))
          const request = { params: { brand, user } }
          await withSide(side, options, [scope], (client) =>
            client.download('GET /admin/people/:brand/:user', request, write),
          )
          before = ',\n'
        }
        await write(Buffer.from(']\n'))
      })
    })
}

interface EraseOptions extends Addressed {
  readonly brand: string
  readonly user?: string
  readonly users?: string
  readonly list?: string
  readonly reason?: string
  readonly wait: boolean
}

function eraseCommand(): Command {
  return withBrand(new Command('erase'))
    .description('erase everything that is stored about a user, and report what stays')
    .option('--user <user_id>', 'the id of the user')
    .option('--users <file>', 'erase all users of this file, which has one id per line')
    .option('--list <file>', 'then add all erasures to the list in this file, as `bellwire person erasures --out` does')
    .option('--reason <text>', 'why, for the audit trail')
    .option('--no-wait', 'do not wait for the end of the erasure')
    .option('--json', 'print each report as one JSON object per line')
    .addHelpText('after', eraseHelp)
    .action(async ({ brand, user, users, list, reason, wait, ...options }: EraseOptions) => {
      const ids = await readUsers(user, users)
      const sides = await calledSides(options)
      for (const side of sides)
        await withSide(
          side,
          options,
          [scope],
          async (client) => {
            for (const user_id of ids) {
              let erasure: Erasure = await client.call('POST /admin/people/erase', { body: { brand, user_id, reason } })
              while (wait && erasure.state === 'running') {
                await sleep(pollMs)
                erasure = await client.call('GET /admin/people/erasures/:id', { params: { id: erasure.id } })
              }
              print(options, erasure, phrase)
            }
          },
          { interrupted: 'interrupted; an erasure that has begun goes on, and it is safe to repeat the command' },
        )
      if (list !== undefined) await listErasures(options, list)
    })
}

const eraseHelp = `
Erased data cannot be restored. Messages that wait are cancelled. Rows that prevent a second delivery stay under digests.
The command waits until nothing is left. The side goes on if you interrupt the command, and after its own restart.
`

function listCommand(): Command {
  return withAddress(new Command('erasures'), 'server', [scope])
    .description('write the list of all erasures, for `bellwire restore`')
    .option('--out <file>', 'add the erasures to this file instead of writing them to standard output')
    .addHelpText('after', listHelp)
    .action(({ out, ...options }: Addressed & { readonly out?: string }) => listErasures(options, out))
}

const listHelp = `
The list has digests instead of user ids, and the secret of the digests: keep it as safely as a backup, but apart from the disk of the
store. A side that is restored from an older backup then erases these people again. A list in a file only grows: an erasure that a
restored store does not have stays in it. So the command can be run every few minutes by cron.
`

async function listErasures(options: Addressed, out: string | undefined): Promise<void> {
  const sides = await calledSides(options)
  const kept = out !== undefined && existsSync(out) ? await readErasureList(out, 'the file') : []
  const parts: Buffer[] = []
  for (const side of sides)
    await withSide(side, options, [scope], (client) =>
      client.download('GET /admin/people/erasures', {}, async (part) => void parts.push(part)),
    )
  const merged = mergeErasures(kept, parseErasureList(Buffer.concat(parts).toString()))
  await downloadTo(out, (write) => write(Buffer.from(merged.map((each) => `${JSON.stringify(each)}\n`).join(''))))
}

type Erasure = AnswerOf<SideName, 'GET /admin/people/erasures/:id'>

const pollMs = 500

async function readUsers(user: string | undefined, file: string | undefined): Promise<readonly string[]> {
  if ((user === undefined) === (file === undefined)) throw new CliError(exit.usage, 'give either --user or --users')
  if (user !== undefined) return [user]
  const text = await readFile(file as string, 'utf8').catch(refuseWith('--users cannot be read'))
  const ids = text.split(/\r?\n/).filter((line) => line !== '')
  if (ids.length === 0) throw new CliError(exit.usage, `--users ${file} is empty: write one user id per line`)
  return ids
}

function phrase({ side, id, state, erased, waiting, kept }: Erasure): string {
  if (state === 'running')
    return `${side}: erasing${waiting > 0 ? `, ${waiting} rows are in use` : ''}: GET /admin/people/erasures/${id}`
  const counts = Object.entries(erased).filter(([, rows]) => rows > 0)
  const listed = counts.map(([name, rows]) => `${name} ${rows}`).join(', ') || 'nothing'
  return [
    `${side}: erased: ${listed}.`,
    ...kept.map(({ column, as, why }) => `  stays: ${column}, ${as}: ${why}`),
  ].join('\n')
}
