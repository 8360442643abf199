import { hash, randomBytes } from 'node:crypto'
import { Command } from 'commander'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { CliError, exit } from './exit.ts'
import { print } from './output.ts'
import { type Addressed, calledSides, callSide, noSide, withAddress } from './running-side.ts'
import { isoTime, textTable } from './text-table.ts'

export function command(): Command {
  return new Command().addCommand(newCommand()).addCommand(listCommand()).addHelpText('after', help)
}

function newCommand(): Command {
  return new Command('new')
    .description('make an API key and its SHA-256')
    .option('--json', 'print both as one JSON object')
    .action(({ json }: { json?: true }) => {
      const key = randomBytes(24).toString('hex')
      const pair = { key, key_sha256: hash('sha256', key) }
      if (json) return console.log(JSON.stringify(pair))
      for (const [name, text] of Object.entries(pair)) console.log(`${name}: ${text}`)
    })
}

type Listed = AnswerOf<'operator' | 'platform', 'GET /admin/keys'>

function listCommand(): Command {
  return withAddress(new Command('list'), 'server', ['audit'])
    .description('list the accepted keys of running sides, without their texts')
    .option('--json', 'print each answer as one JSON object per line')
    .action(async (options: Addressed) => {
      const sides = await calledSides(options)
      if (sides.length === 0) throw new CliError(exit.usage, noSide)
      for (const side of sides) print(options, await callSide(side, options, 'audit', 'GET /admin/keys'), phraseKeys)
    })
}

const phraseKeys = ({ keys }: Listed): string =>
  textTable(
    ['setting', 'name', 'fingerprint', 'scopes', 'brands', 'from', 'expires', 'last used'].map((title) => ({ title })),
    keys.map((key) => [
      key.setting,
      key.name,
      key.fingerprint,
      key.scopes?.join(' ') ?? 'all',
      key.brands?.join(' ') ?? 'all',
      key.from?.join(' ') ?? 'all',
      key.expires_at ?? 'never',
      key.last_used_at === undefined ? 'not since the start' : isoTime(key.last_used_at),
    ]),
  )

const help = `
A new key goes to its holder. The configuration needs only key_sha256, from which nobody can compute the key. The list shows the last use
of each key in the process that answers.

Examples:
  bellwire keys new
  bellwire keys new --json
  bellwire keys list
`
