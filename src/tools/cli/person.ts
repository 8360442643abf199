// A client of /admin/people of both sides: exports everything that they hold about one user.

import { Command } from 'commander'
import { downloadTo } from './download-to.ts'
import { CliError, exit } from './exit.ts'
import { type Addressed, calledSides, noSide, withAddress, withSide } from './running-side.ts'

const scope = 'people'

export function command(): Command {
  return new Command().addCommand(exportCommand()).addHelpText('after', help)
}

const help = `
Without --url, the commands call each side of the configuration. With --url, they call that operator or platform.

Examples:
  bellwire person export --brand 1 --user 1001 --out 1001.json
`

interface PersonOptions extends Addressed {
  readonly brand: string
  readonly user: string
}

const withPerson = (command: Command): Command =>
  withAddress(command, 'server', [scope])
    .requiredOption('--brand <number>', 'the number of the brand')
    .requiredOption('--user <user_id>', 'the id of the user')

function exportCommand(): Command {
  return withPerson(new Command('export'))
    .description('write everything that is stored about a user as JSON')
    .option('--out <file>', 'write to this file instead of standard output')
    .action(async ({ brand, user, out, ...options }: PersonOptions & { readonly out?: string }) => {
      const sides = await calledSides(options)
      if (sides.length === 0) throw new CliError(exit.usage, noSide)
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
