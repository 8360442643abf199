import { Command } from 'commander'
import type { Static } from 'typebox'
import { RevokedUser } from '../../sides/admin/requests.ts'
import { loadConfig } from '../../sides/config/load.ts'
import { CliError, exit } from './exit.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, callSide, withAddress } from './running-side.ts'

type RevokeOptions = Addressed & Static<typeof RevokedUser>

const flags = { brand: '--brand <number>', user_id: '--user <user_id>' }

export function command(): Command {
  return new Command().addCommand(revokeCommand()).addHelpText('after', help)
}

function revokeCommand(): Command {
  return withMembers(withAddress(new Command('revoke'), 'server', ['tokens']), RevokedUser, flags)
    .description('revoke all subscriber tokens of a user that were issued until now')
    .option('--json', 'print each answer as one JSON object per line')
    .action(revoke)
}

const help = `
Use it when a user signs out everywhere or loses a telephone. It ends the open streams of the user. Without --url, the command calls each
side of the configuration that has subscribers. A token that your backend makes afterwards is accepted.

Examples:
  bellwire tokens revoke --brand 1 --user 1001
  BELLWIRE_KEY=… bellwire tokens revoke --brand 1 --user 1001 --url https://operator.example
`

async function revoke(options: RevokeOptions): Promise<void> {
  const body = membersOf(options, flags)
  const sides = options.url === undefined ? await sidesWithApp(options) : (['server'] as const)
  if (sides.length === 0)
    throw new CliError(exit.usage, 'give --url and a key, or a configuration with operator.app or platform.own.app')
  for (const side of sides) {
    const answer = await callSide(side, options, 'tokens', 'POST /admin/subscriber-tokens/revoke', { body })
    print(
      options,
      answer,
      ({ revoked_until: until }) => `${side}: tokens that were issued before ${until} are refused.`,
    )
  }
}

async function sidesWithApp({ config }: RevokeOptions): Promise<readonly ('operator' | 'platform')[]> {
  const { operator, platform } = await loadConfig(config)
  return [...(operator?.app ? (['operator'] as const) : []), ...(platform?.own?.app ? (['platform'] as const) : [])]
}
