import { hash, randomBytes } from 'node:crypto'
import { Command, Option } from 'commander'
import type { Static } from 'typebox'
import type { Scope } from '../../base/http/access.ts'
import type { AnswerOf, SideName } from '../../sides/admin/calls.ts'
import { NewKey, RevokedKey } from '../../sides/admin/requests.ts'
import { commaSeparated } from './check/option-kinds.ts'
import { CliError, exit } from './exit.ts'
import { membersOf, phraseHelp, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, calledSides, callSide, type Side, withAddress } from './running-side.ts'
import { isoTime, textTable } from './text-table.ts'

export function command(): Command {
  return new Command()
    .addCommand(newCommand())
    .addCommand(addCommand())
    .addCommand(revokeCommand())
    .addCommand(listCommand())
    .addHelpText('after', help)
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

const scope = 'keys'
const flags = { name: '--name <name>', reason: '--reason <text>' }

interface AddOptions extends Addressed, Pick<Static<typeof NewKey>, 'name' | 'reason'> {
  readonly side?: SideName
  readonly scopes: readonly Scope[]
  readonly brands?: readonly string[]
  readonly from?: readonly string[]
  readonly expires?: string
}

/** A key of one side: the side is given, or the configuration has only one. */
const withOneSide = (command: Command): Command =>
  withAddress(command, 'server', [scope])
    .addOption(
      new Option('--side <side>', 'the side of a configuration that has both').choices(['operator', 'platform']),
    )
    .option('--json', 'print the answer as one JSON object')

async function oneSide(options: Addressed & { readonly side?: SideName }): Promise<Side> {
  if (options.url === undefined && options.side !== undefined) return options.side
  const [side, other] = await calledSides(options)
  if (other !== undefined) throw new CliError(exit.usage, 'the configuration has both sides: give --side')
  return side
}

function addCommand(): Command {
  const { scopes, brands, from, expires_at } = NewKey.properties
  return withMembers(withOneSide(new Command('add')), NewKey, flags)
    .description('add a key for /admin to the store of a running side, and print its text once')
    .addOption(listOption('--scopes <scopes>', scopes).makeOptionMandatory())
    .addOption(listOption('--brands <numbers>', brands))
    .addOption(listOption('--from <networks>', from))
    .option('--expires <time>', helpOf(expires_at as object))
    .action(async (options: AddOptions) => {
      const { brands, from, expires } = options
      const body = {
        ...membersOf(options, flags),
        scopes: options.scopes,
        brands,
        from,
        expires_at: expires,
      }
      const answer = await callSide(await oneSide(options), options, scope, 'POST /admin/keys', { body })
      print(options, answer, ({ key, fingerprint }) => `key: ${key}\nfingerprint: ${fingerprint}`)
    })
}

const listOption = (given: string, schema: object): Option =>
  new Option(given, `${helpOf(schema)}; separated by commas`).argParser(commaSeparated)

const helpOf = (schema: { readonly description?: string }): string => phraseHelp(schema.description ?? '')

function revokeCommand(): Command {
  return withMembers(withOneSide(new Command('revoke')), RevokedKey, flags)
    .description('revoke a key of the store at once, in all processes')
    .action(async (options: Addressed & { readonly side?: SideName } & Static<typeof RevokedKey>) => {
      const body = membersOf(options, flags)
      const answer = await callSide(await oneSide(options), options, scope, 'POST /admin/keys/revoke', { body })
      print(options, answer, () => `the key ${options.name} is revoked.`)
    })
}

type Listed = AnswerOf<'operator' | 'platform', 'GET /admin/keys'>

function listCommand(): Command {
  return withAddress(new Command('list'), 'server', ['audit'])
    .description('list the accepted keys of running sides, without their texts')
    .option('--json', 'print each answer as one JSON object per line')
    .action(async (options: Addressed) => {
      for (const side of await calledSides(options))
        print(options, await callSide(side, options, 'audit', 'GET /admin/keys'), phraseKeys)
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
\`new\` makes a key for the configuration, which needs only key_sha256: nobody can compute the key from it. \`add\` puts a key for /admin into
the store of a running side, for all its processes; it is shown once, and gets no more permissions than the key that adds it. \`revoke\`
ends a key of the store at once. \`list\` shows the last use: of a key of the store in any process, of another in the process that answers.

Examples:
  bellwire keys new
  bellwire keys new --json
  bellwire keys list
  bellwire keys add --name crm-of-brand-7 --scopes enqueue,counts --brands 7 --expires 2027-01-31T00:00:00Z --side platform
  bellwire keys revoke --name crm-of-brand-7 --reason "the contract ended" --side platform
`
