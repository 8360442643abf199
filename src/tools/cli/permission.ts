// A client of /admin/permission of both sides: the proof that each user might get each message.

import { Command } from 'commander'
import type { Static } from 'typebox'
import { PermissionExport } from '../../sides/admin/requests.ts'
import { downloadTo } from './download-to.ts'
import { CliError, exit } from './exit.ts'
import { membersOf, withMembers } from './members.ts'
import { type Addressed, calledSides, noSide, type Side, withAddress, withSide } from './running-side.ts'

export function command(): Command {
  return new Command().addCommand(exportCommand()).addHelpText('after', help)
}

const help = `
Without --url, the commands call the operator of the configuration, or else its platform. docs/attributes.md describes the proof.

Examples:
  bellwire permission export --brand 1 --from 2026-01-01 --to 2026-02-01 --out permission.csv
`

const exportFlags = { brand: '--brand <number>', from: '--from <time>', to: '--to <time>' }

type ExportOptions = Addressed & Static<typeof PermissionExport> & { readonly out?: string }

function exportCommand(): Command {
  return withMembers(withAddress(new Command('export'), 'server', ['read']), PermissionExport, exportFlags)
    .description('write the messages of a brand with the check of each as CSV, without texts')
    .option('-o, --out <file>', 'the file; default: standard output')
    .action(async ({ out, ...options }: ExportOptions) => {
      const query = membersOf(options, exportFlags)
      await withSide(await calledSide(options), options, ['read'], (client) =>
        downloadTo(out, (write) => client.download('GET /admin/permission.csv', { query }, write)),
      )
    })
}

async function calledSide(options: Addressed): Promise<Side> {
  const [side] = await calledSides(options)
  if (side === undefined) throw new CliError(exit.usage, noSide)
  return side
}
