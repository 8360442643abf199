import { Command } from 'commander'
import { loadConfig } from '../../sides/config/load.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'
import { toJson } from './output.ts'
import { storeError } from './store-error.ts'
import { storesOf } from './stores-of.ts'

export function command(): Command {
  return withConfig(new Command())
    .option('--json', 'print the applied migrations as one JSON object')
    .addHelpText('after', help)
    .action(async ({ config: file, json }: { config?: string; json?: true }) => {
      const config = await loadConfig(file)
      const { migrateDatabase } = await import('../../base/store/open-database.ts')
      const applied: Record<string, readonly string[]> = {}
      for (const side of ['operator', 'platform'] as const) {
        const ofSide = await storesOf[side](config)
        if (ofSide === undefined) continue
        const appliedHere: string[] = []
        for (const { url, migrations } of ofSide) {
          const names = await migrateDatabase(url, migrations).catch((error: unknown) => {
            throw storeError(error, side)
          })
          appliedHere.push(...names)
        }
        applied[side] = appliedHere
        if (!json)
          console.log(`${side}: ${appliedHere.length > 0 ? `applied ${appliedHere.join(', ')}` : 'up to date'}`)
      }
      if (Object.keys(applied).length === 0)
        throw new CliError(exit.usage, 'the configuration has no section operator or platform')
      if (json) console.log(toJson(applied))
    })
}

const help = `
Applies the pending migrations to the store of each configured side. A side also applies them when it starts; this command applies
them in advance. A SQLite store must not be in use.

Examples:
  bellwire migrate --config bellwire.yaml
`
